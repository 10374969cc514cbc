package callgraph

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// looping is the rows of a program that goes round in loops: main, a step, what it calls; some calls are rare.
func looping(n int) *trace.Columns {
	rng := rand.New(rand.NewPCG(9, 9))
	c := &trace.Columns{}
	add := func(region trace.RegionID, parent, depth int, exclusive trace.Time) int {
		i := c.Len()
		c.Begin, c.Duration, c.Exclusive = append(c.Begin, trace.Time(10*i)), append(c.Duration, exclusive), append(c.Exclusive, exclusive)
		c.Region, c.Parent, c.Depth = append(c.Region, region), append(c.Parent, int32(parent)), append(c.Depth, uint16(depth))
		for ; parent >= 0; parent = int(c.Parent[parent]) {
			c.Duration[parent] += exclusive
		}
		return i
	}
	top := add(0, -1, 0, 5)
	for c.Len() < n {
		step := add(1, top, 1, trace.Time(rng.IntN(50)))
		for range rng.IntN(5) {
			call := add(2, step, 2, trace.Time(rng.IntN(1000)))
			if rng.IntN(3) == 0 {
				add(3, call, 3, trace.Time(rng.IntN(9)))
			}
			if rng.IntN(3000) == 0 {
				add(4, add(1, call, 3, 1), 4, trace.Time(rng.IntN(9)))
			}
		}
	}
	return c
}

// laneOf gives rows [lo, hi) of a lane as a store does, and counts those that are read.
func laneOf(all *trace.Columns, lo, hi int, record []byte, read *int) *trace.DigestedLane {
	return &trace.DigestedLane{Lanes: 1, Lo: lo, Hi: hi, Record: record, Read: func(lo, hi int, f func(*trace.Columns) error) error {
		*read += hi - lo
		c := trace.Columns{First: lo, Begin: all.Begin[lo:hi], Duration: all.Duration[lo:hi], Exclusive: all.Exclusive[lo:hi], Region: all.Region[lo:hi], Parent: all.Parent[lo:hi], Depth: all.Depth[lo:hi]}
		for p := int(all.Parent[lo]); p >= 0; p = int(all.Parent[p]) {
			c.Open = append(c.Open, trace.OpenInterval{Row: p, Begin: all.Begin[p], End: all.End(p), Region: all.Region[p]})
		}
		slices.Reverse(c.Open)
		return f(&c)
	}}
}

// Where a window has most of a block, the rows that it does not have are read and taken off: with the numbers that its own rows give, and no path that
// has no call in it.
func TestTotalsOfMostOfABlockAreThoseOfItsRows(t *testing.T) {
	for _, n := range []int{3000, 9000, 60_000} { // one block, one and a half, several
		all := looping(n)
		n = all.Len()
		record := Digest{}.Builder(5).Build(nil, all)
		if len(record) == 0 {
			t.Fatal("no record")
		}
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		var few, many int
		for range 200 {
			lo := rng.IntN(n)
			hi := lo + 1 + rng.IntN(n-lo)
			var got, want [3]string
			for k, o := range []Options{{}, {Profile: true}, {Closure: true}} {
				o.Node, o.Nodes = []int32{0, 1, 2, 3, 4}, 5
				got[k], want[k] = graphOf(t, o, laneOf(all, lo, hi, record, &few)), graphOf(t, o, laneOf(all, lo, hi, nil, &many))
			}
			if got != want {
				t.Fatalf("rows %d to %d of %d:\n%s\nwant\n%s", lo, hi, n, got, want)
			}
			if got, want := pathsOf(t, laneOf(all, lo, hi, record, &few)), pathsOf(t, laneOf(all, lo, hi, nil, &many)); got != want {
				t.Fatalf("paths of rows %d to %d of %d:\n%s\nwant\n%s", lo, hi, n, got, want)
			}
		}
		if few > many*9/10 {
			t.Errorf("of %d rows %d are read where there is a record", many, few)
		}
	}
}

func graphOf(t *testing.T, o Options, l *trace.DigestedLane) string {
	c := &Collector{Options: o}
	if err := c.AddLane(l); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range c.Take()[0].Buckets() {
		out = append(out, fmt.Sprint(b.Pair, b.Count, b.Inclusive, b.Exclusive, b.Outermost))
	}
	slices.Sort(out)
	return fmt.Sprint(out)
}

func pathsOf(t *testing.T, l *trace.DigestedLane) string {
	c := &PathCollector{End: 1 << 60, Measure: Totals, MostValues: 100, Regions: 5}
	if err := c.Add(l); err != nil {
		t.Fatal(err)
	}
	p, err := c.Paths(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range p.Parent {
		name := ""
		for k := int32(i); k >= 0; k = p.Parent[k] {
			name = fmt.Sprint(p.Region[k], ";", name)
		}
		out = append(out, fmt.Sprint(name, p.Calls[i], p.Inclusive[i], p.Exclusive[i]))
	}
	slices.Sort(out)
	return fmt.Sprint(out, len(p.Values))
}
