package gotrace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The counts that go tool trace -d=parsed gives for the samples.
func TestSamplesHoldWhatIsKnownOfThem(t *testing.T) {
	for _, c := range []struct {
		path                           string
		goroutines, processors         int
		marks                          int64 // marks: labels and CPU samples
		span                           trace.Time
		running, waiting, runnable, in int64 // intervals by state; in: system calls
	}{
		// Each time a state is entered, from another one or undetermined, is one interval.
		{"go-sync/sync.trace", 2275, 6, 23, 199635457, 16108 + 754 + 1, 1790 + 5, 12054 + 2269 + 1784 + 1, 755},
		{"go-nethttp/nethttp.trace", 1979, 16, 81 + 23, 286086273, 23245 + 7791 + 1, 5972 + 6, 15304 + 5953 + 1969 + 17 + 2, 7807 + 1},
		{"go-compile/gocompile.trace", 1460, 2, 89 + 447, 4722287169, 8135 + 2630 + 1, 3023 + 6, 3663 + 3017 + 1452 + 2 + 1, 2633},
	} {
		t.Run(c.path, func(t *testing.T) {
			r := importertest.Import(t, Format, importertest.Shared(t, c.path))
			i := r.Info()
			kinds := map[trace.Kind]int{}
			unknown := 0
			for id := range r.Locations().Len() {
				kinds[r.Locations().Kind[id]]++
				if p := r.Locations().Parent[id]; p != trace.NoLocation && r.Locations().Name[p] == unknownStart {
					unknown++
				}
			}
			if unknown > 0 {
				t.Errorf("%d goroutines are not below the function that they started in", unknown)
			}
			states := map[string]int64{}
			for _, cell := range times(t, r, trace.KindGoroutine) {
				name, _, _ := strings.Cut(strings.TrimPrefix(cell.region.Name, "runtime "), ":")
				if cell.region.Category == "state" || cell.region.Category == "runtime" {
					states[name] += cell.calls
				}
			}
			got := fmt.Sprint(kinds[trace.KindGoroutine], kinds[trace.KindProcessor], i.Instants, states["running"], states["waiting"], states["runnable"], states["syscall"])
			want := fmt.Sprint(c.goroutines, c.processors, c.marks, c.running, c.waiting, c.runnable, c.in)
			if got != want {
				t.Errorf("goroutines, processors, marks, running, waiting, runnable, syscall:\n got %s\nwant %s", got, want)
			}
			if len(i.Report) > 0 {
				t.Errorf("something is reported: %v", i.Report)
			}
			if i.End > c.span || i.End < c.span-10 {
				t.Errorf("lasts %d ns, want %d", i.End, c.span)
			}
		})
	}
}

// A cell is what one location spent in one region.
type cell struct {
	location  trace.LocationID
	region    trace.Region
	inclusive trace.Time
	calls     int64
}

// times gives the time of all locations of a kind.
func times(t *testing.T, r store.Reader, kind trace.Kind) (cells []cell) {
	t.Helper()
	table, err := r.Time(t.Context(), store.Window{End: r.Info().End})
	if err != nil {
		t.Fatal(err)
	}
	for k, id := range table.Locations {
		if r.Locations().Kind[id] != kind {
			continue
		}
		for i := table.Offsets[k]; i < table.Offsets[k+1]; i++ {
			cells = append(cells, cell{id, r.Regions()[table.Region[i]], table.Inclusive[i], table.Calls[i]})
		}
	}
	return cells
}

// How long each P ran goroutines, told from the events alone: a goroutine runs
// from a change into running until the next change, on the P of the first.
func runningByP(t *testing.T, path string) (sum map[string]trace.Time, spawns int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := xtrace.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	type stay struct {
		p     xtrace.ProcID
		since xtrace.Time
	}
	sum = map[string]trace.Time{}
	running := map[xtrace.GoID]stay{}
	var first, last xtrace.Time
	end := func(id xtrace.GoID, at xtrace.Time) {
		if s, ok := running[id]; ok {
			sum[fmt.Sprintf("P %d", s.p)] += trace.Time(at - s.since)
			delete(running, id)
		}
	}
	for {
		e, err := r.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if last = e.Time(); first == 0 {
			first = last
		}
		if e.Kind() != xtrace.EventStateTransition || e.StateTransition().Resource.Kind != xtrace.ResourceGoroutine {
			continue
		}
		tr := e.StateTransition()
		id := tr.Resource.Goroutine()
		from, to := tr.Goroutine()
		if from == xtrace.GoNotExist && e.Goroutine() != xtrace.NoGoroutine {
			spawns++
		}
		if from == to {
			continue
		}
		end(id, e.Time())
		if to == xtrace.GoRunning {
			since := e.Time()
			if from == xtrace.GoUndetermined {
				since = first
			}
			running[id] = stay{e.Proc(), since}
		}
	}
	for id := range running {
		end(id, last)
	}
	return sum, spawns
}

// Before Go 1.22 a trace does not tell what Ps did at its beginning: the first that is
// known of one is that it starts, and no time before that is scheduling.
func TestPsOfOldTracesBeginWhenTheyStart(t *testing.T) {
	file := importertest.Shared(t, "public/go-trace/v1-binary/stress_1_21_good")
	begin := map[string]trace.Time{}
	var first xtrace.Time
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := xtrace.NewReader(f)
	for err == nil {
		var e xtrace.Event
		if e, err = r.ReadEvent(); err != nil {
			break
		}
		if first == 0 {
			first = e.Time()
		}
		if e.Kind() != xtrace.EventStateTransition || e.StateTransition().Resource.Kind != xtrace.ResourceProc {
			continue
		}
		tr := e.StateTransition()
		if from, _ := tr.Proc(); from == xtrace.ProcUndetermined {
			begin[fmt.Sprint("P ", tr.Resource.Proc())] = trace.Time(e.Time() - first)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	late := 0
	m := importertest.Import(t, Format, file)
	var mu sync.Mutex
	seen := map[string]bool{}
	err = m.Intervals(t.Context(), store.Window{End: m.Info().End + 1}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		name := m.Locations().Name[c.Location]
		if want, is := begin[name]; is && !seen[name] && c.First == 0 && c.Lane == 0 {
			seen[name] = true
			if want < m.Info().End/10 {
				return nil // it may have run from the beginning on
			}
			late++
			if diff := c.Begin[0] - want; diff < -8 || diff > 8 { // the library moves events by some ns
				t.Errorf("%s begins at %d, want %d", name, c.Begin[0], want)
			}
		}
		return nil
	})
	if err != nil || len(seen) != len(begin) || late == 0 {
		t.Errorf("%d of %d Ps, %d of them late: %v", len(seen), len(begin), late, err)
	}
}

func TestTimeOnEachPAndCreationsAgreeWithTheEvents(t *testing.T) {
	for path, loose := range map[string]trace.Time{
		"go-sync/sync.trace": 0, "go-nethttp/nethttp.trace": 0, "go-compile/gocompile.trace": 0,
		"public/go-trace/v1-binary/http_1_21_good": 0,
		// The library moves some events of this one by 1 ns from one read to the next.
		"public/go-trace/v1-binary/stress_1_21_good": 8,
	} {
		t.Run(path, func(t *testing.T) {
			file := importertest.Shared(t, path)
			want, spawns := runningByP(t, file)
			r := importertest.Import(t, Format, file)
			got := map[string]trace.Time{}
			for _, c := range times(t, r, trace.KindProcessor) {
				name := r.Locations().Name[c.location]
				switch {
				case c.region.Category == "goroutine":
					got[name] += c.inclusive
				case c.region.Name == "syscall":
					got[name] -= c.inclusive
				}
			}
			for p, d := range want {
				if diff := got[p] - d; diff > loose || diff < -loose {
					t.Errorf("%s ran goroutines for %d ns, want %d", p, got[p], d)
				}
			}
			links := map[trace.LinkKind]int64{}
			err := r.Links(t.Context(), store.Window{End: r.Info().End}, func(l *store.LinkColumns) error {
				for i, k := range l.Kind {
					links[k]++
					if k == trace.LinkSpawn && (l.FromRow[i] < 0 || l.ToRow[i] < 0) {
						t.Error("a creation does not join two lives")
					}
				}
				return nil
			})
			if err != nil || links[trace.LinkSpawn] != spawns || spawns == 0 {
				t.Errorf("%d spawn links, want %d: %v", links[trace.LinkSpawn], spawns, err)
			}
		})
	}
}
