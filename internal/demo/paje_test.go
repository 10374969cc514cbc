package demo

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/paje"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// pajeDemos are demos whose traces Paje can hold, small.
var pajeDemos = []string{
	"stencil?locations=16&intervals=8000", "uniform?locations=20&intervals=20000", "training?locations=4&intervals=12000", "g5k188?intervals=4000",
}

func readPaje(t *testing.T, path string) store.Reader {
	t.Helper()
	s, err := importer.NewSource(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect([]*importer.Format{paje.Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	m := storetest.NewMemory()
	if err := runs[0].Import(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	return m.Reader()
}

func TestPajeHoldsTheWholeTrace(t *testing.T) {
	for _, name := range pajeDemos {
		t.Run(name, func(t *testing.T) {
			path := generate(t, name, "paje", "run.trace.gz")
			m := storetest.NewMemory()
			m.Cover(0, 0) // where the containers of the file begin to live
			want, got := directFrom(t, name, m), readPaje(t, path)
			// Names of attributes are words in Paje; that they come through is
			// told by their number, below.
			diffLines(t, intervalsOf(t, got, nil), intervalsOf(t, want, nil))
			w, g := want.Info(), got.Info()
			if g.Links != w.Links || g.Samples != w.Samples || g.Instants != w.Instants || g.Depth != w.Depth || g.Rows != w.Rows || g.End != w.End || g.Ranks != w.Ranks {
				t.Errorf("file: %+v\ndemo: %+v", g, w)
			}
			if n, m := facts(t, got), facts(t, want); n != m {
				t.Errorf("%d attributes in the file, %d in the demo", n, m)
			}
			for _, e := range g.Report {
				t.Errorf("the reader had to help: %+v", e)
			}
		})
	}
}

// facts counts the attributes of intervals.
func facts(t *testing.T, r store.Reader) (n int) {
	t.Helper()
	var mu sync.Mutex
	for a := range r.Attributes() {
		err := r.AttributeColumn(context.Background(), store.Window{End: r.Info().End}, trace.AttributeID(a), func(c *store.AttributeColumns) error {
			mu.Lock()
			n += len(c.Row)
			mu.Unlock()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestPjDumpReadsWhatIsGenerated(t *testing.T) {
	tool, err := exec.LookPath("pj_dump")
	if err != nil {
		t.Skip("pj_dump (PajeNG) is not installed")
	}
	for _, name := range pajeDemos {
		t.Run(name, func(t *testing.T) {
			var complaint bytes.Buffer
			c := exec.Command(tool, generate(t, name, "paje", "run.trace"))
			c.Stderr = &complaint
			out, err := c.Output()
			if err != nil {
				t.Fatalf("pj_dump: %v\n%s%.2000s", err, &complaint, out)
			}
			count := map[string]int64{}
			for line := range strings.Lines(string(out)) {
				kind, _, _ := strings.Cut(line, ",")
				count[kind]++
			}
			r := direct(t, name)
			i := r.Info()
			if count["State"] != i.Intervals || count["Link"] != i.Links || count["Event"] != i.Instants || count["Container"] != int64(r.Locations().Len())+1 {
				t.Errorf("pj_dump finds %v; the demo has %d intervals, %d links, %d instants, %d locations and the root", count, i.Intervals, i.Links, i.Instants, r.Locations().Len())
			}
			// Samples of one time are one to pj_dump.
			if v := count["Variable"]; v > i.Samples || (v == 0) != (i.Samples == 0) {
				t.Errorf("pj_dump finds %d variables, the demo has %d samples", v, i.Samples)
			}
		})
	}
}

func TestPajeIsTheSameEachTime(t *testing.T) {
	for _, name := range []string{"stencil", "training?locations=4&intervals=12000"} {
		if hashFiles(t, generate(t, name, "paje", "a.trace")) != hashFiles(t, generate(t, name, "paje", "a.trace")) {
			t.Errorf("%s: two runs differ", name)
		}
	}
}

func TestPajeLeavesNothingWhenItIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	path := filepath.Join(t.TempDir(), "x")
	d, _ := Find("training")
	if _, err := Generate(ctx, d, "paje", Options{}, path); err == nil {
		t.Error("no error")
	}
	checkNothingLeft(t, path)
}
