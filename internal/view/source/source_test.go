package source_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/sourcefile"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/source"
)

// lines is a profile of three ranks: sweep of solve.c calls norm, whose code is in part from vec.h.
const lines = `
region sweep role=compute file=src/solve.c line=10
region norm role=compute file=src/solve.c line=30
region main role=compute file=src/main.c line=3
location process r0 rank=0
location process r1 rank=1
location process r2 rank=2
metric time unit=ns default
metric samples
profile r0 "main => sweep" time incl=100 excl=60
profile r0 "main => sweep => norm" time incl=40 excl=40
profile r1 "main => sweep" time incl=300 excl=300
profile r2 "main" time incl=10 excl=10
sourceline r0 "main => sweep" time line=12 incl=50 excl=50
sourceline r0 "main => sweep" time line=13 incl=50 excl=10
sourceline r0 "main => sweep" time line=13 callee="main => sweep => norm" calls=4 incl=40
sourceline r0 "main => sweep => norm" time line=31 incl=30 excl=30
sourceline r0 "main => sweep => norm" time line=5 file=src/vec.h incl=10 excl=10
sourceline r0 "main => sweep => norm" samples line=5 file=src/vec.h incl=1 excl=1
sourceline r1 "main => sweep" time line=12 incl=280 excl=280
sourceline r1 "main => sweep" time line=0 incl=20 excl=20
sourceline r2 "main" time line=4 incl=10 excl=10
`

const trace = `
region main role=compute file=src/main.c line=3
region sweep role=compute file=src/solve.c line=10
region norm role=compute file=src/solve.c line=30
region MPI_Wait role=communication
location process r0 rank=0
  0..100 main
    10..50 sweep
      20..30 norm
    60..90 MPI_Wait
location process r1 rank=1
  0..100 main
    10..80 sweep
`

func TestView(t *testing.T) {
	viewtest.Run(t, source.View,
		viewtest.Case{Name: "lines", Trace: lines, Size: scene.Size{Width: 900, Height: 240}},
		viewtest.Case{Name: "one region", Trace: lines, Spec: view.Spec{Regions: []string{"norm"}}},
		viewtest.Case{Name: "trace", Trace: trace})
}

// ask returns the data and notes of the view; dir holds the source, or is empty.
func ask(t *testing.T, text, dir string, options map[string][]string) (source.Data, string) {
	t.Helper()
	values, err := view.NewValues(source.View, options)
	if err != nil {
		t.Fatal(err)
	}
	run := view.Run{Name: "run", Store: storetest.Text(t, text)}
	if dir != "" {
		run.Sources = &sourcefile.Finder{Roots: []string{dir}, Editor: "ed://{rel}:{line}"}
	}
	q := &view.Request{Runs: []view.Run{run}, Values: values, Size: scene.Size{Width: 640, Height: 360}}
	if q.Selection, err = (view.Spec{}).Resolve(run.Store); err != nil {
		t.Fatal(err)
	}
	r, err := view.Ask(t.Context(), source.View, q)
	if err != nil {
		t.Fatal(err)
	}
	return r.Data().(source.Data), strings.Join(r.Notes(), "\n")
}

func TestLinesHaveTheirValuesRanksAndCallees(t *testing.T) {
	d, _ := ask(t, lines, "", nil)
	if d.File != "src/solve.c" || !d.ByLine || d.Line != 12 || len(d.Lines) != 4 || len(d.Files) != 3 {
		t.Fatalf("%+v", d)
	}
	l := d.Lines[1]
	if l.Line != 12 || l.Exclusive != 330 || l.Ranks[0] != 50 || l.Ranks[1] != 280 || l.Ranks[2] != 0 {
		t.Errorf("%+v", l)
	}
	l = d.Lines[2]
	if l.Inclusive != 50 || l.Exclusive != 10 || len(l.Callees) != 1 || l.Callees[0].Region != "norm" ||
		l.Callees[0].Inclusive != 40 || *l.Callees[0].Calls != 4 {
		t.Errorf("%+v", l)
	}
	if d, _ := ask(t, lines, "", map[string][]string{"file": {"vec.h"}, "metric": {"samples"}}); d.File != "src/vec.h" ||
		len(d.Lines) != 1 || d.Lines[0].Exclusive != 1 || d.Lines[0].Region != "norm" {
		t.Errorf("inlined code of another file: %+v", d)
	}
	if d, notes := ask(t, trace, "", nil); d.ByLine || !strings.Contains(notes, "no values of lines") ||
		d.File != "src/solve.c" || d.Lines[0].Line != 10 || d.Lines[0].Exclusive != 100 {
		t.Errorf("%+v %s", d, notes)
	}
}

func TestTextIsShownAndAChangedFileIsNoted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "src", "solve.c")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		lines   int
		changed time.Time
		said    string
	}{
		{40, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), ""},
		{40, time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC), "was changed after the run"},
		{20, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), "has 20 lines and the data names line 31"},
	} {
		if err := os.WriteFile(path, []byte(strings.Repeat("x = 1;\n", c.lines)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, c.changed, c.changed); err != nil {
			t.Fatal(err)
		}
		d, notes := ask(t, "property start 2021-01-01T00:00:00Z\n"+lines, dir, nil)
		if d.Lines[1].Text != "x = 1;" || d.Lines[1].Editor != "ed://src/solve.c:12" || len(d.Context) == 0 {
			t.Errorf("%+v", d.Lines[1])
		}
		if c.said == "" && notes != "20.0 ns of the file has no line" || !strings.Contains(notes, c.said) {
			t.Errorf("notes %q, want %q", notes, c.said)
		}
	}
}

func TestTwoRunsShowTheSameFileAndTheirDifference(t *testing.T) {
	first := view.Run{Name: "a", Store: storetest.Text(t, lines)}
	second := view.Run{Name: "b", Store: storetest.Text(t, strings.ReplaceAll(lines, "line=12 incl=280 excl=280",
		"line=12 incl=100 excl=100"))}
	values, err := view.NewValues(source.View, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := &view.Request{Runs: []view.Run{first, second}, Values: values, Size: scene.Size{Width: 1200, Height: 360}}
	if q.Selection, err = (view.Spec{}).Resolve(first.Store); err != nil {
		t.Fatal(err)
	}
	r, err := view.Ask(t.Context(), source.View, q)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Data().(source.PairData)
	if x := d.Differences[0]; d.With.File != "src/solve.c" || x.Line != 12 || x.First != 330 || x.Second != 150 ||
		x.Difference != -180 {
		t.Errorf("%+v", d.Differences)
	}
}
