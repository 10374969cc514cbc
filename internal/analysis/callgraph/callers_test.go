package callgraph

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// besides writes calls of one location whose callers are told and lie in other lanes as
// often as not.
func besides(calls, regions int) store.Reader {
	r := rand.New(rand.NewPCG(4, 4))
	m := storetest.NewMemory()
	at := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: trace.NoRank})
	for i := range regions {
		m.Region(trace.Region{Name: fmt.Sprint("f", i)})
	}
	s := m.Stream(at, trace.StreamOptions{ByParent: true})
	begins := make([]trace.Time, calls)
	for i := range calls {
		begins[i] = trace.Time(i)
		s.Interval(begins[i], begins[i]+1+trace.Time(r.IntN(4)), trace.RegionID(r.IntN(regions)))
		if i > 0 && r.IntN(4) > 0 {
			p := max(0, i-1-r.IntN(3))
			end := func(n int) trace.End {
				return trace.End{Location: at, Time: begins[n], Region: trace.NoRegion, Number: uint32(n + 1)}
			}
			m.Link(trace.Link{Kind: trace.LinkSpawn, From: end(p), To: end(i), Size: -1, Communicator: trace.NoCommunicator})
		}
	}
	_ = s.Close()
	return m.Reader()
}

// The record of a lane knows callers in other lanes as its rows do: with call paths, and
// with pairs where there are too many of those.
func TestARecordKnowsCallersInOtherLanes(t *testing.T) {
	for _, regions := range []int{1, 30} {
		r := besides(1500, regions)
		nodes, of := Nodes(r.Regions(), false)
		kinds := map[uint64]bool{}
		for _, o := range []Options{{}, {Profile: true}, {Measure: Exclusive}, {Closure: true}} {
			o.Node, o.Nodes = of, len(nodes)
			byRows, byRecords := &Collector{Options: o}, &Collector{Options: o}
			elsewhere := 0
			lanes := r.Lanes()
			for lane := range int(lanes[1]) {
				var all trace.Columns
				err := r.Intervals(context.Background(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
					if c.Lane == lane {
						all.Callers = c.Callers
						all.Begin, all.Duration, all.Exclusive = append(all.Begin, c.Begin...), append(all.Duration, c.Duration...), append(all.Exclusive, c.Exclusive...)
						all.Region, all.Parent, all.Depth = append(all.Region, c.Region...), append(all.Parent, c.Parent...), append(all.Depth, c.Depth...)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if all.Callers != nil {
					for i := range all.Begin {
						elsewhere += len(all.Callers(nil, i))
					}
				}
				record := Digest{}.Builder(regions).(*digestBuilder).record(nil, &all)
				var x digestRecord
				if len(record) > 0 && x.read(record, regions) == nil {
					kinds[x.kind] = true
				}
				l := &trace.DigestedLane{Lane: lane, Hi: all.Len(), Record: record, Callers: all.Callers, Read: func(lo, hi int, f func(*trace.Columns) error) error {
					if lo != 0 || hi != all.Len() {
						t.Fatalf("rows %d to %d are read", lo, hi)
					}
					return f(&all)
				}}
				if err := byRecords.AddLane(l); err != nil {
					t.Fatal(err)
				}
				byRows.Add(&all)
			}
			a, b := byRows.Take()[0], byRecords.Take()[0]
			if elsewhere < 500 || a.Len() != b.Len() || a.Len() < 2 && !o.Profile {
				t.Fatalf("%d callers elsewhere, %d and %d buckets", elsewhere, a.Len(), b.Len())
			}
			for _, x := range a.Buckets() {
				if y := b.At(x.Pair); x.Count != y.Count || x.Inclusive != y.Inclusive || x.Exclusive != y.Exclusive || x.Outermost != y.Outermost {
					t.Fatalf("%d regions, %+v: rows give %+v, records %+v", regions, o, x, *y)
				}
			}
		}
		if want := map[int]uint64{1: kindPaths, 30: kindPairs}[regions]; !kinds[want] {
			t.Errorf("%d regions: no record of kind %d: %v", regions, want, kinds)
		}
	}
}

// digestRecord has a name that no variable hides.
type digestRecord = record
