package callgraph

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// random writes nested calls of a few regions on a number of locations.
func random(seed uint64, locations, steps int) *run {
	r := rand.New(rand.NewPCG(seed, 1))
	m := storetest.NewMemory()
	var regions []trace.RegionID
	for i := range 6 {
		regions = append(regions, m.Region(trace.Region{Name: fmt.Sprint("f", i)}))
	}
	out := &run{}
	for k := range locations {
		id := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("p", k), Rank: k})
		s, now, open := m.Stream(id, trace.StreamOptions{}), trace.Time(0), []trace.RegionID{}
		for range steps {
			now += trace.Time(r.IntN(5))
			if n := len(open); n > 0 && (n > 6 || r.IntN(2) == 0) {
				s.Leave(now, open[n-1])
				open = open[:n-1]
			} else {
				open = append(open, regions[r.IntN(len(regions))])
				s.Enter(now, open[n])
			}
		}
		_ = s.Close()
		out.locations = append(out.locations, id)
	}
	out.reader = m.Reader()
	out.nodes, out.of = Nodes(out.reader.Regions(), false)
	return out
}

// TestWindowsAddUp: a call belongs to the window in which it begins, so the
// buckets of neighbouring windows add up to those of both.
func TestWindowsAddUp(t *testing.T) {
	for seed := range uint64(20) {
		r := random(seed, 3, 300)
		end := r.reader.Info().End
		in := func(begin, end trace.Time, o Options) map[string]Row {
			o.Node, o.Nodes = r.of, len(r.nodes)
			rows, err := Gather(&Plan{Options: o, Locations: r.locations}, func(ids []trace.LocationID, f func(*trace.DigestedLane) error) error {
				return store.Digests(context.Background(), r.reader, DigestName, store.Window{Begin: begin, End: end, Locations: ids}, f)
			})
			if err != nil {
				t.Fatal(err)
			}
			out := map[string]Row{}
			for _, x := range rows {
				out[fmt.Sprint(x.Owner, x.Pair)] = x
			}
			return out
		}
		for _, o := range []Options{{}, {Closure: true}, {Profile: true}} {
			cut := end / 3
			a, b, both := in(0, cut, o), in(cut, end, o), in(0, end, o)
			for k, w := range both {
				x, y := a[k], b[k]
				if x.Count+y.Count != w.Count || x.Inclusive+y.Inclusive != w.Inclusive || x.Exclusive+y.Exclusive != w.Exclusive || x.Outermost+y.Outermost != w.Outermost {
					t.Fatalf("seed %d, %+v, %s: %+v and %+v, together %+v", seed, o, k, x, y, w)
				}
			}
		}
	}
}

// TestOwnersHoldAllCallsOfTheirLocations: merged, a group's bucket is what one
// location with all those calls would have.
func TestOwnersHoldAllCallsOfTheirLocations(t *testing.T) {
	r := random(3, 5, 2000)
	o := Options{Node: r.of, Nodes: len(r.nodes), Measure: Exclusive}
	rows, err := Gather(&Plan{Options: o, Locations: r.locations, Owner: []int32{0, 1, 0, 1, 1}, Owners: 2}, r.scan)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range rows {
		c := &Collector{Options: o}
		var alone sync.Mutex // all are added as one location
		_ = r.rows(nil, func(cols *trace.Columns) error {
			alone.Lock()
			defer alone.Unlock()
			if (cols.Location == 0 || cols.Location == 2) == (x.Owner == 0) {
				part := *cols
				part.Location = 0
				c.Add(&part)
			}
			return nil
		})
		b := c.Take()[0].At(x.Pair)
		if float64(b.Count) != x.Count || b.Calls.Box() != x.Box || b.Calls.Deviation() != x.Deviation || b.Outermost.Float64() != x.Outermost {
			t.Fatalf("owner %d, %v: %+v, want %+v", x.Owner, x.Pair, x, b)
		}
	}
	if len(rows) < 40 {
		t.Errorf("only %d buckets", len(rows))
	}
}

// TestOneReadingGathersByTwoOptions: to the last digit, of locations and of groups of them, in all of the run and in a
// window, whether distributions are kept or read again.
func TestOneReadingGathersByTwoOptions(t *testing.T) {
	for _, r := range []*run{random(5, 6, 4000), random(6, 80, 40)} {
		end := r.reader.Info().End
		owner, group := make([]int32, len(r.locations)), make([]int32, len(r.locations))
		for i := range owner {
			owner[i], group[i] = int32(i%3), int32(i%2)
		}
		for _, w := range []store.Window{{End: end + 1}, {Begin: end / 3, End: end / 2}} {
			lanes := 0
			var mu sync.Mutex
			scan := func(ids []trace.LocationID, f func(*trace.DigestedLane) error) error {
				in := w
				in.Locations = ids
				return store.Digests(context.Background(), r.reader, DigestName, in, func(l *trace.DigestedLane) error {
					mu.Lock()
					lanes++
					mu.Unlock()
					if len(r.locations) > fewOwners {
						l.Lanes = 1
					}
					return f(l)
				})
			}
			for _, measure := range []Measure{Totals, Exclusive, Inclusive} {
				for _, owner := range [][]int32{nil, owner} {
					o := Options{Node: r.of, Nodes: len(r.nodes), Measure: measure, Profile: true}
					pairs := Options{Node: r.of, Nodes: len(r.nodes)}
					plan := func(o Options) *Plan {
						return &Plan{Options: o, Locations: r.locations, Owner: owner, Owners: 3}
					}
					both, alone, also := plan(o), plan(o), plan(pairs)
					both.Pairs = true
					lanes = 0
					got, err1 := Gather(both, scan)
					read := lanes
					want, err2 := Gather(alone, scan)
					further, err3 := GatherCells(also, scan)
					if err1 != nil || err2 != nil || err3 != nil || 3*read != lanes {
						t.Fatal(err1, err2, err3, read, lanes)
					}
					if fmt.Sprint(got) != fmt.Sprint(want) || len(want) < 18 {
						t.Fatalf("measure %d: %v\nwant %v", measure, got, want)
					}
					if fmt.Sprint(both.Cells) != fmt.Sprint(further) || len(further) < 18 {
						t.Fatalf("measure %d, also: %v\nwant %v", measure, both.Cells, further)
					}
					merged, err := both.Merge(group, 2, scan)
					again := plan(o)
					again.Owner, again.Owners = make([]int32, len(r.locations)), 2
					for i := range r.locations {
						again.Owner[i] = group[i]
						if owner != nil {
							again.Owner[i] = group[owner[i]]
						}
					}
					want, err1 = Gather(again, scan)
					if err != nil || err1 != nil || fmt.Sprint(merged) != fmt.Sprint(want) || len(want) < 12 {
						t.Errorf("measure %d: groups %v\nwant %v", measure, merged, want)
					}
				}
			}
		}
	}
}

// TestCutsAreTheCallsThatAreOpenWhenAWindowBegins: those that began before it, clipped to it, by caller and callee.
func TestCutsAreTheCallsThatAreOpenWhenAWindowBegins(t *testing.T) {
	for seed := range uint64(20) {
		r := random(seed, 4, 300)
		end := r.reader.Info().End
		begin, stop := end/3, end/2
		want := map[string]Cut{}
		var mu sync.Mutex
		regions := map[[3]int]trace.RegionID{} // by location, lane and row
		all := store.Window{End: end + 1}
		err := r.reader.Intervals(context.Background(), all, func(c *trace.Columns) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range c.Begin {
				regions[[3]int{int(c.Location), c.Lane, c.First + i}] = c.Region[i]
				if c.Begin[i] >= begin || c.End(i) <= begin {
					continue
				}
				pair := Pair{Root, r.of[c.Region[i]]}
				if up := c.Parent[i]; up >= 0 {
					pair.Caller = r.of[regions[[3]int{int(c.Location), c.Lane, int(up)}]]
				}
				open := float64(min(c.End(i), stop) - begin)
				key := fmt.Sprint(c.Location, pair)
				x, met := want[key]
				if !met {
					x.Min = open
				}
				x.Count, x.Time, x.Min, x.Max = x.Count+1, x.Time+open, min(x.Min, open), max(x.Max, open)
				want[key] = x
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		plan := &Plan{Options: Options{Node: r.of, Nodes: len(r.nodes)}, Locations: r.locations, Begin: begin, End: stop}
		_, err = Gather(plan, func(ids []trace.LocationID, f func(*trace.DigestedLane) error) error {
			w := store.Window{Begin: begin, End: stop, Locations: ids}
			return store.Digests(context.Background(), r.reader, DigestName, w, f)
		})
		if err != nil {
			t.Fatal(err)
		}
		calls := 0.0
		for _, x := range plan.Cut {
			key := fmt.Sprint(r.locations[x.Owner], x.Pair)
			if w := want[key]; x.Count != w.Count || x.Time != w.Time || x.Min != w.Min || x.Max != w.Max {
				t.Fatalf("seed %d: %s is %+v, want %+v", seed, key, x, w)
			}
			calls += x.Count
		}
		if len(plan.Cut) != len(want) || int64(calls) != plan.Open.Load() {
			t.Fatalf("seed %d: %d cuts of %v calls, want %d of %d", seed, len(plan.Cut), calls, len(want), plan.Open.Load())
		}
		for _, x := range MergeCuts(plan.Cut, make([]int32, len(r.locations))) {
			calls -= x.Count
		}
		if calls != 0 {
			t.Fatalf("seed %d: merging loses %v calls", seed, calls)
		}
	}
}
