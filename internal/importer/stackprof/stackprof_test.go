package stackprof

import (
	"bufio"
	"context"
	"maps"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "wall.json", Cuts: 60}, {Path: "wall.dump", Cuts: 60}, {Path: "object.dump"}, {Path: "flat.json"}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x", "testdata/wall.json", "testdata/flat.json", "testdata/object.dump")
}

// functions adds up samples by function: of its own, and of stacks that have it.
func functions(t *testing.T, file string) (self, total map[string]float64) {
	t.Helper()
	r := importertest.Import(t, Format, "testdata/"+file)
	self, total = map[string]float64{}, map[string]float64{}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			if r.Metrics()[p.Metric].Name != "samples" {
				continue
			}
			seen := map[trace.RegionID]bool{}
			for id := p.Path; id != trace.NoCallPath; id = r.CallPaths()[id].Parent {
				if region := r.CallPaths()[id].Region; !seen[region] {
					seen[region] = true
					if r.CallPaths()[p.Path].Flat {
						total[r.Regions()[region].Name] += p.Inclusive
					} else {
						total[r.Regions()[region].Name] += p.Exclusive
					}
				}
			}
			self[r.Regions()[r.CallPaths()[p.Path].Region].Name] += p.Exclusive
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return self, total
}

// stackprof prints samples of functions, of their own and in all: the stacks must add up to these. What the collector took lies
// in no stack.
func TestSamplesAreThoseThatTheToolPrints(t *testing.T) {
	f, err := os.Open("testdata/text.golden")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := regexp.MustCompile(`^ +(\d+) +\([\d.]+%\) +(\d+) +\([\d.]+%\) +(.+?) *$`)
	self, total := functions(t, "wall.dump")
	wantSelf, wantTotal := map[string]float64{}, map[string]float64{}
	for scan := bufio.NewScanner(f); scan.Scan(); {
		m := line.FindStringSubmatch(scan.Text())
		if m == nil || m[3][0] == '(' {
			continue
		}
		a, _ := strconv.ParseFloat(m[1], 64)
		b, _ := strconv.ParseFloat(m[2], 64)
		wantTotal[m[3]] += a // <main> is there twice
		wantSelf[m[3]] += b
	}
	for name := range wantTotal {
		if self[name] != wantSelf[name] || total[name] != wantTotal[name] {
			t.Errorf("%s: %v of its own, %v in all; want %v and %v", name, self[name], total[name], wantSelf[name], wantTotal[name])
		}
	}
	if len(wantTotal) < 8 {
		t.Errorf("only %d functions", len(wantTotal))
	}
}

// One recording, written by Marshal and as JSON.
func TestBothFormsAreTheSame(t *testing.T) {
	self, total := functions(t, "wall.dump")
	otherSelf, otherTotal := functions(t, "wall.json")
	if !maps.Equal(self, otherSelf) || !maps.Equal(total, otherTotal) || len(self) < 8 {
		t.Errorf("%v, %v", self, otherSelf)
	}
}
