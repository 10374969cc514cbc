package demo

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/otf2"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
)

// archives are demos that an OTF2 archive can hold.
var archives = []string{
	"stencil?locations=16&intervals=8000",
	"uniform?locations=20&intervals=20000",
}

// throughOTF2 writes a demo as an archive and reads it again.
func throughOTF2(t *testing.T, name string) store.Reader {
	t.Helper()
	s, err := importer.NewSource(generate(t, name, "otf2", "run"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect([]*importer.Format{otf2.Format}, s)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	m := storetest.NewMemory()
	if err := runs[0].Import(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	return m.Reader()
}

func TestAnArchiveHoldsWhatTheDemoSays(t *testing.T) {
	for _, name := range archives {
		t.Run(name, func(t *testing.T) {
			want, got := direct(t, name), throughOTF2(t, name)
			w, g := want.Info(), got.Info()
			if g.Intervals != w.Intervals || g.Links != w.Links || g.Samples != w.Samples || g.Instants != w.Instants || g.Ranks != w.Ranks || g.Rows != w.Rows || g.End != w.End {
				t.Errorf("got %d intervals, %d links, %d samples, %d instants, %d ranks, %d rows, end %d\nwant %d, %d, %d, %d, %d, %d, %d",
					g.Intervals, g.Links, g.Samples, g.Instants, g.Ranks, g.Rows, g.End, w.Intervals, w.Links, w.Samples, w.Instants, w.Ranks, w.Rows, w.End)
			}
			if len(g.Report) != 0 {
				t.Errorf("the reader reports %v", g.Report)
			}
			calls := func(r store.Reader) []string {
				lines := intervalsOf(t, r, nil)
				for i, l := range lines {
					lines[i] = withoutCategory(l)
				}
				slices.Sort(lines)
				return lines
			}
			diffLines(t, calls(got), calls(want))
		})
	}
}

// withoutCategory takes the category out of a line of intervalsOf: an archive has
// paradigms instead.
func withoutCategory(line string) string {
	f := bytes.Fields([]byte(line))
	if len(f) > 5 {
		f = slices.Delete(f, 4, len(f)-3)
	}
	return string(bytes.Join(f, []byte(" ")))
}

func TestOTF2PrintReadsArchivesWithoutComplaint(t *testing.T) {
	tool, err := exec.LookPath("otf2-print")
	if err != nil {
		t.Skip("otf2-print is not installed")
	}
	for _, name := range archives {
		t.Run(name, func(t *testing.T) {
			dir := generate(t, name, "otf2", "run")
			var out, complaints bytes.Buffer
			c := exec.Command(tool, filepath.Join(dir, "traces.otf2"))
			c.Stdout, c.Stderr = &out, &complaints
			if err := c.Run(); err != nil || complaints.Len() > 0 {
				t.Fatalf("otf2-print: %v\n%s", err, complaints.String())
			}
			want := direct(t, name).Info()
			for word, n := range map[string]int64{"\nENTER ": want.Intervals, "\nLEAVE ": want.Intervals, "\nMPI_SEND ": want.Links, "\nMPI_RECV ": want.Links, "\nMETRIC ": want.Samples} {
				if got := int64(bytes.Count(out.Bytes(), []byte(word))); got != n {
					t.Errorf("otf2-print shows %d of %q, want %d", got, word, n)
				}
			}
			defs, err := exec.Command(tool, "-G", filepath.Join(dir, "traces.otf2")).CombinedOutput()
			if err != nil || bytes.Contains(defs, []byte("warning")) || bytes.Contains(defs, []byte("error")) {
				t.Errorf("otf2-print -G: %v\n%s", err, defs[:min(len(defs), 2000)])
			}
		})
	}
}

func TestArchivesAreTheSameEachTime(t *testing.T) {
	a, b := generate(t, archives[0], "otf2", "a"), generate(t, archives[0], "otf2", "b")
	err := filepath.WalkDir(a, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(a, p)
		x, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		y, err := os.ReadFile(filepath.Join(b, rel))
		if !bytes.Equal(x, y) {
			t.Errorf("%s differs", rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnArchiveSaysWhichLinksItLeavesOut(t *testing.T) {
	for name, kind := range map[string]string{"g5k188": "steal", "training?locations=4&intervals=4000": "flow"} {
		t.Run(name, func(t *testing.T) {
			d, ok := Find(name)
			if !ok {
				t.Fatalf("no demo %s", name)
			}
			left, err := Generate(t.Context(), d, "otf2", Options{}, filepath.Join(t.TempDir(), "run"))
			if err != nil {
				t.Fatal(err)
			}
			if len(left) != 1 || left[0].Count == 0 || !strings.Contains(left[0].What, "links of kind "+kind) {
				t.Fatalf("left out: %v", left)
			}
			r := throughOTF2(t, name)
			want, got := direct(t, name).Info(), r.Info()
			if got.Intervals != want.Intervals || got.Links != want.Links-left[0].Count {
				t.Errorf("%d intervals and %d links, want %d and %d less %d", got.Intervals, got.Links, want.Intervals, want.Links, left[0].Count)
			}
			said := slices.ContainsFunc(slices.Collect(maps.Values(got.Properties)), func(v string) bool { return strings.Contains(v, left[0].What) })
			if !said {
				t.Errorf("the archive does not say it: %v", got.Properties)
			}
		})
	}
}
