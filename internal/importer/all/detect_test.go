package all

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
)

// wide writes a text as a shell of Windows does.
func wide(order binary.AppendByteOrder, s string) (out []byte) {
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

// javaProfile is a CPU profile as Java writes it: words, and names behind them.
func javaProfile() []byte {
	var b bytes.Buffer
	for _, w := range []uint64{0, 3, 1, 10_000, 0, 5, 2, 0x10, 0x20, 0, 1, 0} {
		_ = binary.Write(&b, binary.LittleEndian, w)
	}
	b.WriteString("  0x00000010 work (Main.java:7)\n  0x00000020 main (Main.java:3)\n")
	return b.Bytes()
}

func importAll(t *testing.T, files fstest.MapFS) (importer.Run, store.Reader, error) {
	t.Helper()
	s, err := importer.NewSourceFS("sample", files)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect(Formats, s)
	if err != nil {
		return importer.Run{}, nil, err
	}
	m := storetest.NewMemory()
	if err := runs[0].Import(context.Background(), m); err != nil {
		return runs[0], nil, err
	}
	return runs[0], m.Reader(), nil
}

const batch = `[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},
"scopeSpans":[{"spans":[{"traceId":"AAAAAAAAAAAAAAAAAAAAAQ==","spanId":"AAAAAAAAAAE=","name":"get","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000005000000"}]}]}]`

// Files that begin in an unusual way, and what they are.
func TestUnusualBeginningsAreKnown(t *testing.T) {
	stacks := "main;work;inner 12\nmain;rest 3\n"
	untimed := "swapper     0 cycles:\n\tffffffff81 native_safe_halt+0x2 ([kernel.kallsyms])\n\tffffffff82 default_idle ([kernel.kallsyms])\n\n"
	for _, c := range []struct {
		name, format string
		data         []byte
		region       string
	}{
		{"DevTools with long metadata", "chrome", []byte(`{"metadata":{"source":"DevTools","modifications":{"text":"` + strings.Repeat("x", 300_000) +
			`"}},"traceEvents":[{"ph":"X","name":"RunTask","pid":1,"tid":1,"ts":10,"dur":5}]}`), "RunTask"},
		{"CPU profile of Java", "pprof", javaProfile(), "work"},
		{"one stack without a newline", "collapsed", []byte("main;work;inner 12"), "inner"},
		{"UTF-16, as Windows writes it", "collapsed", wide(binary.LittleEndian, stacks), "inner"},
		{"UTF-16, the other way round", "collapsed", wide(binary.BigEndian, stacks), "rest"},
		{"Chrome's JSON in UTF-16", "chrome", wide(binary.LittleEndian, `[{"ph":"X","name":"größe 😀","pid":1,"tid":1,"ts":10,"dur":5}]`), "größe 😀"},
		{"perf script without time stamps", "perf", []byte(untimed), "native_safe_halt"},
		{"perf script of pid and tid alone", "perf", []byte(strings.Replace(untimed, "0 cycles:", "0/0 my_event:", 1)), "default_idle"},
		{"py-spy's raw output", "collapsed", []byte("<module> (app.py:12);main (app.py:9);work (app.py:4) 31\n<module> (app.py:12);main (app.py:10);fib (app.py:2);fib (app.py:2) 12\n"), "fib (app.py:2)"},
		{"viztracer", "chrome", []byte(`{"traceEvents": [{"ph": "M", "pid": 100, "tid": 100, "name": "process_name", "args": {"name": "MainProcess"}}, ` +
			`{"pid": 100, "tid": 100, "ts": 20.1, "ph": "X", "dur": 90.5, "name": "main (/srv/app/a.py:1)", "cat": "FEE"}], "viztracer_metadata": {"version": "0.16.2", "overflow": false}, ` +
			`"file_info": {"files": {"/srv/app/a.py": ["def main():\n", 10]}, "functions": {}}}`), "main (/srv/app/a.py:1)"},
		{"Tempo's batches", "otlp", []byte(`{"batches":` + batch + `}`), "get"},
		{"Tempo's newer answer", "otlp", []byte(`{"trace":{"resourceSpans":` + batch + `}}`), "get"},
		{"Jaeger's newer answer", "otlp", []byte(`{"result":{"resourceSpans":` + batch + `}}`), "get"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run, r, err := importAll(t, fstest.MapFS{"x": {Data: c.data}})
			if err != nil || run.Format.Name != c.format {
				t.Fatalf("%+v, %v", run.Format, err)
			}
			var names []string
			for _, g := range r.Regions() {
				names = append(names, g.Name)
			}
			if !strings.Contains(strings.Join(names, "\n"), c.region) {
				t.Errorf("regions %q, want %q among them", names, c.region)
			}
		})
	}
}

// What looks a little like one of these is not claimed.
func TestSimilarBeginningsAreNotClaimed(t *testing.T) {
	for name, data := range map[string][]byte{
		"prose with a colon":     []byte("chapter 12 intro:\n\tonce upon a time\n"),
		"metadata of nothing":    []byte(`{"metadata":{"x":"` + strings.Repeat("x", 300_000) + `"},"rows":[1,2]}`),
		"bytes with a wide mark": append([]byte{0xff, 0xfe}, bytes.Repeat([]byte{0x12, 0x9a}, 100)...),
		"a batch of jobs":        []byte(`{"batches":[{"resource":"gpu","jobs":[1,2]}]}`),
		"one word and a number":  []byte("total 12"),
		"a table of numbers":     []byte("# gpu    pwr  gtemp  mtemp     sm\n    0     79     34     44      0      0\n    0     79     34     44     12      3\n"),
		"a longer one":           []byte("# gpu pwr\n    0     79     34     44      0      0      0   3201    345 \n    0     79     34     44      0      0      0   3201    345 \n"),
	} {
		if run, _, err := importAll(t, fstest.MapFS{"x": {Data: data}}); err == nil {
			t.Errorf("%s: claimed by %s", name, run.Format.Name)
		}
	}
}

// Several files that a user says are one run: each on rows of its own, on one clock.
func TestRunsAreJoinedOnPurpose(t *testing.T) {
	unit := func(i int) []byte { // as clang writes one of a build
		return fmt.Appendf(nil, `{"traceEvents":[{"ph":"X","name":"Source","pid":%d,"tid":1,"ts":5,"dur":100}],"beginningOfTime":%d}`, 100+i, 1_700_000_000_000_000+1000*i)
	}
	span := func(i int) []byte {
		return fmt.Appendf(nil, `[{"traceId":"a","id":"%d","name":"get","timestamp":%d,"duration":50,"localEndpoint":{"serviceName":"s%d"}}]`, i+1, 1_700_000_000_000_000+1000*i, i)
	}
	for _, c := range []struct {
		name string
		file func(int) []byte
		n    int
	}{{"units of clang", unit, 13}, {"spans", span, 3}} {
		files := fstest.MapFS{}
		for i := range c.n {
			files[fmt.Sprintf("unit%02d.json", i)] = &fstest.MapFile{Data: c.file(i)}
		}
		s, err := importer.NewSourceFS("sample", files)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := importer.Detect(Formats, s)
		var several *importer.Ambiguous
		if !errors.As(err, &several) || len(runs) != c.n {
			t.Fatalf("%s: %d runs, %v; want %d", c.name, len(runs), err, c.n)
		}
		m := storetest.NewMemory()
		if err := importer.Join(runs).Import(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		i := m.Reader().Info()
		if i.Intervals != int64(c.n) || i.Rows != c.n {
			t.Errorf("%s: %d intervals on %d rows, want %d", c.name, i.Intervals, i.Rows, c.n)
		}
		if want := int64(1_000_000 * (c.n - 1)); int64(i.End) < want || int64(i.End) > want+200_000 {
			t.Errorf("%s: the run takes %d ns, want the last to begin %d after the first", c.name, i.End, want)
		}
	}
}

// Spans of one system lie in many files, a request each. Joined they are its services once, and calls find their callers in other files.
func TestJoinedFilesOfSpansAreOneSetOfServices(t *testing.T) {
	files := map[string]func(trace, id, parent string) string{
		"jaeger": func(trace, id, parent string) string {
			return fmt.Sprintf(`{"data":[{"traceID":"%[1]s","spans":[{"traceID":"%[1]s","spanID":"%[2]s","operationName":"get","references":[{"refType":"CHILD_OF","traceID":"%[1]s","spanID":"%[3]s"}],"startTime":1700000000000000,"duration":5,"processID":"p1"}],"processes":{"p1":{"serviceName":"shop"}}}]}`, trace, id, parent)
		},
		"zipkin": func(trace, id, parent string) string {
			return fmt.Sprintf(`[{"traceId":"%s","id":"%s","parentId":"%s","name":"get","timestamp":1700000000000000,"duration":5,"localEndpoint":{"serviceName":"shop"}}]`, trace, id, parent)
		},
		"otlp": func(trace, id, parent string) string {
			return fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%s","parentSpanId":"%s","name":"get","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000000005000"}]}]}]}`, trace, id, parent)
		},
	}
	for name, write := range files {
		s, err := importer.NewSourceFS("sample", fstest.MapFS{
			"a.json": {Data: []byte(write("00000000000000a0", "00000000000000a1", "00000000000000a2"))},
			"b.json": {Data: []byte(write("00000000000000a0", "00000000000000a2", ""))},
			"c.json": {Data: []byte(write("00000000000000b0", "00000000000000b1", ""))},
		})
		if err != nil {
			t.Fatal(err)
		}
		runs, _ := importer.Detect(Formats, s)
		if len(runs) != 3 {
			t.Fatalf("%s: %d runs in three files", name, len(runs))
		}
		m := storetest.NewMemory()
		if err := importer.Join(runs).Import(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		r := m.Reader()
		if i := r.Info(); r.Locations().Len() != 1 || i.Intervals != 3 || i.Properties["traces"] != "2" || len(i.Report) > 0 {
			t.Errorf("%s: %d calls of %s traces at %v, want 3 of 2 at one service; reported %v", name, i.Intervals, i.Properties["traces"], r.Locations().Name, i.Report)
		}
	}
}
