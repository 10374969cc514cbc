package nsight

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// The other exports of a report hold the same tables. Nobody of ours has the tool, so its samples are made of the database's rows:
// PARALLAX_MAKE_EXPORTS=1 writes them anew.
func TestMakeExports(t *testing.T) {
	if os.Getenv("PARALLAX_MAKE_EXPORTS") == "" {
		t.Skip("PARALLAX_MAKE_EXPORTS is not set")
	}
	dir := filepath.Join("testdata", "two-gpus-parquet")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	db := sampleDatabase(t)
	for _, table := range db.Tables() {
		if b := asParquet(t, db, table); b != nil {
			if err := os.WriteFile(filepath.Join(dir, table.Name+".parquet"), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	few := filepath.Join("testdata", "few-parquet")
	if err := os.MkdirAll(few, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"StringIds", "CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS"} {
		if err := os.WriteFile(filepath.Join(few, name+".parquet"), asParquet(t, firstRows{db, 8}, db.Table(name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join("testdata", "two-gpus.jsonl"), asLines(t, db), 0o644); err != nil {
		t.Fatal(err)
	}
}

func sampleDatabase(t *testing.T) *sqlitefile.File {
	t.Helper()
	data, err := os.ReadFile("testdata/two-gpus.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlitefile.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// asParquet writes a table as a file of optional columns, nil if it has no rows.
func asParquet(t *testing.T, db database, table *sqlitefile.Table) []byte {
	t.Helper()
	types := make([]parquet.Node, len(table.Columns))
	for i := range types {
		types[i] = parquet.Optional(parquet.Leaf(parquet.Int64Type))
	}
	rows := 0
	each(t, db, table, func(r *sqlitefile.Row) {
		rows++
		for i := range types {
			if r.Text(i) != nil {
				types[i] = parquet.Optional(parquet.String())
			} else if x, ok := r.Number(i); ok && x != float64(int64(x)) {
				types[i] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
			}
		}
	})
	if rows == 0 {
		return nil
	}
	group := parquet.Group{}
	for i, c := range table.Columns {
		group[c] = types[i]
	}
	schema := parquet.NewSchema(table.Name, group)
	at := map[string]int{} // the library sorts columns by name
	for i, path := range schema.Columns() {
		at[path[0]] = i
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, schema, parquet.Compression(&parquet.Zstd))
	each(t, db, table, func(r *sqlitefile.Row) {
		row := make(parquet.Row, len(table.Columns))
		for i, c := range table.Columns {
			v := parquet.NullValue()
			level := 0
			if b := r.Text(i); b != nil {
				v, level = parquet.ByteArrayValue(bytes.Clone(b)), 1
			} else if n, ok := r.Int(i); ok && types[i].Type().Kind() == parquet.Int64 {
				v, level = parquet.Int64Value(n), 1
			} else if x, ok := r.Number(i); ok {
				v, level = parquet.DoubleValue(x), 1
			}
			row[at[c]] = v.Level(0, level, at[c])
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// firstRows are the first rows of every table, for fuzzing.
type firstRows struct {
	database
	most int
}

func (f firstRows) Scan(ctx context.Context, t *sqlitefile.Table, columns []string, fn func(*sqlitefile.Row) error) (sqlitefile.Damage, error) {
	n := 0
	return f.database.Scan(ctx, t, columns, func(r *sqlitefile.Row) error {
		if n++; n > f.most {
			return nil
		}
		return fn(r)
	})
}

func each(t *testing.T, db database, table *sqlitefile.Table, fn func(*sqlitefile.Row)) {
	t.Helper()
	if _, err := db.Scan(context.Background(), table, table.Columns, func(r *sqlitefile.Row) error { fn(r); return nil }); err != nil {
		t.Fatal(err)
	}
}

// asLines writes the rows as the messages that the tool exports: numbers of 64 bits are strings, names come after the records.
func asLines(t *testing.T, db *sqlitefile.File) []byte {
	t.Helper()
	var b bytes.Buffer
	put := func(v any) {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	type object = map[string]any
	fields := func(table *sqlitefile.Table, r *sqlitefile.Row, rename map[string]string) object {
		o := object{}
		for i, c := range table.Columns {
			name := c
			if rename[c] != "" {
				name = rename[c]
			}
			if text := r.Text(i); text != nil {
				o[name] = string(text)
			} else if n, ok := r.Int(i); ok {
				o[name] = fmt.Sprint(n)
			}
		}
		return o
	}
	record := func(kind int, name string, o object) {
		line, _ := json.Marshal(o)
		fmt.Fprintf(&b, `{"Type":%d,"%s":%s}`+"\n", kind, name, line)
	}
	work := map[string]string{"start": "startNs", "end": "endNs", "bytes": "sizebytes", "nameId": "name"}
	nest := func(o object, kind string) object {
		inner := object{}
		for _, c := range []string{"demangledName", "shortName", "mangledName", "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
			"staticSharedMemory", "dynamicSharedMemory", "graphNodeId", "graphId", "sizebytes", "copyKind", "syncType"} {
			if v, ok := o[c]; ok {
				inner[c] = v
				delete(o, c)
			}
		}
		o[kind] = inner
		return o
	}
	cuda := func(table string, kind int, inner string) {
		if x := db.Table(table); x != nil {
			each(t, db, x, func(r *sqlitefile.Row) { record(kind, "CudaEvent", nest(fields(x, r, work), inner)) })
		}
	}
	cuda("CUPTI_ACTIVITY_KIND_KERNEL", 79, "kernel")
	cuda("CUPTI_ACTIVITY_KIND_MEMCPY", 80, "memcpy")
	cuda("CUPTI_ACTIVITY_KIND_MEMSET", 80, "memset")
	cuda("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 106, "sync")
	calls := db.Table("CUPTI_ACTIVITY_KIND_RUNTIME")
	each(t, db, calls, func(r *sqlitefile.Row) { record(traceFunctions, "TraceProcessEvent", fields(calls, r, work)) })
	nvtx := db.Table("NVTX_EVENTS")
	each(t, db, nvtx, func(r *sqlitefile.Row) {
		o := fields(nvtx, r, map[string]string{"start": "Timestamp", "end": "EndTimestamp", "eventType": "Type", "globalTid": "GlobalTid", "domainId": "DomainId", "textId": "TextId", "text": "Text"})
		record(59, "NvtxEvent", o)
	})
	record(41, "SchedEvent", object{"StartTimestamp": "7"})
	names := db.Table("StringIds")
	each(t, db, names, func(r *sqlitefile.Row) {
		id, _ := r.Int(0)
		put(object{"type": "String", "id": fmt.Sprint(id), "value": string(r.Text(1))})
	})
	threads := db.Table("ThreadNames")
	each(t, db, threads, func(r *sqlitefile.Row) {
		o := fields(threads, r, nil)
		o["type"] = "ThreadName"
		put(o)
	})
	return b.Bytes()
}

// A directory of tables tells the same as the database of the same report: their dumps are equal.
func TestParquetTellsWhatTheDatabaseTells(t *testing.T) {
	want, err1 := os.ReadFile("testdata/two-gpus.sqlite.golden")
	got, err2 := os.ReadFile("testdata/two-gpus-parquet.golden")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if string(got) != strings.ReplaceAll(string(want), "sample/two-gpus.sqlite", "sample") {
		t.Error("testdata/two-gpus-parquet.golden differs from testdata/two-gpus.sqlite.golden")
	}
}

// Lines hold records, names and threads, but neither programs nor hosts; what they hold is equal to the database's.
func TestLinesHaveTheSameRecordsAsTheDatabase(t *testing.T) {
	want := importertest.CountOf(t, Format, "testdata/two-gpus.sqlite")
	got := importertest.CountOf(t, Format, "testdata/two-gpus.jsonl")
	wantCalls, wantTime := want.Categories()
	gotCalls, gotTime := got.Categories()
	if fmt.Sprint(gotCalls, gotTime, got.Links, got.Attributes) != fmt.Sprint(wantCalls, wantTime, want.Links, want.Attributes) {
		t.Errorf("lines: %v %v %v %d\ndatabase: %v %v %v %d", gotCalls, gotTime, got.Links, got.Attributes, wantCalls, wantTime, want.Links, want.Attributes)
	}
	if got.Reported["skipped records SchedEvent"] != 1 {
		t.Errorf("a record of a kind that is not read is in no report: %v", got.Reported)
	}
}

func TestLinesAreKnownByTheirBeginning(t *testing.T) {
	for text, want := range map[string]bool{
		`{"Type":59,"NvtxEvent":{"Type":59`:                            true,
		`{"Type":27,"CommEvent":{}}`:                                   true,
		`{"data":["[Unknown]","[Unknown kernel module]","[Max depth]"`: true,
		`{"type":"String","id":"0","value":"[Unknown]"}`:               true,
		`{"Type":59}`:                    false,
		`{"Type":`:                       false,
		`{"Type":1,"event":{}}`:          false,
		`{"data":[{"traceID":"1"}]}`:     false,
		`{"traceEvents":[{"name":"a"}]}`: false,
		`{"type":"String"}`:              false,
	} {
		if got := isLines([]byte(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func FuzzLines(f *testing.F) {
	importertest.Fuzz(f, Format, "x.jsonl", "testdata/few.jsonl")
}

func FuzzParquet(f *testing.F) {
	importertest.FuzzAmong(f, Format, "testdata/few-parquet", []string{"StringIds.parquet"}, "NVTX_EVENTS.parquet", "CUPTI_ACTIVITY_KIND_KERNEL.parquet")
}
