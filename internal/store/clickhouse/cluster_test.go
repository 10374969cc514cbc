//go:build unix

package clickhouse_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/testing/clustertest"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func parse(t testing.TB, s string) *clickhouse.Address {
	t.Helper()
	a, err := clickhouse.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// build makes a store on this machine.
func build(t testing.TB, fill func(trace.Writer), summaries ...trace.Summary) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.plx")
	w, err := local.Create(path, local.Options{Summaries: summaries})
	if err != nil {
		t.Fatal(err)
	}
	fill(w)
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	return path
}

// ranks writes so many locations with so many intervals each, and messages round the ring.
func ranks(locations, rows int) func(trace.Writer) {
	return func(w trace.Writer) {
		regions := []trace.RegionID{w.Region(trace.Region{Name: "compute"}), w.Region(trace.Region{Name: "MPI_Send", Role: trace.RoleCommunication})}
		var ids []trace.LocationID
		for i := range locations {
			ids = append(ids, w.Location(trace.Location{Name: fmt.Sprint("rank ", i), Kind: trace.KindProcess, Parent: trace.NoLocation, Rank: i}))
		}
		for i, id := range ids {
			s := w.Stream(id, trace.StreamOptions{})
			for k := range rows {
				noise := uint32(k+i*7) * 2654435761 // so that columns do not pack to nothing
				begin := trace.Time(k*1000) + trace.Time(noise>>23)
				s.Interval(begin, begin+100+trace.Time(noise<<8>>24), regions[noise>>31])
			}
			_ = s.Close()
		}
		for i := range ids {
			w.Link(trace.Link{Kind: trace.LinkMessage, From: trace.End{Location: ids[i], Time: 1000}, To: trace.End{Location: ids[(i+1)%len(ids)], Time: 2000}, Size: 8, Count: 1, Communicator: trace.NoCommunicator})
		}
	}
}

// ask runs a statement on one server.
func ask(t testing.TB, s *clustertest.Server, statement string) (n uint64) {
	t.Helper()
	c, err := driver.Open(&driver.Options{Addr: []string{s.Host}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.QueryRow(context.Background(), statement).Scan(&n); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return n
}

func TestTwoServersPassTheSuite(t *testing.T) {
	servers := clustertest.Start(t, 2)
	runs := 0
	open := func(t *testing.T, fill func(trace.Writer), summaries []trace.Summary) store.Reader {
		t.Helper()
		runs++
		a := parse(t, clustertest.Address(servers, fmt.Sprint("run", runs))+"?rows=no")
		if err := clickhouse.Write(context.Background(), a, build(t, fill, summaries...), nil); err != nil {
			t.Fatal(err)
		}
		r, err := clickhouse.Open(context.Background(), a, summaries)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	if !full() {
		for seed := range uint64(2) {
			storetest.RunSeed(t, open, seed, 60)
		}
		return
	}
	storetest.Run(t, open)
}

func TestRowsAreThereForSQL(t *testing.T) {
	servers := clustertest.Start(t, 2)
	a := parse(t, clustertest.Address(servers, "ring"))
	dir := build(t, ranks(8, 500))
	if err := clickhouse.Write(context.Background(), a, dir, nil); err != nil {
		t.Fatal(err)
	}
	r, err := local.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want, err := r.Time(context.Background(), store.Window{End: r.Info().End})
	if err != nil {
		t.Fatal(err)
	}
	var sum uint64
	for _, x := range want.Exclusive {
		sum += uint64(x)
	}
	var rows, time, links uint64
	for _, s := range servers {
		n := ask(t, s, "select count() from parallax_intervals")
		if n == 0 {
			t.Errorf("%s has no rows", s.Host)
		}
		rows += n
		time += ask(t, s, "select toUInt64(sum(exclusive)) from parallax_intervals")
		links += ask(t, s, "select count() from parallax_links")
		if n := ask(t, s, "select count() from parallax_locations"); n != 8 {
			t.Errorf("%s has %d locations", s.Host, n)
		}
	}
	if rows != 4000 || time != sum || links != 8 {
		t.Errorf("%d intervals of %d ns and %d links, want 4000, %d, 8", rows, time, links, sum)
	}
}

func TestRunsAreListedReplacedAndRemoved(t *testing.T) {
	servers := clustertest.Start(t, 2)
	ctx := context.Background()
	a := parse(t, clustertest.Address(servers, "monday"))
	for _, rows := range []int{300, 600} { // the second import takes the place of the first
		if err := clickhouse.Write(ctx, a, build(t, ranks(4, rows)), nil); err != nil {
			t.Fatal(err)
		}
	}
	swapped := []*clustertest.Server{servers[1], servers[0]}
	all, err := clickhouse.List(ctx, parse(t, clustertest.Address(swapped, "")))
	if err != nil || len(all) != 1 || all[0].Name != "monday" || all[0].Intervals != 2400 || all[0].Shards != 2 || time.Since(all[0].Created) > time.Hour {
		t.Fatalf("%+v, %v", all, err)
	}
	r, err := clickhouse.Open(ctx, parse(t, clustertest.Address(swapped, "monday")), nil)
	if err != nil {
		t.Fatalf("with the servers named in another order: %v", err)
	}
	if n, _ := r.Count(store.Window{End: r.Info().End}); n != 2400 {
		t.Errorf("%d intervals, want 2400", n)
	}
	for _, text := range []string{"one", "another"} {
		if err := r.Keep("fingerprint", []byte(text)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1100 * time.Millisecond) // what was kept last counts, to the second
	}
	if b, ok := r.Kept("fingerprint"); !ok || string(b) != "another" {
		t.Errorf("kept is %q, %v", b, ok)
	}
	if _, ok := r.Kept("nothing"); ok {
		t.Error("something is kept by a name that nobody gave")
	}
	r.Close()
	if _, err := clickhouse.Open(ctx, parse(t, clustertest.Address(servers, "tuesday")), nil); err == nil || !strings.Contains(err.Error(), `no run "tuesday"; there are monday`) {
		t.Errorf("a run that is not there: %v", err)
	}
	if err := clickhouse.Remove(ctx, a); err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		for _, table := range []string{"parallax_runs", "parallax_blocks", "parallax_intervals", "parallax_links", "parallax_kept", "parallax_shards"} {
			if n := ask(t, s, "select count() from "+table); n != 0 {
				t.Errorf("%s: %d rows are left in %s", s.Host, n, table)
			}
		}
	}
}

// TestImportersShareARun: a run is there when all parts are, whoever comes last; a part that is made again takes the place of the first.
func TestImportersShareARun(t *testing.T) {
	servers := clustertest.Start(t, 2)
	ctx := context.Background()
	dir := build(t, ranks(16, 3000))
	a := parse(t, clustertest.Address(servers, "ring"))
	swapped := parse(t, clustertest.Address([]*clustertest.Server{servers[1], servers[0]}, "ring"))
	part := func(a *clickhouse.Address, dir string, k int, want ...int) {
		t.Helper()
		missing, err := clickhouse.WritePart(ctx, a, dir, clickhouse.Part{Part: k, Of: 3}, nil)
		if err != nil || !slices.Equal(missing, want) {
			t.Errorf("part %d: missing %v, %v, want %v", k, missing, err, want)
		}
	}
	notYet := func(want string) {
		t.Helper()
		if all, err := clickhouse.List(ctx, a); err != nil || len(all) != 0 {
			t.Errorf("%v, %v", all, err)
		}
		if _, err := clickhouse.Open(ctx, a, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	part(a, dir, 3, 1, 2)
	part(swapped, dir, 1, 2) // named in another order
	notYet("of 3 parts these are still to come: 2")
	part(a, build(t, ranks(16, 2999)), 2, 1, 3)
	notYet("parts of it come from different sources")
	part(a, dir, 1, 2)
	part(a, dir, 2)
	all, err := clickhouse.List(ctx, a)
	if err != nil || len(all) != 1 || all[0].Intervals != 16*3000 {
		t.Fatalf("%+v, %v", all, err)
	}
	r, err := clickhouse.Open(ctx, swapped, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	want, err := local.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	whole := store.Window{End: r.Info().End}
	x, err := r.Time(ctx, whole)
	y, failed := want.Time(ctx, whole)
	if err != nil || failed != nil || !reflect.DeepEqual(x, y) {
		t.Errorf("times differ from those of the local store: %v, %v", err, failed)
	}
	var rows, ids, links uint64
	for _, s := range servers {
		rows += ask(t, s, "select count() from parallax_intervals")
		links += ask(t, s, "select count() from parallax_links")
		ids += ask(t, s, "select count() from parallax_runs")
		if n := ask(t, s, "select count() from parallax_locations"); n != 16 {
			t.Errorf("%s has %d locations", s.Host, n)
		}
	}
	if rows != 16*3000 || links != 16 || ids != 3 {
		t.Errorf("%d intervals, %d links, %d parts, want 48000, 16, 3", rows, links, ids)
	}
	if err := clickhouse.Remove(ctx, a); err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		if n := ask(t, s, "select count() from parallax_blocks"); n != 0 {
			t.Errorf("%d blocks are left", n)
		}
	}
}

func TestServerKilledInAnImportLeavesNothingVisible(t *testing.T) {
	servers := clustertest.Start(t, 2)
	ctx := context.Background()
	a := parse(t, clustertest.Address(servers, "ring"))
	dir := build(t, ranks(64, 4000))
	killed := false
	err := clickhouse.Write(ctx, a, dir, func(done, total int64) {
		if done > total/3 && !killed {
			killed = true
			servers[1].Kill()
		}
	})
	if err == nil || !strings.Contains(err.Error(), servers[1].Host) {
		t.Fatalf("the error does not name the server: %v", err)
	}
	if n := ask(t, servers[0], "select count() from parallax_runs"); n != 0 {
		t.Errorf("%d runs are visible", n)
	}
	if n := ask(t, servers[0], "select count() from parallax_blocks"); n != 0 {
		t.Errorf("%d blocks are left on the server that answers", n)
	}
	servers[1].Restart(t)
	if all, err := clickhouse.List(ctx, a); err != nil || len(all) != 0 {
		t.Errorf("after the restart: %v, %v", all, err)
	}
	if err := clickhouse.Write(ctx, a, dir, nil); err != nil {
		t.Fatalf("the same import again: %v", err)
	}
	r, err := clickhouse.Open(ctx, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
}

func TestServerKilledOrHangingInAQueryIsAnErrorAndComesBack(t *testing.T) {
	servers := clustertest.Start(t, 2)
	ctx := context.Background()
	a := parse(t, clustertest.Address(servers, "ring")+"?timeout=2s")
	if err := clickhouse.Write(ctx, a, build(t, ranks(64, 16000)), nil); err != nil {
		t.Fatal(err)
	}
	open := func() *clickhouse.Reader {
		t.Helper()
		r, err := clickhouse.Open(ctx, a, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	query := func(r *clickhouse.Reader, during func()) error {
		first := true
		return r.Intervals(ctx, store.Window{End: r.Info().End, Locations: []trace.LocationID{0}}, func(*trace.Columns) error {
			if first {
				first = false
				during()
				return r.Intervals(ctx, store.Window{End: r.Info().End}, func(*trace.Columns) error { return nil })
			}
			return nil
		})
	}
	killed, hanging := open(), open()
	if err := query(killed, servers[1].Kill); err == nil || !strings.Contains(err.Error(), servers[1].Host) {
		t.Errorf("killed: %v", err)
	}
	servers[1].Restart(t)
	if err := query(killed, func() {}); err != nil {
		t.Errorf("after the restart: %v", err)
	}
	err := query(hanging, servers[1].Hang)
	if err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("hanging: %v", err)
	}
	servers[1].GoOn()
	if err := query(hanging, func() {}); err != nil {
		t.Errorf("when it goes on: %v", err)
	}
	servers[1].Hang()
	defer servers[1].GoOn()
	if _, err := clickhouse.List(ctx, a); err == nil || !strings.Contains(err.Error(), servers[1].Host) {
		t.Errorf("a server that hangs when it is asked first: %v", err)
	}
}

func TestClusterErrorsStateTheirCause(t *testing.T) {
	servers := clustertest.Start(t, 2)
	ctx := context.Background()
	dir := build(t, ranks(4, 300))
	at := func(user, options string) *clickhouse.Address {
		return parse(t, strings.Replace(clustertest.Address(servers, "ring"), "://", "://"+user, 1)+options)
	}
	wrong := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	_, err := clickhouse.Open(ctx, at("", ""), nil)
	wrong("no tables", "holds no runs in this database", err)
	_, err = clickhouse.Open(ctx, at("nobody:x@", ""), nil)
	wrong("no such user", "does not know this user and password", err)
	if err := clickhouse.Write(ctx, at("", ""), dir, nil); err != nil {
		t.Fatal(err)
	}
	reader := clustertest.Reader + ":" + strings.ReplaceAll(clustertest.ReaderPassword, " ", "%20") + "@"
	r, err := clickhouse.Open(ctx, at(reader, ""), nil)
	if err != nil {
		t.Fatalf("a user who may only read: %v", err)
	}
	r.Close()
	wrong("no permission", "does not permit this to user reader", clickhouse.Write(ctx, at(reader, ""), dir, nil))
	_, err = clickhouse.Open(ctx, parse(t, clustertest.Address(servers[:1], "ring")), nil)
	wrong("a server too few", "share 2 of 2 of the run is on none of the servers named", err)
	_, err = clickhouse.Open(ctx, parse(t, "clickhouse://127.0.0.1:1/default/ring"), nil)
	wrong("no server", "127.0.0.1:1 cannot be reached", err)
	_, err = clickhouse.Open(ctx, parse(t, strings.Replace(clustertest.Address(servers, "ring"), "/default/", "/nowhere/", 1)), nil)
	wrong("no database", "nowhere", err)
	insert(t, servers[0], "insert into parallax_version (run, version)", uint64(0), uint32(clickhouse.Version+1))
	_, err = clickhouse.Open(ctx, at("", ""), nil)
	wrong("a newer program's tables", "use a newer parallax", err)
}

func insert(t testing.TB, s *clustertest.Server, statement string, values ...any) {
	t.Helper()
	c, err := driver.Open(&driver.Options{Addr: []string{s.Host}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b, err := c.PrepareBatch(context.Background(), statement)
	if err == nil {
		if err = b.Append(values...); err == nil {
			err = b.Send()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestConnectionsAreEncryptedWhereAsked(t *testing.T) {
	servers := clustertest.Start(t, 1)
	ctx := context.Background()
	if err := clickhouse.Write(ctx, parse(t, clustertest.Address(servers, "ring")), build(t, ranks(4, 300)), nil); err != nil {
		t.Fatal(err)
	}
	address := "clickhouse://" + servers[0].Secure + "/default/ring"
	r, err := clickhouse.Open(ctx, parse(t, address+"?ca="+servers[0].Certificate), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := r.Count(store.Window{End: r.Info().End}); n != 1200 {
		t.Errorf("%d intervals, want 1200", n)
	}
	r.Close()
	if _, err := clickhouse.Open(ctx, parse(t, address+"?secure=true"), nil); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
}

// spanTable is the exporter's, with types that the oldest server has: times as numbers, and maps as lists of keys and values.
const spanTable = `create table otel_traces (Timestamp Int64, TraceId String, SpanId String, ParentSpanId String, TraceState String, SpanName String, SpanKind String, ServiceName String,
 ResourceAttributes Nested (keys String, values String), ScopeName String, ScopeVersion String, SpanAttributes Nested (keys String, values String), Duration UInt64, StatusCode String, StatusMessage String,
 Events Nested (Timestamp Int64, Name String), Links Nested (TraceId String, SpanId String)) engine = MergeTree order by (ServiceName, Timestamp)`

func TestSpansOfTheExporterAreReadByTimeAndService(t *testing.T) {
	servers := clustertest.Start(t, 1)
	ctx := context.Background()
	address := clustertest.Address(servers, clickhouse.SpanTable)
	var none strings.Builder
	if _, err := clickhouse.Spans(ctx, parse(t, address), &none); err == nil || !strings.Contains(err.Error(), "has no table otel_traces") {
		t.Errorf("no table: %v", err)
	}
	c, err := driver.Open(&driver.Options{Addr: []string{servers[0].Host}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec(ctx, spanTable); err != nil {
		t.Fatal(err)
	}
	const second = int64(1e9)
	put := func(at int64, id, parent, name, kind, service, status string) {
		insert(t, servers[0], "insert into otel_traces (Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName, ResourceAttributes.keys, ResourceAttributes.values, SpanAttributes.keys, SpanAttributes.values, Duration, StatusCode, Events.Timestamp, Events.Name)",
			at, "5b8efff798038103d269b633813fc60c", id, parent, name, kind, service, []string{"service.name", "host.name"}, []string{service, "h1"}, []string{"http.route"}, []string{"/it's"}, uint64(second/2), status, []int64{at + 5}, []string{"retry"})
	}
	put(1000*second+7, "eee19b7ec3c1b174", "", "GET /", "Server", "shop", "Unset")
	put(1000*second+9, "eee19b7ec3c1b175", "eee19b7ec3c1b174", "charge", "Client", "pay", "Error")
	put(2000*second, "eee19b7ec3c1b176", "", "GET /", "Server", "shop", "Ok")
	for _, x := range []struct {
		options string
		spans   int64
		holds   string
	}{
		{"", 3, `"startTimeUnixNano":"1000000000007"`},
		{"?service=pay", 1, `"parentSpanId":"eee19b7ec3c1b174"`},
		{"?service=pay&service=shop", 3, `{"key":"http.route","value":{"stringValue":"/it's"}}`},
		{"?from=1500", 1, `"status":{"code":1,`},
		{"?to=1970-01-01T00:25:00Z", 2, `"kind":3,`},
		{"?from=900&to=1500&service=pay", 1, `"events":[{"name":"retry","timeUnixNano":"1000000000014"}]`},
	} {
		var out strings.Builder
		n, err := clickhouse.Spans(ctx, parse(t, address+x.options), &out)
		if err != nil || n != x.spans || strings.Count(out.String(), "\n") != int(x.spans) || !strings.Contains(out.String(), x.holds) {
			t.Errorf("%s: %d spans, %v, want %d with %s:\n%s", x.options, n, err, x.spans, x.holds, out.String())
		}
	}
	if _, err := clickhouse.Spans(ctx, parse(t, address+"?from=yesterday"), &none); err == nil || !strings.Contains(err.Error(), "is no time") {
		t.Errorf("a time that is none: %v", err)
	}
	if _, err := clickhouse.Spans(ctx, parse(t, address+"?service=nobody"), &none); err == nil || !strings.Contains(err.Error(), "holds no spans") {
		t.Errorf("no spans: %v", err)
	}
}
