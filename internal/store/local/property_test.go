package local

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// writeRandom writes a trace with lanes of many blocks: calls, recursion, bursts,
// gaps, overlapping intervals, empty ones, and a tree of three levels.
func writeRandom(w trace.Writer, seed uint64, rows int) {
	rnd := rand.New(rand.NewPCG(seed, 3))
	var regions []trace.RegionID
	for i := range 12 {
		regions = append(regions, w.Region(trace.Region{Name: fmt.Sprint("r", i), Role: trace.Role(1 + i%(trace.RoleCount-1))}))
	}
	text := w.Attribute("text")
	for node := range 3 {
		parent := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: fmt.Sprint("node ", node), Rank: trace.NoRank})
		for k := range 3 {
			id := w.Location(trace.Location{Parent: parent, Kind: trace.KindThread, Name: fmt.Sprint("t", k), Rank: node*3 + k})
			counter := w.Counter(trace.Counter{Location: id, Name: "level"})
			s := w.Stream(id, trace.StreamOptions{Unordered: k == 2})
			now, open := trace.Time(rnd.IntN(1000)), 0
			for range rows / (1 + node) {
				switch x := rnd.IntN(20); {
				case x == 0:
					now += trace.Time(rnd.IntN(3000))
				case x == 1:
					s.Sample(counter, now-trace.Time(rnd.IntN(50)), rnd.Float64())
				case x == 2:
					s.Instant(now-trace.Time(rnd.IntN(50)), regions[0])
					s.Attribute(text, trace.Text(fmt.Sprint("i", rnd.IntN(30))))
				case k > 0 && x < 9:
					at := now + trace.Time(rnd.IntN(200))
					s.Interval(at, at+trace.Time(rnd.IntN(1<<rnd.IntN(9))), regions[rnd.IntN(12)])
				case open > 0 && x%2 == 0:
					s.Leave(now, trace.NoRegion)
					open--
				default:
					s.Enter(now, regions[rnd.IntN(12)])
					open++
				}
				if rnd.IntN(10) == 0 {
					s.Attribute(text, trace.Text(fmt.Sprint("value ", rnd.IntN(100))))
				}
				now += trace.Time(rnd.IntN(8))
			}
			_ = s.Close()
		}
	}
	for i := range rows { // most links are short, some span all
		t := rnd.IntN(rows * 60)
		end := func(t int) trace.End {
			return trace.End{Location: trace.LocationID(rnd.IntN(12)), Time: trace.Time(t), Region: trace.NoRegion}
		}
		to := t + rnd.IntN(2000) - 200
		if i%100 == 0 {
			to = rnd.IntN(rows * 60)
		}
		w.Link(trace.Link{Kind: trace.LinkMessage, From: end(t), To: end(to), Communicator: trace.NoCommunicator})
		w.Profile(trace.ProfileRow{Location: trace.LocationID(rnd.IntN(12)), Path: trace.CallPathID(rnd.IntN(9)), Calls: rnd.Float64()})
	}
	for i := range 9 {
		w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: regions[i]})
	}
	w.Metric(trace.Metric{Name: "time"})
}

// randomStore is a store of such a trace with the summary of the benchmarks.
func randomStore(t *testing.T, seed uint64, rows int) *Reader {
	t.Helper()
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeRandom(w, seed, rows) })
	return reopen(t, path, benchSummary{})
}

// randomWindows mix wide and narrow windows, whole ones, and edges on rows.
func randomWindows(r *Reader, seed uint64, n int) []store.Window {
	rnd := rand.New(rand.NewPCG(seed, 4))
	end := int64(r.Info().End)
	out := []store.Window{{Begin: 0, End: r.Info().End}, {Begin: -5, End: r.Info().End * 2}, {Begin: 3, End: 3}}
	if r.Sure != nil {
		r.Sure.Touch(0, uint64(len(r.C.Begin)))
		defer r.Forget() // so that queries find what they need by themselves
	}
	for range n {
		a := rnd.Int64N(end)
		b := a + rnd.Int64N(end-a)/(1<<rnd.IntN(10)) + 1
		if rnd.IntN(2) == 0 && len(r.C.Begin) > 0 {
			a = int64(r.C.Begin[rnd.IntN(len(r.C.Begin))])
			b = max(a, int64(r.C.Begin[rnd.IntN(len(r.C.Begin))]))
		}
		out = append(out, store.Window{Begin: trace.Time(a), End: trace.Time(b)})
	}
	return out
}

type timeKey struct {
	location trace.LocationID
	region   trace.RegionID
}

type timeCell struct {
	exclusive, inclusive trace.Time
	calls                int64
}

// slowTime computes a TimeTable from the definition.
func slowTime(r *Reader, w store.Window) map[timeKey]timeCell {
	out := map[timeKey]timeCell{}
	in := r.Window(w)
	clip := func(a, b trace.Time) trace.Time { return max(min(b, in.End)-max(a, in.Begin), 0) }
	for id := range trace.LocationID(r.Locations().Len()) {
		for n := r.Lanes()[id]; n < r.Lanes()[id+1]; n++ {
			v := r.Lane(int(n))
			for i := range v.Begin {
				k := timeKey{id, v.Region[i]}
				c := out[k]
				d := clip(v.Begin[i], v.End(i))
				c.exclusive += d
				recursive := false
				for p := v.Up(i); p >= 0; p = v.Up(p) {
					recursive = recursive || v.Region[p] == v.Region[i]
				}
				if !recursive {
					c.inclusive += d
				}
				if v.Begin[i] >= in.Begin && v.Begin[i] < in.Until {
					c.calls++
				}
				out[k] = c
				if p := v.Up(i); p >= 0 {
					k := timeKey{id, v.Region[p]}
					c := out[k]
					c.exclusive -= d
					out[k] = c
				}
			}
		}
	}
	for k, c := range out {
		if c == (timeCell{}) {
			delete(out, k)
		}
	}
	return out
}

func TestTimeFromPrefixSumsIsThatOfTheRows(t *testing.T) {
	for seed := range uint64(4) {
		r := randomStore(t, seed, 6000)
		if len(r.C.SumRegion) == 0 {
			t.Fatal("the trace is too short to have prefix sums")
		}
		for _, w := range randomWindows(r, seed, 40) {
			table, err := r.Time(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			got := map[timeKey]timeCell{}
			for k, id := range table.Locations {
				for i := table.Offsets[k]; i < table.Offsets[k+1]; i++ {
					got[timeKey{id, table.Region[i]}] = timeCell{table.Exclusive[i], table.Inclusive[i], table.Calls[i]}
				}
			}
			total, err := r.TotalTime(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			if want := store.AddTimes(table); !reflect.DeepEqual(total, want) {
				t.Fatalf("seed %d, [%d, %d): in all %+v, want %+v", seed, w.Begin, w.End, total, want)
			}
			want := slowTime(r, w)
			if len(got) != len(want) {
				t.Errorf("seed %d, [%d, %d): %d cells, want %d", seed, w.Begin, w.End, len(got), len(want))
			}
			for k, c := range want {
				if got[k] != c {
					t.Fatalf("seed %d, [%d, %d): location %d, region %d: %+v, want %+v", seed, w.Begin, w.End, k.location, k.region, got[k], c)
				}
			}
		}
	}
}

func TestCoverHoldsEachRowAndInstantOnce(t *testing.T) {
	r := randomStore(t, 7, 6000)
	if len(r.C.NodeIndex) == 0 {
		t.Fatal("the trace is too short to have a forest")
	}
	type lane struct {
		id   trace.LocationID
		lane int
	}
	for i, w := range randomWindows(r, 7, 25) {
		in := r.Window(w)
		for _, level := range []int{store.Coarsest, 0, 4 + i%12, bits.Len64(uint64(r.Info().End)), 62} {
			var mu sync.Mutex
			next, rowCount, sums := map[lane]trace.Time{}, map[lane]uint64{}, map[lane][trace.RoleCount]uint64{}
			blocks := 0
			piece := func(l lane, begin, end trace.Time, b trace.Block) {
				if at, ok := next[l]; ok && at != begin || !ok && begin != in.Begin {
					t.Errorf("window [%d, %d), level %d: a piece begins at %d, the one before ended at %d", w.Begin, w.End, level, begin, at)
				}
				next[l] = end
				v := spool.ViewOf[uint64](b)
				rowCount[l] += v[0]
				s := sums[l]
				for k := range s {
					s[k] += v[1+k]
				}
				sums[l] = s
			}
			err := r.Summaries(context.Background(), "bench", w, level, store.Visitor{
				Block: func(id trace.LocationID, n int, begin, end trace.Time, b trace.Block) error {
					mu.Lock()
					defer mu.Unlock()
					blocks++
					if level >= 0 && end-begin != 1<<level {
						t.Errorf("level %d: block [%d, %d)", level, begin, end)
					}
					piece(lane{id, n}, begin, end, slices.Clone(b))
					return nil
				},
				Rows: func(s *trace.Stretch) error {
					mu.Lock()
					defer mu.Unlock()
					piece(lane{s.Rows.Location, s.Rows.Lane}, s.Begin, s.End, benchSummary{}.Build(nil, s, nil))
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 && level == store.Coarsest && blocks == 0 {
				t.Error("no block in the whole run")
			}
			for id := range trace.LocationID(r.Locations().Len()) {
				for n := r.Lanes()[id]; n < r.Lanes()[id+1] && in.Begin < in.Until && in.Begin <= in.End; n++ {
					l, v := lane{id, int(n - r.Lanes()[id])}, r.Lane(int(n))
					if want := uint64(v.FirstFrom(in.Until) - v.FirstFrom(in.Begin)); rowCount[l] != want {
						t.Fatalf("window [%d, %d), level %d, lane %v: %d rows, want %d", w.Begin, w.End, level, l, rowCount[l], want)
					}
					var want [trace.RoleCount]uint64
					var walk rows.Walker
					walk.Start(&v, r.Roles, in.Begin)
					for {
						a, b, row, ok := walk.Step(in.End)
						if !ok {
							break
						}
						want[walk.Role(row)] += uint64(b - a)
					}
					if sums[l] != want {
						t.Fatalf("window [%d, %d), level %d, lane %v: %v, want %v", w.Begin, w.End, level, l, sums[l], want)
					}
				}
			}
		}
	}
}

func TestGroupsKeptAreThoseOfTheRows(t *testing.T) {
	for seed := range uint64(3) {
		r := randomStore(t, seed, 2500)
		if len(r.C.GroupTime) == 0 {
			t.Fatal("no bins are kept")
		}
		var all []trace.LocationID
		for id := range r.Locations().Len() {
			all = append(all, trace.LocationID(id))
		}
		finest := int(slices.Min(r.C.GroupLevel))
		for _, w := range randomWindows(r, seed, 8) {
			for _, level := range []int{finest + 5, finest + 2, finest, finest - 1, finest - 3} {
				if level < 0 || w.Begin < 0 {
					continue
				}
				got, err := r.Groups(context.Background(), all, w.Begin, w.End, level)
				if err != nil {
					t.Fatal(err)
				}
				for k, id := range all {
					want := slowGroup(r, id, got)
					have := got.Time[k*got.Bins*trace.RoleCount : (k+1)*got.Bins*trace.RoleCount]
					for i := range want {
						if have[i] != want[i] {
							t.Fatalf("seed %d, level %d, location %d, bin %d, role %v: %d, want %d", seed, level, id, i/trace.RoleCount, trace.Role(i%trace.RoleCount), have[i], want[i])
						}
					}
				}
			}
		}
	}
}

// slowGroup adds up the roles of a subtree change by change.
func slowGroup(r *Reader, top trace.LocationID, g *store.GroupBins) []trace.Time {
	out := make([]trace.Time, g.Bins*trace.RoleCount)
	for id := top; id <= r.Locations().Last[top]; id++ {
		var cuts []trace.Time
		var views []rows.Lane
		for n := r.Lanes()[id]; n < r.Lanes()[id+1]; n++ {
			v := r.Lane(int(n))
			views = append(views, v)
			for i := range v.Begin {
				cuts = append(cuts, v.Begin[i], v.End(i))
			}
		}
		for b := range g.Bins + 1 {
			cuts = append(cuts, g.Begin+trace.Time(b)<<g.Level)
		}
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		for i := 1; i < len(cuts); i++ {
			bin := (cuts[i-1] - g.Begin) >> g.Level
			if bin < 0 || int(bin) >= g.Bins {
				continue
			}
			role := trace.RoleNone
			for k := range views {
				var w rows.Walker
				w.Start(&views[k], r.Roles, cuts[i-1])
				role = store.RoleOfInstant(role, w.Role(rows.OpenAt(&views[k], cuts[i-1], trace.NoRegion)))
			}
			if role != trace.RoleNone {
				out[int(bin)*trace.RoleCount+int(role)] += cuts[i] - cuts[i-1]
			}
		}
	}
	return out
}

// openChecker holds the chains that summaries are built with against those found
// from the rows.
type openChecker struct {
	benchSummary
	r      *Reader
	mu     sync.Mutex
	seen   int
	faults []string
}

func (c *openChecker) Build(dst trace.Block, s *trace.Stretch, regions []trace.Region) trace.Block {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen++
	v, _ := c.r.Lookup(s.Rows.Location, s.Rows.Lane)
	if want := v.Open(nil, s.Rows.First, s.Begin); !slices.Equal(s.Rows.Open, want) {
		c.faults = append(c.faults, fmt.Sprintf("stretch [%d, %d) from row %d: %v, want %v", s.Begin, s.End, s.Rows.First, s.Rows.Open, want))
	}
	return c.benchSummary.Build(dst, s, regions)
}

func TestSummariesIncludeOpenIntervals(t *testing.T) {
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeRandom(w, 13, 4000) })
	r := reopen(t, path)
	check := &openChecker{benchSummary: benchSummary{2}, r: r} // another version: it is built anew
	again, err := Open(path, []trace.Summary{check})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if check.seen == 0 {
		t.Error("no block was built from rows")
	}
	for _, fault := range check.faults[:min(len(check.faults), 5)] {
		t.Error(fault)
	}
}
