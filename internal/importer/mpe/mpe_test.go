package mpe

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "fpilog.clog", Cuts: 120}, {Path: "fpilog.slog2", Cuts: 120}, {Path: "made.clog2", Cuts: 120}, {Path: "made-jumpshot.slog2", Cuts: 120}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x", "testdata/fpilog.slog2", "testdata/made.clog2", "testdata/made-jumpshot.slog2")
}

func callsOf(w *importertest.Count) string {
	byName := map[string]int64{}
	for id, n := range w.Calls {
		byName[w.Regions[id].Name] += n
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, fmt.Sprintf("%s %d", name, byName[name]))
	}
	return strings.Join(out, ", ")
}

// What the table of categories in the SLOG-2 file counts, which MPE's own converter made of the CLOG file: 39 messages
// and twelve states in 153 drawables.
func TestALogAndItsConversionHoldWhatTheCategoriesCount(t *testing.T) {
	const want = "BARRIER 12, BCAST 8, RECV 15, REDUCE 8, SEND 15, SENDRECV 24, User_Barrier 8, User_Broadcast 8, User_Compute 8, User_Reduce 8"
	for _, file := range []string{"testdata/fpilog.clog", "testdata/fpilog.slog2"} {
		w := importertest.CountOf(t, Format, file)
		if got := callsOf(w); got != want || w.Links[trace.LinkMessage] != 39 || len(w.Locations) != 4 {
			t.Errorf("%s: %s, %d messages, %d locations", file, got, w.Links[trace.LinkMessage], len(w.Locations))
		}
	}
}

// The made log was printed by MPE's clog2print and turned into SLOG-2 by its clog2TOslog2: 80 states, 20 events, 40 arrows.
func TestTheMadeLogAndItsConversionAreEqual(t *testing.T) {
	for _, file := range []string{"testdata/made.clog2", "testdata/made-jumpshot.slog2"} {
		w := importertest.CountOf(t, Format, file)
		got := fmt.Sprint(callsOf(w)+"; ", w.Instants, w.Links[trace.LinkMessage], w.Attributes)
		if want := "MPI_Recv 20, MPI_Send 20, overlap 20, solve 20; 20 40 40"; got != want {
			t.Errorf("%s: calls, instants, messages, attributes %s, want %s", file, got, want)
		}
	}
}

// The sample is what the encoder writes, in both byte orders and with any size of blocks.
func TestBothByteOrdersAndAnySizeOfBlocks(t *testing.T) {
	sample, err := os.ReadFile("testdata/made.clog2")
	if err != nil || !bytes.Equal(sample, made(binary.BigEndian, 1024)) {
		t.Errorf("the sample is not what the encoder writes: %v", err)
	}
	want := fmt.Sprint(countMade(t, sample))
	for _, order := range []byteOrder{binary.BigEndian, binary.LittleEndian} {
		for _, block := range []int{256, 1000, 65536} {
			if got := fmt.Sprint(countMade(t, made(order, block))); got != want {
				t.Errorf("%v, blocks of %d: %s, want %s", order, block, got, want)
			}
		}
	}
}

func countMade(t *testing.T, data []byte) []any {
	t.Helper()
	w, err := importMade(t, fstest.MapFS{"x": {Data: data}})
	if err != nil {
		t.Fatal(err)
	}
	return []any{callsOf(w), w.Totals, w.Links, w.Reported, len(w.Locations), w.Properties}
}

func importMade(t *testing.T, files fstest.MapFS) (*importertest.Count, error) {
	t.Helper()
	s, err := importer.NewSourceFS("made", files)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	w := importertest.NewCount()
	return w, runs[0].Import(context.Background(), w)
}

// A program that crashed leaves a log without definitions and end: its states are paired by their numbers.
func TestALogThatWasNotFinishedIsRead(t *testing.T) {
	data := bytes.Replace(made(binary.BigEndian, 1024), []byte("is_finalzed=\x00TRUE "), []byte("is_finalzed=\x00FALSE"), 1)
	w, err := importMade(t, fstest.MapFS{"x": {Data: data[:1024+9*1024]}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"guessed logs that were not finished: times and communicators are as each process saw them", "guessed events of states that the log does not define: paired as MPE numbers them", "skipped logs that break off before their end"} {
		if w.Reported[want] == 0 {
			t.Errorf("the report lacks %q: %v", want, w.Reported)
		}
	}
	if got := callsOf(w); !strings.Contains(got, "undefined state 600 1") || !strings.Contains(got, "undefined state 24 1") {
		t.Error(got)
	}
}

func TestAConversionBesideItsLogIsNotReadTwice(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"fpilog.clog", "fpilog.slog2"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	w, err := importMade(t, files)
	if err != nil || w.Reported["skipped SLOG-2 files beside the logs that they were made of"] != 1 || w.Links[trace.LinkMessage] != 39 {
		t.Errorf("%v, %v", w.Reported, err)
	}
}

func TestOtherVersionsAreRefusedWithAdvice(t *testing.T) {
	for name, data := range map[string][]byte{"CLOG-02.30": append([]byte("CLOG-02.30\x00"), make([]byte, 2000)...), "SLOG 2.0.5": append([]byte("\x00\x0aSLOG 2.0.5"), make([]byte, 300)...)} {
		if _, err := importMade(t, fstest.MapFS{"x": {Data: data}}); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "is read") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValuesAreUnpackedByTheirFormat(t *testing.T) {
	var got []string
	values(fieldsOf("a=%d, b: %h %s x=%E left=%l"), []byte("\x00\x00\x00\x07\xff\xff\x00\x02hi\x3f\xf8\x00\x00\x00\x00\x00\x00\x01"), func(f field, v trace.Value) { got = append(got, f.name+"="+v.String()) })
	if want := "[a=7 b=-1 value=hi x=1.5]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
