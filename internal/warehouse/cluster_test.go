package warehouse

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/query"
	store "github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/chdbtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// cluster is a configuration of a server: one shard, which is itself, and a Keeper in memory.
const cluster = `<clickhouse>
<tcp_port>9000</tcp_port>
<zookeeper><implementation>testkeeper</implementation></zookeeper>
<macros><shard>1</shard><replica>a</replica></macros>
<remote_servers><prod><shard><internal_replication>true</internal_replication>
<replica><host>127.0.0.1</host><port>9000</port></replica></shard></prod></remote_servers>
</clickhouse>`

// An alone is an engine that takes statements for a cluster, and does them itself: as a library it has no queue of
// statements for other servers, and keeps no replicas.
type alone struct {
	*chdbtest.Engine
	replicas bool // tables are made as replicas; they take no rows then
	uuids    int
}

var (
	onCluster  = regexp.MustCompile(` on cluster '\w+'`)
	newTable   = regexp.MustCompile(`^create table if not exists (\w+) \(`)
	replicated = regexp.MustCompile(`Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?`)
)

func (a *alone) Exec(ctx context.Context, text string, args ...any) error {
	text = onCluster.ReplaceAllString(text, "")
	if a.replicas { // the queue gives all servers the same
		a.uuids++
		text = newTable.ReplaceAllString(text, fmt.Sprintf(
			"create table if not exists ${1} uuid '00000000-0000-0000-0000-%012d' (", a.uuids))
	} else {
		text = replicated.ReplaceAllString(text, "${1}(")
		text = strings.ReplaceAll(text, " replicated_dedup", " non_replicated_dedup")
	}
	return a.Engine.Exec(ctx, text, args...)
}

// Every table of a cluster is made as a replica, with its path in a Keeper, and the views above them.
func TestEngineMakesTheTablesOfACluster(t *testing.T) {
	ctx := context.Background()
	e := chdbtest.StartAs(t, cluster)
	l := layout{cluster: "prod", keep: 180}
	for _, text := range l.statements() {
		if err := e.Exec(ctx, "explain ast "+text); err != nil { // with the words that the engine alone does not do
			t.Error(err)
		}
	}
	a := &alone{Engine: e, replicas: true}
	for _, text := range append([]string{"create database lake engine = Atomic", "use lake"}, l.statements()...) {
		if err := a.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	var replicas, distributed, views uint64
	if err := e.QueryRow(ctx, "select countIf(engine like 'Replicated%'), countIf(engine = 'Distributed'), "+
		"countIf(engine = 'View') from system.tables where database = 'lake'").Scan(&replicas, &distributed,
		&views); err != nil {
		t.Fatal(err)
	}
	if n := uint64(len(lake.Tables)); replicas != n+2 || distributed != n || views != n {
		t.Errorf("%d replicas, %d tables over all servers, %d views; want %d, %d, %d", replicas, distributed, views, n+2,
			n, n)
	}
}

// A run is written, asked and removed through the tables that lie over all servers.
func TestEngineAsksThroughTheTablesOfACluster(t *testing.T) {
	ctx := context.Background()
	e := chdbtest.StartAs(t, cluster)
	var conn driver.Conn = &alone{Engine: e}
	p := On(store.NewServer(conn, "engine"))
	p.cluster = "prod"
	run := ring(t)
	for _, name := range []string{"monday", "tuesday"} {
		about := lake.About{Run: name, Project: "solver", Start: time.Date(2026, 11, 19, 3, 0, 0, 0, time.UTC).UnixMicro(),
			Keys: map[string]string{}}
		if _, err := p.Append(ctx, run, about); err != nil {
			t.Fatal(err)
		}
		if name == "monday" { // as an older version had made them
			for _, text := range []string{"alter table intervals_rows drop index by_run",
				"alter table intervals_rows drop column month", "alter table intervals_all drop column month"} {
				if err := conn.Exec(ctx, text); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	ask := func(text, want string) {
		t.Helper()
		rows, err := p.Query(ctx, text, query.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var got []string
		for rows.Next() {
			got = append(got, fmt.Sprint(rows.Row()...))
		}
		if rows.Err() != nil || strings.Join(got, ", ") != want {
			t.Errorf("%s: %v (%v), want %s", text, got, rows.Err(), want)
		}
	}
	ask("select run, count(*) from intervals group by run order by run", "monday1500, tuesday1500")
	ask("select run, sum(calls) from profile group by run order by run", "monday1500, tuesday1500")
	ask("select count(*) from intervals_all", "3000")
	ask("select month, count(*) from intervals group by month", "2026-113000")
	if err := p.Remove(ctx, "monday"); err != nil {
		t.Fatal(err)
	}
	ask("select distinct run from intervals", "tuesday")
	ask("select count(*) from intervals_all", "1500")
}

// ring is a run of 5 ranks with 300 intervals each.
func ring(t *testing.T) *table.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ring.plx")
	w, err := local.Create(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	region := w.Region(trace.Region{Name: "step"})
	for i := range 5 {
		id := w.Location(trace.Location{Name: fmt.Sprint("rank ", i), Kind: trace.KindProcess,
			Parent: trace.NoLocation, Rank: i})
		s := w.Stream(id, trace.StreamOptions{})
		for k := range trace.Time(300) {
			s.Interval(10*k, 10*k+5, region)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	r, err := local.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return &table.Run{Name: "ring", Source: dir, Store: r}
}
