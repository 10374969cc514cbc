package warehouse

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/query"
	store "github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/testing/chdbtest"
	"github.com/parallax-hpc/parallax/internal/testing/clustertest"
	"github.com/parallax-hpc/parallax/internal/testing/disktest"
)

func about(name string) lake.About {
	return lake.About{Run: name, Project: "solver", Start: time.Date(2026, 11, 19, 3, 0, 0, 0, time.UTC).UnixMicro(),
		Keys: map[string]string{}}
}

// answerOf is the rows of a statement.
func answerOf(t *testing.T, p *Place, text string) string {
	t.Helper()
	rows, err := p.Query(context.Background(), text, query.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		out = append(out, fmt.Sprint(rows.Row()...))
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return strings.Join(out, ", ")
}

func wrong(t *testing.T, what string, err error, want ...string) {
	t.Helper()
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %v, want %q", what, err, w)
		}
	}
}

// TestEngineWhoseDiskIsFull: the error says so, nothing of the run is visible, those that are there stay, and the same
// export succeeds when there is room.
func TestEngineWhoseDiskIsFull(t *testing.T) {
	if os.Getenv("PARALLAX_CHDB") == "" {
		chdbtest.Start(t) // says why not
	}
	ctx, dir := context.Background(), t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	disktest.Small(t, data, "200m")
	p, run := On(store.NewServer(chdbtest.StartIn(t, dir, ""), "engine")), ring(t)
	if _, err := p.Append(ctx, run, about("monday")); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(data, "ballast")
	disktest.Fill(t, ballast)
	_, err := p.Append(ctx, run, about("tuesday"))
	wrong(t, "a full disk", err, "engine has no room left for its data", "do this again")
	const runs, rows = "select run from runs order by run", "select run, count(*) from intervals group by run order by run"
	if got := answerOf(t, p, runs) + ": " + answerOf(t, p, rows); got != "monday: monday1500" {
		t.Errorf("while it is full: %s", got)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if got := answerOf(t, p, runs); got != "monday" {
		t.Errorf("when there is room: %s", got)
	}
	if _, err := p.Append(ctx, run, about("tuesday")); err != nil {
		t.Fatal(err)
	}
	if got := answerOf(t, p, rows); got != "monday1500, tuesday1500" {
		t.Errorf("after the same export: %s", got)
	}
}

// TestEngineWithOtherTables: a table of another program with a name of ours is left as it is, and so are rights.
func TestEngineWithOtherTables(t *testing.T) {
	ctx := context.Background()
	e := chdbtest.Start(t)
	p, run := On(store.NewServer(e, "engine")), ring(t)
	if err := e.Exec(ctx, "create table links_rows (url String) engine = MergeTree order by url"); err != nil {
		t.Fatal(err)
	}
	_, err := p.Append(ctx, run, about("monday"))
	wrong(t, "a table of another program", err, "links_rows", "name another database")
	var columns, tables uint64
	if err := e.QueryRow(ctx, "select (select count() from system.columns where database = currentDatabase() and "+
		"table = 'links_rows'), (select count() from system.tables where database = currentDatabase())").Scan(&columns,
		&tables); err != nil {
		t.Fatal(err)
	}
	if columns != 1 || tables != 1 {
		t.Errorf("it has %d columns, and there are %d tables; want 1 and 1", columns, tables)
	}
	if err := e.Exec(ctx, "drop table links_rows"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Append(ctx, run, about("monday")); err != nil {
		t.Fatal(err)
	}
	_, err = p.Query(ctx, "select nothing from intervals", query.Limits{})
	wrong(t, "a column that is not there", err, "engine", "nothing")
	_, err = p.Query(ctx, "select 1 from nowhere", query.Limits{})
	wrong(t, "a table that is not there", err, "nowhere", "parallax export")
	if err := e.Exec(ctx, "set readonly = 2"); err != nil {
		t.Fatal(err)
	}
	_, err = p.Append(ctx, run, about("tuesday"))
	wrong(t, "no right to write", err, "engine does not permit this to user")
}

// TestALakeNeedsANewerServer: an old server is refused in a sentence, and a server that is down is named.
func TestALakeNeedsANewerServer(t *testing.T) {
	servers := clustertest.Start(t, 2)
	open := func(address string) error {
		t.Helper()
		a, err := store.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Open(context.Background(), a)
		if err == nil {
			p.Close()
		}
		return err
	}
	all := strings.TrimSuffix(clustertest.Address(servers, ""), "/")
	wrong(t, "an old server", open(all+"?cluster=prod"), "runs ClickHouse", "; a lake needs 23.3 or newer")
	servers[1].Kill()
	wrong(t, "a server is down", open(all+"?cluster=prod"), servers[1].Host+" cannot be reached")
}
