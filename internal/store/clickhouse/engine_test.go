package clickhouse

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A current ClickHouse can be had as a library, chDB, for Node. It speaks no protocol, so that here is as much of a connection as Parallax
// uses: statements go to it as text, and answers come as files of rows. So every statement is tried as it is sent.

// engineProgram reads statements, a line of JSON each, and answers with what went wrong.
const engineProgram = `
const { Session } = require("chdb");
const s = new Session(process.argv[1]);
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  let failed = "";
  try { s.query(JSON.parse(line)); } catch (e) { failed = String(e.message || e) || "failed"; }
  process.stdout.write(JSON.stringify(failed) + "\n");
}).on("close", () => process.exit(0));
`

// An engine is a connection to chDB.
type engine struct {
	driver.Conn
	tb   testing.TB
	mu   sync.Mutex // one statement at a time
	dir  string
	in   io.Writer
	out  *bufio.Reader
	many int
	said map[string]bool // how statements begin that were sent
}

// startEngine starts chDB where PARALLAX_CHDB names a directory with it in node_modules.
func startEngine(tb testing.TB) *engine {
	tb.Helper()
	at := os.Getenv("PARALLAX_CHDB")
	if at == "" {
		tb.Skip("no current engine: PARALLAX_CHDB names a directory where `npm install chdb` was run (make test-engine does)")
	}
	e := &engine{tb: tb, dir: tb.TempDir(), said: map[string]bool{}}
	cmd := exec.Command("node", "-e", engineProgram, filepath.Join(e.dir, "data"))
	cmd.Dir, cmd.Stderr = at, os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.Reader
		out, err = cmd.StdoutPipe()
		e.in, e.out = in, bufio.NewReader(out)
	}
	if err = errors.Join(err, cmd.Start()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return e
}

func (e *engine) send(statement string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said[strings.Join(strings.Fields(statement)[:2], " ")] = true
	line, err := json.Marshal(statement)
	if err == nil {
		_, err = e.in.Write(append(line, '\n'))
	}
	if err != nil {
		return err
	}
	answer, err := e.out.ReadBytes('\n')
	var failed string
	if err = errors.Join(err, json.Unmarshal(answer, &failed)); err == nil && failed != "" {
		err = errors.New(failed + " in " + statement[:min(len(statement), 300)])
	}
	return err
}

func (e *engine) Close() error { return nil }

func (e *engine) ServerVersion() (*driver.ServerVersion, error) {
	var text string
	err := e.QueryRow(context.Background(), "select version()").Scan(&text)
	v := &driver.ServerVersion{}
	_, failed := fmt.Sscanf(text, "%d.%d.", &v.Version.Major, &v.Version.Minor)
	return v, errors.Join(err, failed)
}

func (e *engine) Exec(_ context.Context, statement string, args ...any) error {
	return e.send(bound(statement, args))
}

// bound puts values in place of question marks.
func bound(statement string, args []any) string {
	for _, a := range args {
		text := fmt.Sprint(a)
		if s, ok := a.(string); ok {
			text = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
		}
		statement = strings.Replace(statement, "?", text, 1)
	}
	return statement
}

func (e *engine) Query(_ context.Context, statement string, args ...any) (driver.Rows, error) {
	e.mu.Lock()
	e.many++
	file := filepath.Join(e.dir, fmt.Sprint("answer", e.many))
	e.said[strings.Fields(statement)[0]] = true
	e.mu.Unlock()
	if err := e.send("insert into function file('" + file + "', 'RowBinaryWithNamesAndTypes') " + bound(statement, args)); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return &engineRows{}, nil // no rows, no file
	}
	return newEngineRows(b), errors.Join(err, os.Remove(file))
}

func (e *engine) QueryRow(ctx context.Context, statement string, args ...any) driver.Row {
	rows, err := e.Query(ctx, statement, args...)
	return engineRow{rows: rows, err: err}
}

type engineRow struct {
	driver.Row
	rows driver.Rows
	err  error
}

func (r engineRow) Scan(to ...any) error {
	if r.err != nil {
		return r.err
	}
	if !r.rows.Next() {
		return errors.New("no row")
	}
	return r.rows.Scan(to...)
}

// engineRows are those of a file in the format RowBinaryWithNamesAndTypes.
type engineRows struct {
	driver.Rows
	b     []byte
	types []string
}

func newEngineRows(b []byte) *engineRows {
	r := &engineRows{b: b}
	n := int(r.length())
	for range n {
		r.text()
	}
	for range n {
		r.types = append(r.types, r.text())
	}
	return r
}

func (r *engineRows) length() uint64 {
	v, n := binary.Uvarint(r.b)
	r.b = r.b[n:]
	return v
}

func (r *engineRows) text() string {
	n := r.length()
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *engineRows) Next() bool   { return len(r.b) > 0 }
func (r *engineRows) Close() error { return nil }
func (r *engineRows) Err() error   { return nil }

func (r *engineRows) Scan(to ...any) error {
	if len(to) != len(r.types) {
		return fmt.Errorf("%d columns for %d values", len(r.types), len(to))
	}
	for i, t := range r.types {
		if err := r.value(t, reflect.ValueOf(to[i]).Elem()); err != nil {
			return err
		}
	}
	return nil
}

// value reads one of a type, which must be what is asked for: the client is as strict.
func (r *engineRows) value(t string, to reflect.Value) error {
	whole := func(bytes int, kinds ...reflect.Kind) error {
		var b [8]byte
		copy(b[:], r.b[:bytes])
		r.b = r.b[bytes:]
		n := binary.LittleEndian.Uint64(b[:])
		switch {
		case to.Type() == reflect.TypeFor[time.Time]():
			to.Set(reflect.ValueOf(time.Unix(int64(n), 0).UTC()))
		case to.Kind() == kinds[0] && to.CanUint():
			to.SetUint(n)
		case to.Kind() == kinds[0]:
			to.SetInt(int64(n<<(64-8*bytes)) >> (64 - 8*bytes))
		default:
			return fmt.Errorf("%s for a %s", t, to.Type())
		}
		return nil
	}
	if inner, ok := strings.CutPrefix(t, "LowCardinality("); ok {
		t = strings.TrimSuffix(inner, ")")
	}
	switch t, list := strings.CutPrefix(t, "Array("); {
	case list:
		n := int(r.length())
		to.Set(reflect.MakeSlice(to.Type(), n, n))
		for i := range n {
			if err := r.value(strings.TrimSuffix(t, ")"), to.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case t == "String":
		if s := r.text(); to.Kind() == reflect.String {
			to.SetString(s)
		} else {
			to.SetBytes([]byte(s))
		}
		return nil
	case strings.HasPrefix(t, "FixedString("):
		n := 0
		if _, err := fmt.Sscanf(t, "FixedString(%d)", &n); err != nil {
			return err
		}
		to.SetBytes(bytes.Clone(r.b[:n]))
		r.b = r.b[n:]
		return nil
	case t == "UInt8":
		return whole(1, reflect.Uint8)
	case t == "UInt16":
		return whole(2, reflect.Uint16)
	case t == "UInt32":
		return whole(4, reflect.Uint32)
	case t == "DateTime" || strings.HasPrefix(t, "DateTime("):
		return whole(4, reflect.Struct)
	case t == "UInt64":
		return whole(8, reflect.Uint64)
	case t == "Int64":
		return whole(8, reflect.Int64)
	}
	return fmt.Errorf("type %s", t)
}

// PrepareBatch takes rows and sends them as values.
func (e *engine) PrepareBatch(_ context.Context, statement string, _ ...driver.PrepareBatchOption) (driver.Batch, error) {
	return &engineBatch{e: e, statement: statement}, nil
}

type engineBatch struct {
	driver.Batch
	e         *engine
	statement string
	rows      []string
	columns   [][]string
}

func literal(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case string:
		return "unhex('" + hex.EncodeToString([]byte(x)) + "')"
	case time.Time:
		return fmt.Sprint(x.Unix())
	default:
		return fmt.Sprint(x)
	}
}

func (b *engineBatch) Append(values ...any) error {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = literal(reflect.ValueOf(v))
	}
	b.rows = append(b.rows, "("+strings.Join(list, ",")+")")
	return nil
}

func (b *engineBatch) Column(i int) driver.BatchColumn {
	for len(b.columns) <= i {
		b.columns = append(b.columns, nil)
	}
	return engineColumn{b: b, i: i}
}

type engineColumn struct {
	driver.BatchColumn
	b *engineBatch
	i int
}

func (c engineColumn) Append(values any) error {
	list := reflect.ValueOf(values)
	for i := range list.Len() {
		c.b.columns[c.i] = append(c.b.columns[c.i], literal(list.Index(i)))
	}
	return nil
}

func (b *engineBatch) Abort() error { return nil }

func (b *engineBatch) Send() error {
	if len(b.columns) > 0 {
		for i := range b.columns[0] {
			var row []string
			for _, c := range b.columns {
				row = append(row, c[i])
			}
			b.rows = append(b.rows, "("+strings.Join(row, ",")+")")
		}
	}
	if len(b.rows) == 0 {
		return nil
	}
	return b.e.send(b.statement + " values " + strings.Join(b.rows, ","))
}

// TestACurrentEngineUnderstandsEveryStatement: a run is written in two parts, listed, opened, asked, kept with, replaced and removed.
func TestACurrentEngineUnderstandsEveryStatement(t *testing.T) {
	e := startEngine(t)
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
		if !e.said[kind] {
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
	e := startEngine(t)
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
