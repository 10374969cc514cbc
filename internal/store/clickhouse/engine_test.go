package clickhouse

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/testing/chdbtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// TestACurrentEngineUnderstandsEveryStatement: a run is written in two parts, listed, opened, asked, kept with, replaced and removed.
func TestACurrentEngineUnderstandsEveryStatement(t *testing.T) {
	e := chdbtest.Start(t)
	ctx := context.Background()
	a, err := Parse("clickhouse://engine/default/ring")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{Address: a, servers: []*server{{Conn: e, host: "engine"}}}
	if err := c.greet(ctx); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run.plx")
	w, err := local.Create(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	region := w.Region(trace.Region{Name: "it's a \\ step"})
	for i := range 5 {
		id := w.Location(trace.Location{Name: fmt.Sprint("rank ", i), Kind: trace.KindProcess, Parent: trace.NoLocation, Rank: i})
		s := w.Stream(id, trace.StreamOptions{})
		for k := range trace.Time(300) {
			s.Interval(10*k, 10*k+5+k%3, region)
		}
		_ = s.Close()
		w.Link(trace.Link{Kind: trace.LinkMessage, From: trace.End{Location: id, Time: 3}, To: trace.End{Location: 0, Time: 14}, Size: 8, Count: 1})
	}
	if err := w.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{2, 1, 2} {
		if err := c.servers[0].make(ctx); err != nil {
			t.Fatal(err)
		}
		sweep(ctx, c)
		part := &writer{cluster: c, dir: dir, part: Part{k, 2}}
		if part.run, err = newRun(); err == nil {
			err = part.write(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.settle(ctx); err != nil {
			t.Fatal(err)
		}
	}
	r, err := c.open(ctx, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	here, err := local.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	whole := store.Window{End: r.Info().End}
	got, err := r.Time(ctx, whole)
	want, failed := here.Time(ctx, whole)
	if err != nil || failed != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("times differ from those of the local store: %v, %v", err, failed)
	}
	if err := r.Keep("note", []byte("kept")); err != nil {
		t.Error(err)
	}
	if b, ok := r.Kept("note"); !ok || string(b) != "kept" {
		t.Errorf("kept is %q, %v", b, ok)
	}
	number := func(statement string) (n uint64) {
		if err := e.QueryRow(ctx, statement).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	if rows, links := number("select count() from parallax_intervals"), number("select count() from parallax_links"); rows != 1500 || links != 5 {
		t.Errorf("%d intervals, %d links, want 1500, 5", rows, links)
	}
	var name string
	var seconds, calls uint64
	err = e.QueryRow(ctx, "select name, toUInt64(sum(exclusive)) as seconds, count() as calls from parallax_intervals any left join (select region, name from parallax_regions) as r using region "+
		"where run in (select run from parallax_runs where name = 'ring') group by name order by seconds desc limit 10").Scan(&name, &seconds, &calls)
	if err != nil || name != "it's a \\ step" || calls != 1500 {
		t.Errorf("the statement of the documents: %q, %d calls, %v", name, calls, err)
	}
	if err := c.remove(ctx, r.from.parts[0].id); err != nil {
		t.Error(err)
	}
	if all, err := c.list(ctx); err != nil || len(all) != 0 {
		t.Errorf("removed: %v, %v", all, err)
	}
	for _, kind := range []string{"create table", "insert into", "alter table", "select"} {
		if !e.Said[kind] {
			t.Errorf("no statement %q was tried", kind)
		}
	}
}

// publishedSpans is the table of OpenTelemetry's clickhouseexporter with the names and types that it publishes.
const publishedSpans = `create table otel_traces (Timestamp DateTime64(9), TraceId String, SpanId String, ParentSpanId String, TraceState String, SpanName LowCardinality(String), SpanKind LowCardinality(String),
 ServiceName LowCardinality(String), ResourceAttributes Map(LowCardinality(String), String), ScopeName String, ScopeVersion String, SpanAttributes Map(LowCardinality(String), String), Duration UInt64,
 StatusCode LowCardinality(String), StatusMessage String, Events Nested (Timestamp DateTime64(9), Name LowCardinality(String), Attributes Map(LowCardinality(String), String)),
 Links Nested (TraceId String, SpanId String, TraceState String, Attributes Map(LowCardinality(String), String)))
 engine = MergeTree order by (ServiceName, SpanName, toDateTime(Timestamp))`

func TestSpansOfThePublishedTableAreRead(t *testing.T) {
	e := chdbtest.Start(t)
	ctx := context.Background()
	if err := e.Exec(ctx, publishedSpans); err != nil {
		t.Fatal(err)
	}
	err := e.Exec(ctx, `insert into otel_traces (Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName, ResourceAttributes, SpanAttributes, Duration, StatusCode, Events.Timestamp, Events.Name, Events.Attributes) values
 (fromUnixTimestamp64Nano(1000000000007), '5b8efff798038103d269b633813fc60c', 'eee19b7ec3c1b174', '', 'GET /', 'Server', 'shop', map('service.name', 'shop'), map('http.route', '/it\'s'), 500000000, 'Unset', [fromUnixTimestamp64Nano(1000000000012)], ['retry'], [map()]),
 (fromUnixTimestamp64Nano(2000000000009), '5b8efff798038103d269b633813fc60c', 'eee19b7ec3c1b175', 'eee19b7ec3c1b174', 'charge', 'Client', 'pay', map('service.name', 'pay'), map(), 400000000, 'Error', [], [], [])`)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Conn: e, host: "engine"}
	for _, x := range []struct {
		options string
		spans   int64
		holds   []string
	}{
		{"", 2, []string{`"startTimeUnixNano":"1000000000007"`, `{"key":"http.route","value":{"stringValue":"/it's"}}`, `"events":[{"name":"retry","timeUnixNano":"1000000000012"}]`}},
		{"?service=pay&from=1500&to=1970-01-01T01:00:00Z", 1, []string{`"parentSpanId":"eee19b7ec3c1b174"`, `"startTimeUnixNano":"2000000000009"`, `"status":{"code":2`}},
		{"?to=1500", 1, []string{`"name":"GET /"`}},
		{"?service=nobody", 0, nil},
	} {
		a, err := Parse("clickhouse://engine/default/otel_traces" + x.options)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		n, err := s.spans(ctx, a, &out)
		if err != nil || n != x.spans {
			t.Errorf("%s: %d spans, %v, want %d", x.options, n, err, x.spans)
		}
		for _, w := range x.holds {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s: no %s in\n%s", x.options, w, out.String())
			}
		}
	}
}
