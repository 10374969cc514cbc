package otf2

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// calls is a location with n calls of region 0, ten ticks each, from a start on.
func (s *sketch) calls(location uint64, n int, from uint64) *sketch {
	for i := range n {
		t := from + uint64(i)*20
		s.at(location, t, evEnter, 0).at(location, t+10, evLeave, 0)
	}
	return s
}

func TestChunksAreReadOneAfterTheOther(t *testing.T) {
	s := newSketch().base(1).calls(0, 40_000, 100) // some 900 kB
	r := read(t, s.files())
	if n := len(s.eventFile(0)); n < 3*int(s.chunk) {
		t.Fatalf("the sample has %d bytes, fewer than three chunks", n)
	}
	if i := r.Info(); i.Intervals != 40_000 || len(i.Report) != 0 {
		t.Errorf("%d intervals, report %v", i.Intervals, i.Report)
	}
}

func TestBothByteOrdersGiveTheSame(t *testing.T) {
	little := newSketch().base(2).calls(0, 10, 1<<40).calls(1, 10, 1<<41)
	big := newSketch()
	big.order = binary.BigEndian
	big.base(2).calls(0, 10, 1<<40).calls(1, 10, 1<<41)
	if d := tracetest.Diff(dump(t, little.files()), dump(t, big.files())); d != "" {
		t.Error(d)
	}
}

func TestUnknownRecordsAreSkippedByTheirLengthAndCounted(t *testing.T) {
	s := newSketch().base(1).at(0, 10, evEnter, 0)
	s.at(0, 11, 200, 1, 2, 3).at(0, 12, 201, make([]byte, 1000)).at(0, 13, 200)
	s.at(0, 20, evLeave, 0)
	s.define(99, 1, 2)
	r := read(t, s.files())
	got := importertest.Report(r.Info().Report)
	for what, n := range map[string]int64{
		"skipped records of type 200, which is not known":    2,
		"skipped records of type 201, which is not known":    1,
		"skipped definitions of type 99, which is not known": 1,
	} {
		if got[what] != n {
			t.Errorf("%q is counted %d times, want %d", what, got[what], n)
		}
	}
	if i := r.Info(); i.Intervals != 1 || i.End != 10 {
		t.Errorf("%d intervals, end %d", i.Intervals, i.End)
	}
}

func TestDamageCostsOneChunk(t *testing.T) {
	whole := newSketch().base(1).calls(0, 40_000, 100)
	events := whole.eventFile(0)
	for _, c := range []struct {
		name   string
		change func([]byte) []byte
		least  int64 // intervals
		says   string
	}{
		{"a record that cannot be", func(b []byte) []byte { b[500] = 4; b[499] = 4; return b }, 39_998, "places in event files"},
		{"bytes missing in the first chunk", func(b []byte) []byte { return append(b[:600:600], b[650:]...) }, 39_990, "announced"},
		{"a chunk missing", func(b []byte) []byte { return append(b[:leastChunk:leastChunk], b[2*leastChunk:]...) }, 28_000, "announced"},
		{"a newline at the end", func(b []byte) []byte { return append(b, '\n') }, 40_000, "bytes after the end mark"},
		{"no end mark", func(b []byte) []byte { return b[:len(b)-2] }, 40_000, "end mark"},
		{"cut in a record", func(b []byte) []byte { return b[:len(b)-8] }, 39_999, "announced"},
		{"no header", func(b []byte) []byte { return b[18:] }, 26_000, "do not begin"},
		{"nothing at all", func([]byte) []byte { return nil }, 0, "do not begin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := whole.files()
			files["x/0.evt"] = &fstest.MapFile{Data: c.change(bytes.Clone(events))}
			r := read(t, files)
			if n := r.Info().Intervals; n < c.least || n > 40_000 {
				t.Errorf("%d intervals, want at least %d", n, c.least)
			}
			if !says(r.Info().Report, c.says) {
				t.Errorf("the report does not speak of %q: %v", c.says, r.Info().Report)
			}
		})
	}
}

// says reports whether a line of a report has the words.
func says(report []trace.ReportEntry, words string) bool {
	for _, e := range report {
		if strings.Contains(e.What, words) && e.Count > 0 {
			return true
		}
	}
	return false
}

func TestOutlyingTimesDoNotExtendTheTrace(t *testing.T) {
	s := newSketch().base(1).calls(0, 5, 100)
	s.at(0, 1<<62, evEnter, 0).at(0, 300, evLeave, 0).calls(0, 5, 400)
	r := read(t, s.files())
	if i := r.Info(); i.End != 390 || i.Intervals != 11 || !says(i.Report, "out of all order") {
		t.Errorf("end %d, %d intervals, report %v", i.End, i.Intervals, i.Report)
	}
}

func TestAStepInTimeIsNoDamage(t *testing.T) {
	s := newSketch().base(1).calls(0, 5, 100).calls(0, 5, 3600e9)
	if i := read(t, s.files()).Info(); i.End != 3600e9-100+90 || len(i.Report) != 0 {
		t.Errorf("end %d, report %v", i.End, i.Report)
	}
}

func TestAMissingLeaveIsClosedAndCounted(t *testing.T) {
	s := newSketch().base(1).at(0, 10, evEnter, 0).at(0, 20, evEnter, 1).at(0, 50, evLeave, 0).at(0, 60, evEnter, 1).at(0, 70, evEnter, 0)
	got := importertest.Report(read(t, s.files()).Info().Report)
	if got["repaired intervals closed because an outer one was left"] != 1 || got["repaired intervals without an end, closed at the end of the trace"] != 2 {
		t.Errorf("report %v", got)
	}
}

func TestFilesThatAreMissing(t *testing.T) {
	whole := newSketch().base(2).calls(0, 5, 100).calls(1, 5, 100).files()
	for _, c := range []struct{ file, says string }{
		{"x/1.evt", "event file is missing"},
		{"x/1.def", "without a definition file"},
	} {
		files := maps.Clone(whole)
		delete(files, c.file)
		if i := read(t, files).Info(); !says(i.Report, c.says) {
			t.Errorf("without %s the report is %v", c.file, i.Report)
		}
	}
	files := maps.Clone(whole)
	delete(files, "x.def")
	err := runOf(t, files, importer.Options{}).Import(t.Context(), importertest.NewCount())
	if err == nil || !strings.Contains(err.Error(), "x.def: the definitions of the archive are missing; copy all files") {
		t.Errorf("without the definitions the error is %v", err)
	}
}

func TestAnArchiveIsReadWithoutItsAnchor(t *testing.T) {
	whole := newSketch().base(2).calls(0, 40_000, 100).calls(1, 5, 100).files()
	for name, change := range map[string]func(fstest.MapFS){
		"missing": func(f fstest.MapFS) { delete(f, "x.otf2") },
		"damaged": func(f fstest.MapFS) { f["x.otf2"] = &fstest.MapFile{Data: []byte("nothing")} },
		"cut":     func(f fstest.MapFS) { f["x.otf2"] = &fstest.MapFile{Data: f["x.otf2"].Data[:30]} },
	} {
		files := maps.Clone(whole)
		change(files)
		if i := read(t, files).Info(); i.Intervals != 40_005 || !says(i.Report, "anchor") {
			t.Errorf("anchor %s: %d intervals, report %v", name, i.Intervals, i.Report)
		}
	}
	err := runOf(t, fstest.MapFS{"0.evt": whole["x/0.evt"]}, importer.Options{}).Import(t.Context(), importertest.NewCount())
	if err == nil || !strings.Contains(err.Error(), "name the file that ends in .otf2") {
		t.Errorf("an event file alone gives %v", err)
	}
}

func TestSionContainersAreRefused(t *testing.T) {
	files := newSketch().base(1).calls(0, 1, 1).files()
	files["x.otf2"].Data[28] = substrateSion
	err := runOf(t, files, importer.Options{}).Import(t.Context(), importertest.NewCount())
	if err == nil || !strings.Contains(err.Error(), "SION") {
		t.Errorf("the error is %v", err)
	}
}

func TestEventFilesWithoutADefinitionAreKept(t *testing.T) {
	s := newSketch().base(1).calls(0, 5, 100).calls(77, 5, 100)
	if i := read(t, s.files()).Info(); i.Rows != 2 || !says(i.Report, "not defined, kept under their number") {
		t.Errorf("%d rows, report %v", i.Rows, i.Report)
	}
}

// sample loads an archive of testdata.
func sample(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	root := filepath.Join("testdata", name)
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
		files[filepath.ToSlash(rel)] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestPackedFilesGiveTheSame(t *testing.T) {
	want := dump(t, sample(t, "records"))
	for _, c := range []struct {
		name  string
		block int
		tight bool
	}{{"one block", 1 << 20, true}, {"many blocks", 100, true}, {"blocks with room", 1000, false}} {
		t.Run(c.name, func(t *testing.T) {
			files := sample(t, "records")
			for name, f := range files {
				if ext := filepath.Ext(name); ext == ".def" || ext == ".evt" {
					f.Data = packed(t, f.Data, c.block, c.tight)
				}
			}
			if d := tracetest.Diff(want, dump(t, files)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAnArchiveIsFoundFromItsAnchorAlone(t *testing.T) {
	dir := t.TempDir()
	for name, f := range sample(t, "ping-pong-2ranks") {
		p := filepath.Join(dir, filepath.FromSlash(name))
		os.MkdirAll(filepath.Dir(p), 0o777)
		if err := os.WriteFile(p, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(dir, "traces.otf2"), filepath.Join(dir, "other.name")); err != nil {
		t.Fatal(err)
	}
	os.Rename(filepath.Join(dir, "traces.def"), filepath.Join(dir, "other.def"))
	os.Rename(filepath.Join(dir, "traces"), filepath.Join(dir, "other"))
	for _, source := range []string{dir, filepath.Join(dir, "other.name")} {
		if i := importertest.Import(t, Format, source).Info(); i.Intervals != 42 || i.Links != 16 {
			t.Errorf("%s: %d intervals, %d links", source, i.Intervals, i.Links)
		}
	}
}

func FuzzReader(f *testing.F) {
	seed := fstest.MapFS{}
	for _, name := range []string{"records.otf2", "records.def", "records.marker", "records/0.def", "records/0.evt", "records/1.def", "records/1.evt", "records/4.evt"} {
		data, err := os.ReadFile(filepath.Join("testdata/records", filepath.FromSlash(name)))
		if err != nil {
			f.Fatal(err)
		}
		seed[name] = &fstest.MapFile{Data: data}
	}
	names := sortedKeys(seed)
	for i, name := range names {
		f.Add(byte(i), seed[name].Data)
	}
	// Which file of the archive is replaced, and by what.
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		files := maps.Clone(seed)
		files[names[int(which)%len(names)]] = &fstest.MapFile{Data: data}
		s, err := importer.NewSourceFS("sample", files)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range importer.ClaimAs(Format, s) {
			run.Options.Align = []string{"", "messages", "collectives"}[int(which)/len(names)%3]
			if err := run.Import(t.Context(), importertest.NewCount()); err != nil && !strings.Contains(err.Error(), "sample") {
				t.Errorf("the error does not name the file: %v", err)
			}
		}
	})
}
