package jfr

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An encoder writes a chunk, for what the JDK does not write into a small one.
type encoder struct{ b []byte }

func (e *encoder) number(n int64) {
	u := uint64(n)
	for i := 0; i < 8; i++ {
		if u < 0x80 {
			e.b = append(e.b, byte(u))
			return
		}
		e.b = append(e.b, byte(u)|0x80)
		u >>= 7
	}
	e.b = append(e.b, byte(u))
}

func (e *encoder) text(s string) {
	e.b = append(e.b, 3)
	e.number(int64(len(s)))
	e.b = append(e.b, s...)
}

// event adds an event of a type, with its size before it.
func (e *encoder) event(kind int64, body func(*encoder)) {
	var inner encoder
	inner.number(kind)
	body(&inner)
	e.number(int64(len(inner.b) + 1))
	if len(inner.b)+1 > 0x7f { // the size takes two bytes, and counts itself
		e.b = e.b[:len(e.b)-2]
		e.number(int64(len(inner.b) + 2))
	}
	e.b = append(e.b, inner.b...)
}

// A described type: its fields are name, number of the type, and whether they are constants (c), lists (l) or ticks (t).
type described struct {
	id     int
	name   string
	fields [][3]string
}

var smallTypes = []described{
	{1000, "long", nil}, {1001, "int", nil}, {1002, "boolean", nil}, {1003, "java.lang.String", nil}, {1004, "float", nil}, {1005, "double", nil},
	{1010, "jdk.types.Symbol", [][3]string{{"string", "1003", ""}}},
	{1011, "java.lang.Class", [][3]string{{"name", "1010", "c"}}},
	{1012, "jdk.types.Method", [][3]string{{"type", "1011", "c"}, {"name", "1010", "c"}}},
	{1013, "jdk.types.StackFrame", [][3]string{{"method", "1012", "c"}, {"lineNumber", "1001", ""}}},
	{1014, "jdk.types.StackTrace", [][3]string{{"truncated", "1002", ""}, {"frames", "1013", "l"}}},
	{1015, "java.lang.Thread", [][3]string{{"osName", "1003", ""}, {"osThreadId", "1000", ""}, {"javaName", "1003", ""}, {"javaThreadId", "1000", ""}}},
	{1016, "jdk.jfr.Timespan", nil},
	{2000, "jdk.ThreadPark", [][3]string{{"startTime", "1000", ""}, {"duration", "1000", ""}, {"eventThread", "1015", "c"}, {"stackTrace", "1014", "c"}, {"parkedClass", "1011", "c"}, {"timeout", "1000", "t"}}},
	{2001, "jdk.ExecutionSample", [][3]string{{"startTime", "1000", ""}, {"sampledThread", "1015", "c"}, {"stackTrace", "1014", "c"}}},
	{2002, "jdk.CPULoad", [][3]string{{"startTime", "1000", ""}, {"jvmUser", "1004", ""}, {"machineTotal", "1005", ""}}},
	{2004, "jdk.ActiveSetting", [][3]string{{"startTime", "1000", ""}, {"id", "1000", ""}, {"name", "1003", ""}, {"value", "1003", ""}}},
	{2005, "jdk.ActiveRecording", [][3]string{{"startTime", "1000", ""}}},
	{2003, "jdk.Odd", [][3]string{{"startTime", "1000", ""}, {"list", "1001", "l"}}},
}

// smallRecording is one chunk: a thread that parks once and is sampled twice.
func smallRecording() []byte { return recordingWith(nil) }

// recordingWith is the same with settings at its end: number of the type, name and value.
func recordingWith(settings [][3]string) []byte {
	var texts []string
	index := map[string]int64{}
	var tree encoder
	word := func(s string) {
		if _, ok := index[s]; !ok {
			index[s] = int64(len(texts))
			texts = append(texts, s)
		}
		tree.number(index[s])
	}
	element := func(name string, attributes [][2]string, children int) {
		word(name)
		tree.number(int64(len(attributes)))
		for _, a := range attributes {
			word(a[0])
			word(a[1])
		}
		tree.number(int64(children))
	}
	element("root", nil, 1)
	element("metadata", nil, len(smallTypes))
	for _, x := range smallTypes {
		element("class", [][2]string{{"name", x.name}, {"id", strconv.Itoa(x.id)}}, len(x.fields))
		for _, f := range x.fields {
			attributes := [][2]string{{"name", f[0]}, {"class", f[1]}}
			switch f[2] {
			case "c":
				attributes = append(attributes, [2]string{"constantPool", "true"})
			case "l":
				attributes = append(attributes, [2]string{"dimension", "1"})
			case "t":
				element("field", attributes, 1)
				element("annotation", [][2]string{{"class", "1016"}, {"value", "TICKS"}}, 0)
				continue
			}
			element("field", attributes, 0)
		}
	}
	var e encoder
	e.b = make([]byte, headSize)
	e.event(2000, func(e *encoder) {
		for _, n := range []int64{1000, 500, 1, 1, 1, 2000} {
			e.number(n)
		}
	})
	for _, at := range []int64{1600, 1700} {
		e.event(2001, func(e *encoder) { e.number(at); e.number(1); e.number(1) })
	}
	e.event(2002, func(e *encoder) {
		e.number(1800)
		e.b = binary.BigEndian.AppendUint32(e.b, math.Float32bits(0.5))
		e.b = binary.BigEndian.AppendUint64(e.b, math.Float64bits(0.75))
	})
	e.event(2003, func(e *encoder) { e.number(1800); e.number(2); e.number(7); e.number(9) })
	for _, x := range settings {
		e.event(2004, func(e *encoder) {
			id, _ := strconv.ParseInt(x[0], 10, 64)
			e.number(1900)
			e.number(id)
			e.text(x[1])
			e.text(x[2])
		})
	}
	e.event(1, func(e *encoder) { // constants
		e.number(0)
		e.number(0)
		e.number(0)
		e.b = append(e.b, 1)
		e.number(5)
		e.number(1010) // symbols
		e.number(3)
		for i, s := range []string{"app/Main", "run", "work"} {
			e.number(int64(i + 1))
			e.text(s)
		}
		e.number(1011)
		e.number(1)
		e.number(1)
		e.number(1)
		e.number(1012) // app.Main.run, app.Main.work
		e.number(2)
		for _, n := range []int64{1, 1, 2, 2, 1, 3} {
			e.number(n)
		}
		e.number(1014)
		e.number(1)
		e.number(1)
		e.b = append(e.b, 1) // cut
		e.number(2)
		for _, n := range []int64{2, 33, 1, 12} {
			e.number(n)
		}
		e.number(1015)
		e.number(1)
		e.number(1)
		e.text("os")
		e.number(77)
		e.text("worker")
		e.number(5)
	})
	metadataAt := len(e.b)
	e.event(0, func(e *encoder) {
		e.number(0)
		e.number(0)
		e.number(1)
		e.number(int64(len(texts)))
		for _, s := range texts {
			e.text(s)
		}
		e.b = append(e.b, tree.b...)
	})
	be := binary.BigEndian
	copy(e.b, magic)
	be.PutUint16(e.b[4:], 2)
	be.PutUint16(e.b[6:], 1)
	be.PutUint64(e.b[8:], uint64(len(e.b)))
	be.PutUint64(e.b[24:], uint64(metadataAt))
	be.PutUint64(e.b[32:], 1_700_000_000_000_000_000)
	be.PutUint64(e.b[48:], 1000)
	be.PutUint64(e.b[56:], 500_000_000) // a tick is two ns
	be.PutUint32(e.b[64:], 3)
	return e.b
}

// What is told in ticks, constants, lists and floats comes out as it was put in, and two chunks are one recording.
func TestSmallRecording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "small.jfr")
	one := smallRecording()
	if err := os.WriteFile(file, append(append([]byte{}, one...), one...), 0o644); err != nil {
		t.Fatal(err)
	}
	r := importertest.Import(t, Format, file)
	got := map[string]float64{}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			got[r.Regions()[r.CallPaths()[p.Path].Region].Name] += p.Exclusive
		}
		return nil
	})
	if err != nil || got["app.Main.work"] != 4 || got["app.Main.run"] != 0 {
		t.Errorf("samples %v, %v; want 4 of app.Main.work, which app.Main.run called", got, err)
	}
	w := importertest.CountOf(t, Format, file)
	var parked trace.Time
	for id, region := range w.Regions {
		if region.Name == "ThreadPark" {
			parked = w.Time[trace.RegionID(id)]
		}
	}
	if w.Intervals != 2 || parked != 2*1000 || w.Samples != 4 {
		t.Errorf("%d intervals of %d ns, %d values of counters; want 2 of 2,000 and 4", w.Intervals, parked, w.Samples)
	}
	names := map[string]bool{}
	for _, l := range w.Locations {
		names[l.Name] = true
	}
	if !names["worker"] || len(w.Reported) != 2 {
		t.Errorf("locations %v, report %v; want worker, what was cut and what only describes", names, w.Reported)
	}
}
