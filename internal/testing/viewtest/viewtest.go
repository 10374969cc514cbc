// Package viewtest holds the one suite that every view runs.
//
//	Run     golden scenes and pictures; the same bytes twice and on any number of
//	        cores; twins that agree; picking anywhere; empty and cancelled
//	        requests; every size; figures for files, filled and legible at any size; a
//	        bounded scene; few queries of the store; rows ordered by groups
//	Dump    a scene as text, for goldens
//
// PARALLAX_RECORD=folder keeps facts, data and tables of all cases, for comparing two states.
// Goldens are in testdata of the view, <case>.scene and <case>.svg; -update
// writes them anew. Look at the pictures before you keep them.
package viewtest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Bounds that hold for every view at Full HD.
const (
	// MostBytes bounds the bytes of a scene on the wire, whatever the trace.
	MostBytes = 2 << 20
	// MostQueries is how often a frame may ask the store.
	MostQueries = 16
)

// A Case is one request of a view.
type Case struct {
	Name string
	// Trace in the language of package tracetest; or Reader, if that is not enough.
	Trace  string
	Reader func(testing.TB) store.Reader
	// Others are further runs, in the same language, for views that compare.
	Others []string
	Spec   view.Spec
	// Options as on the command line.
	Options map[string][]string
	Size    scene.Size // 640 × 360 if zero
	// NoGolden leaves the goldens out, for traces too large to review.
	NoGolden bool
}

func init() {
	// Another test package of the same binary may have the flag already.
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "write the golden files anew")
	}
}

// Updating reports whether goldens are to be written.
func Updating() bool { return flag.Lookup("update").Value.String() == "true" }

// GoldenText compares a text, such as sentences, with a file of testdata, or writes it with -update.
func GoldenText(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if Updating() {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; -update writes it anew:\n%s", path, got)
	}
}

// Run puts a view through the suite.
func Run(t *testing.T, v *view.View, cases ...Case) {
	t.Run("described", func(t *testing.T) { described(t, v) })
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			r := c.Open(t)
			t.Run("golden", func(t *testing.T) { golden(t, v, &c, r) })
			t.Run("same bytes", func(t *testing.T) { sameBytes(t, v, &c, r) })
			t.Run("twins", func(t *testing.T) { twins(t, v, &c, r) })
			t.Run("pick", func(t *testing.T) { pickAnywhere(t, v, &c, r) })
			t.Run("sizes", func(t *testing.T) { sizes(t, v, &c, r) })
			t.Run("figures", func(t *testing.T) { figures(t, v, &c, r) })
			t.Run("empty", func(t *testing.T) { empty(t, v, &c, r) })
			t.Run("cancelled", func(t *testing.T) { cancelled(t, v, &c, r) })
			t.Run("arranged", func(t *testing.T) { arranged(t, v, &c, r) })
			t.Run("few queries", func(t *testing.T) {
				storetest.AtMost(t, MostQueries, r, func(slow store.Reader) { c.Compute(t, v, slow) })
			})
		})
	}
}

// Open returns the reader of a case, with all summaries.
func (c *Case) Open(tb testing.TB) store.Reader {
	tb.Helper()
	if c.Reader != nil {
		return c.Reader(tb)
	}
	return storetest.Text(tb, c.Trace, all.Summaries...)
}

func (c *Case) size() scene.Size {
	if c.Size == (scene.Size{}) {
		return scene.Size{Width: 640, Height: 360}
	}
	return c.Size
}

// Request makes the request of a case.
func (c *Case) Request(tb testing.TB, v *view.View, r store.Reader) *view.Request {
	tb.Helper()
	sel, err := c.Spec.Resolve(r)
	if err != nil {
		tb.Fatal(err)
	}
	values, err := view.NewValues(v, c.Options)
	if err != nil {
		tb.Fatal(err)
	}
	q := &view.Request{Runs: []view.Run{{Name: "test", Source: "test.trace", Store: r}}, Selection: sel, Values: values,
		Size: c.size()}
	for i, text := range c.Others {
		name := fmt.Sprintf("test%d", i+2)
		q.Runs = append(q.Runs,
			view.Run{Name: name, Source: name + ".trace", Store: storetest.Text(tb, text, all.Summaries...)})
	}
	return q
}

// Compute answers a case.
func (c *Case) Compute(tb testing.TB, v *view.View, r store.Reader) view.Result {
	tb.Helper()
	result, err := view.Ask(context.Background(), v, c.Request(tb, v, r))
	if err != nil {
		tb.Fatal(err)
	}
	return result
}

// golden holds the scene, and the picture as a file has it, against testdata.
func golden(t *testing.T, v *view.View, c *Case, r store.Reader) {
	if c.NoGolden {
		t.Skip("the trace is too large to review")
	}
	result := c.Compute(t, v, r)
	name := strings.ReplaceAll(c.Name, " ", "-")
	compare(t, name+".scene", []byte(Dump(result.Scene(c.size()))))
	var picture bytes.Buffer
	if err := svg.Render(&picture, scene.AddTitleAndLegend(c.size(), result.Scene), scene.Light); err != nil {
		t.Fatal(err)
	}
	compare(t, name+".svg", picture.Bytes())
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if Updating() {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run with -update to write it", err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs; run with -update and look at it:\n%s", file, tracetest.Diff(string(want), string(got)))
	}
}

// Shared returns the path of sample data kept next to the repository, or skips.
func Shared(tb testing.TB, elem ...string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			tb.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(append([]string{dir, "..", "shared"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("sample data %s is not here: it is kept beside the repository", filepath.Join(elem...))
	}
	return path
}
