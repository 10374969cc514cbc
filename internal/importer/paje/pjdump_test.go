package paje

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// pjDump gives the lines that pj_dump prints for a trace, cut into their fields.
// A packed trace is unpacked first, which pj_dump cannot.
func pjDump(t *testing.T, file string) [][]string {
	t.Helper()
	tool, err := exec.LookPath("pj_dump")
	if err != nil {
		t.Skip("pj_dump (PajeNG) is not installed")
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	c := exec.Command(tool, "-l", "9")
	c.Stdin = in
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		c.Stdin = z
	}
	out, err := c.Output()
	if err != nil {
		t.Fatalf("pj_dump: %v", err)
	}
	var lines [][]string
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.Split(strings.TrimSpace(line), ", "))
	}
	return lines
}

// A summary is how many records of one key there are, and their times added up. Sums
// tell records apart that are few; rounding of each is in them.
type summary struct {
	count      int64
	begin, end float64
}

func (s *summary) add(begin, end float64) {
	s.count++
	s.begin += begin
	s.end += end
}

func (s summary) close(o summary) bool {
	tolerance := 1e-6 * (float64(s.count+1) + math.Abs(s.end)) // pj_dump reads variables as float32
	return s.count == o.count && math.Abs(s.begin-o.begin) < tolerance && math.Abs(s.end-o.end) < tolerance
}

type summaries map[string]*summary

func (m summaries) add(key string, begin, end float64) {
	if m[key] == nil {
		m[key] = &summary{}
	}
	m[key].add(begin, end)
}

func compare(t *testing.T, what string, got, want summaries) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if g := got[key]; g == nil || !g.close(*want[key]) {
			t.Errorf("%s %s: got %v, pj_dump has %v", what, key, got[key], *want[key])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d keys, pj_dump has %d", what, len(got), len(want))
	}
}

// Every state, link, event and variable of pj_dump, by container, type and value,
// with its times.
func TestExportedTextEqualsThatOfPjDump(t *testing.T) {
	for _, c := range []struct {
		path string
		unit float64 // nanoseconds of pj_dump's unit
	}{
		{"paje-hpl128-g5k/hpl128.trace.gz", 1e9},
		{"paje-pingpong4/pingpong4.trace", 1e9},
		{"public/paje/simgrid-cluster/simu-mardi.trace", 1e9},
		{"public/paje/smpi-replay-extract/replay_output_shurakai_extract.trace", 1e9},
		{"public/paje/starpu-native-sample/native_sample.trace", 1e6},
		{"public/paje/record-kinds-small/containers.trace", 1e9},
		{"public/paje/record-kinds-small/states.trace", 1e9},
		{"public/paje/record-kinds-small/events.trace", 1e9},
		{"public/paje/record-kinds-small/links.trace", 1e9},
		{"public/paje/record-kinds-small/variables.trace", 1e9},
		{"public/paje/record-kinds-small/gattaca.trace", 1e9},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			file := importertest.Shared(t, c.path)
			skipLarge(t, file)
			lines := pjDump(t, file)
			r := importertest.Import(t, Format, file)
			theirs := map[string]summaries{"Container": {}, "State": {}, "Link": {}, "Event": {}, "Variable": {}}
			for _, l := range lines {
				number := func(i int) float64 {
					f, err := strconv.ParseFloat(l[i], 64)
					if err != nil {
						t.Fatalf("pj_dump prints %v", l)
					}
					return f
				}
				switch m := theirs[l[0]]; l[0] {
				case "Container":
					if l[len(l)-1] != "0" {
						m.add(l[1]+" > "+l[len(l)-1], 0, 0)
					}
				case "State":
					m.add(strings.Join([]string{l[1], l[2], l[7]}, ", "), number(3), number(4))
				case "Link":
					m.add(l[7]+" -> "+l[8], number(3), number(4))
				case "Event":
					m.add(strings.Join([]string{l[1], l[2], l[4]}, ", "), number(3), 0)
				case "Variable":
					m.add(l[1]+", "+l[2], number(3), number(6))
				}
			}
			ours := ourSummaries(t, r, c.unit)
			for what := range theirs {
				compare(t, what, ours[what], theirs[what])
			}
		})
	}
}

func ourSummaries(t *testing.T, r store.Reader, unit float64) map[string]summaries {
	t.Helper()
	tree, regions, counters := r.Locations(), r.Regions(), r.Counters()
	ours := map[string]summaries{"Container": {}, "State": {}, "Link": {}, "Event": {}, "Variable": {}}
	at := func(x trace.Time) float64 { return float64(x+r.Info().Origin) / unit }
	container := func(id trace.LocationID) trace.LocationID { // of a row of states below one
		if tree.Kind[id] == trace.KindStates || tree.Kind[id] == trace.KindRepeat {
			return tree.Parent[id]
		}
		return id
	}
	for id := range tree.Len() {
		if container(trace.LocationID(id)) != trace.LocationID(id) {
			continue
		}
		parent := "0"
		if p := tree.Parent[id]; p != trace.NoLocation {
			parent = tree.Name[p]
		}
		ours["Container"].add(parent+" > "+tree.Name[id], 0, 0)
	}
	for x := range rows(t, r) {
		g := regions[x.region]
		ours["State"].add(fmt.Sprintf("%s, %s, %s", tree.Name[container(x.location)], g.Category, g.Name), at(x.begin), at(x.end))
	}
	var mu sync.Mutex
	all := store.Window{End: r.Info().End}
	err := r.Links(context.Background(), all, func(c *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Kind {
			ours["Link"].add(tree.Name[c.FromLocation[i]]+" -> "+tree.Name[c.ToLocation[i]], at(c.FromTime[i]), at(c.ToTime[i]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Instants(context.Background(), all, func(c *store.InstantColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Time {
			g := regions[c.Region[i]]
			ours["Event"].add(fmt.Sprintf("%s, %s, %s", tree.Name[c.Location], g.Category, g.Name), at(c.Time[i]), 0)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Samples(context.Background(), nil, 0, r.Info().End+1, func(c *store.SampleColumns) error {
		mu.Lock()
		defer mu.Unlock()
		k := counters[c.Counter]
		for i := range c.Time {
			if i+1 < len(c.Time) && c.Time[i+1] == c.Time[i] {
				continue // pj_dump keeps the last of one time
			}
			ours["Variable"].add(tree.Name[k.Location]+", "+k.Name, at(c.Time[i]), c.Value[i])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ours
}
