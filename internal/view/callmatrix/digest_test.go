package callmatrix_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// writeWild writes calls of all kinds: lanes of few rows and of many, recursion that
// makes a path for nearly every call, empty calls, calls never left.
func writeWild(w trace.Writer) {
	var regions []trace.RegionID
	for _, name := range []string{"main", "a", "b", "c", "solve", "a"} {
		regions = append(regions, w.Region(trace.Region{Name: name, Line: len(regions)}))
	}
	lanes := []int{3, 300, 40_000, 100_000, 30_000}
	for range 70 { // more than are kept to be merged later
		lanes = append(lanes, 1000)
	}
	for rank, rows := range lanes {
		id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Key: fmt.Sprint(rank), Rank: rank})
		s := w.Stream(id, trace.StreamOptions{})
		deepest := 4
		if rank == 4 {
			deepest = 40 // recursion
		}
		x, now := uint64(rank)+7, trace.Time(rank)
		var open []trace.RegionID
		for n := 0; n < rows; {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			now += trace.Time(x >> 20 % (1 << (x % 12)))
			if len(open) > 0 && (len(open) > deepest || x>>40%2 == 0) {
				s.Leave(now, open[len(open)-1])
				open = open[:len(open)-1]
				continue
			}
			g := regions[x>>44%uint64(len(regions))]
			open = append(open, g)
			s.Enter(now, g)
			n++
		}
		for range open {
			s.Leave(now, trace.NoRegion)
		}
		_ = s.Close()
	}
}

// TestPreparedCallsAreTheCalls: what is prepared at import gives the very rows
// that reading every call gives, for any window and any choice of calls.
func TestPreparedCallsAreTheCalls(t *testing.T) {
	r := viewtest.Local(t, writeWild)
	end := r.Info().End
	byName, ofName := callgraph.Nodes(r.Regions(), false)
	own := make([]int32, len(r.Regions()))
	for i := range own {
		own[i] = int32(i)
	}
	some := make([]bool, len(byName)+1)
	some[0], some[2] = true, true
	ids := make([]trace.LocationID, r.Locations().Len())
	for i := range ids {
		ids[i] = trace.LocationID(i)
	}
	options := map[string]callgraph.Options{
		"matrix":    {Node: ofName, Nodes: len(byName), Measure: callgraph.Exclusive},
		"inclusive": {Node: own, Nodes: len(own), Measure: callgraph.Inclusive},
		"profile":   {Node: ofName, Nodes: len(byName), Measure: callgraph.Exclusive, Profile: true},
		"closure":   {Node: ofName, Nodes: len(byName), Measure: callgraph.Inclusive, Closure: true},
		"callers":   {Node: ofName, Nodes: len(byName), Measure: callgraph.Exclusive, Profile: true, Callers: some},
		"path":      {Node: ofName, Nodes: len(byName), Measure: callgraph.Exclusive, Path: [][]bool{some, some}},
		"skip":      {Node: ofName, Nodes: len(byName), Measure: callgraph.Exclusive, Skip: []bool{false, true, false, false, true, false}},
		"totals":    {Node: own, Nodes: len(own), Callees: []bool{true, true, false, false, true, true}},
	}
	for name, o := range options {
		for _, w := range [][2]trace.Time{{0, end}, {0, end / 2}, {end / 3, end}, {end / 4, end/4 + end/100}, {end / 10, end - end/7}, {end / 2, end/2 + 1}} {
			window := store.Window{Begin: w[0], End: w[1]}
			prepared := &callgraph.Plan{Options: o, Locations: ids}
			got, err := callgraph.Gather(prepared, scan(r, window))
			if err != nil {
				t.Fatal(err)
			}
			read := &callgraph.Plan{Options: o, Locations: ids}
			want, err := callgraph.Gather(read, scan(struct{ store.Reader }{r}, window))
			if err != nil {
				t.Fatal(err)
			}
			if prepared.Open.Load() != read.Open.Load() {
				t.Errorf("%s %v: %d calls open at the begin, want %d", name, w, prepared.Open.Load(), read.Open.Load())
			}
			for _, rows := range [][]callgraph.Row{got, want} {
				for i := range rows {
					if math.IsNaN(rows[i].Min) {
						rows[i].Min, rows[i].Max, rows[i].Mean, rows[i].Deviation, rows[i].Box = 0, 0, 0, 0, [5]float64{}
					}
				}
			}
			if len(want) == 0 && w[1] > w[0]+1 || !reflect.DeepEqual(got, want) {
				t.Errorf("%s %v: %d rows prepared are not the %d read", name, w, len(got), len(want))
			}
		}
	}
}

// TestTheWholeRunReadsNoCalls: all of it is prepared, also where recursion makes a
// path for every few calls.
func TestTheWholeRunReadsNoCalls(t *testing.T) {
	r := viewtest.Local(t, writeWild)
	nodes := make([]int32, len(r.Regions()))
	for i := range nodes {
		nodes[i] = int32(i)
	}
	read := 0
	c := &callgraph.Collector{Options: callgraph.Options{Node: nodes, Nodes: len(nodes), Measure: callgraph.Exclusive}}
	for _, id := range []trace.LocationID{1, 2, 3, 4} {
		err := scan(r, store.Window{End: r.Info().End})([]trace.LocationID{id}, func(l *trace.DigestedLane) error {
			rows := l.Read
			l.Read = func(lo, hi int, f func(*trace.Columns) error) error {
				read += hi - lo
				return rows(lo, hi, f)
			}
			return c.AddLane(l)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if calls := c.Take(); read > 0 || len(calls) != 4 {
		t.Errorf("%d calls of %d locations were read, want none of 4", read, len(calls))
	}
}

func scan(r store.Reader, w store.Window) callgraph.Scan {
	return func(ids []trace.LocationID, f func(*trace.DigestedLane) error) error {
		w := w
		w.Locations = ids
		return store.Digests(context.Background(), r, callgraph.DigestName, w, f)
	}
}
