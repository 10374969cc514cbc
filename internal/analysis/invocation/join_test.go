package invocation

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// TestJoinedLanesAreTheTreeOfMergedOnes holds nodes lane by lane against those in the order of time: the same calls
// under the same callers, on the same levels, in the order of sectors, with the numbers that the merge gives them.
func TestJoinedLanesAreTheTreeOfMergedOnes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var samples []sample
	for lane := range int32(40) {
		at, open := trace.Time(random.IntN(50)), []int32{}
		for row := range int32(1 + random.IntN(60)) {
			for len(open) > 0 && random.IntN(2) == 0 {
				open = open[:len(open)-1]
			}
			parent := int32(-1)
			if len(open) > 0 {
				parent = open[len(open)-1]
			}
			samples = append(samples, sample{lane, parent, at, at + 1, random.IntN(9) == 0})
			open = append(open, row)
			at += trace.Time(random.IntN(3))
		}
	}
	some := func() []*Lane {
		return slices.DeleteFunc(lanesOf(samples), func(l *Lane) bool { return l.Len() == 0 })
	}
	rank := func(id trace.LocationID) int { return int(id) * 7 % 5 }
	order := func(a, b trace.LocationID) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) }
	joined := Join(some(), func(a, b *Lane) int { return order(a.Location, b.Location) })
	merged := Collect(some()).Finish()
	_, place := merged.Tree.Preorder(func(parent int32, children []int32) {
		if parent == 0 {
			slices.SortStableFunc(children,
				func(a, b int32) int { return order(merged.Location(a), merged.Location(b)) })
		}
	})
	level, height := joined.Levels()
	want, most := merged.Levels()
	if joined.Len() != merged.Len() || height != most || joined.At(0) != merged.At(0) {
		t.Fatalf("%d nodes of height %d, root %+v; want %d, %d, %+v", joined.Len(), height, joined.At(0), merged.Len(),
			most, merged.At(0))
	}
	for i := int32(1); i < int32(joined.Len()); i++ {
		k := place[i]
		if joined.Number(i) != k || joined.At(i) != merged.At(k) || level[i] != want[k] ||
			joined.Number(joined.Tree.Parent[i]) != merged.Tree.Parent[k] {
			t.Fatalf("node %d is %+v, number %d on level %d; want %+v, %d, %d", i, joined.At(i), joined.Number(i),
				level[i], merged.At(k), k, want[k])
		}
	}
}

// Rows that are written to their places at once are the calls of lanes that are joined, also of a part of the time,
// in which the callers of some are missing.
func TestRowsAreJoinedWhileTheyAreRead(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var lanes, counted []*Lane
	var rows [][]*trace.Columns
	for id := range trace.LocationID(30) {
		from, n := random.IntN(5), 1+random.IntN(60)
		l, list := &Lane{Location: id}, []*trace.Columns{}
		c := &trace.Columns{Location: id, First: from}
		for i := range n {
			begin, long, region, parent := trace.Time(10*i), trace.Time(random.IntN(100)), trace.RegionID(i%7),
				int32(random.IntN(from+i+1))-1
			l.Add(from+i, begin, begin+long, region, parent, true)
			c.Begin, c.Duration = append(c.Begin, begin), append(c.Duration, long)
			c.Region, c.Parent = append(c.Region, region), append(c.Parent, parent)
			if random.IntN(9) == 0 {
				list = append(list, c)
				c = &trace.Columns{Location: id, First: from + i + 1}
			}
		}
		lanes, counted, rows = append(lanes, l), append(counted, Counted(id, n)), append(rows, append(list, c))
	}
	byThirds := func(a, b *Lane) int { return cmp.Compare(a.Location%3, b.Location%3) }
	want, j := Join(lanes, byThirds), NewJoiner(counted, byThirds)
	for k, list := range rows {
		if j.Calls() != nil {
			t.Fatal("calls are missing")
		}
		for _, c := range list {
			if !j.Add(k, c) {
				t.Fatalf("rows of lane %d do not fit", k)
			}
		}
	}
	got := j.Calls()
	level, height := got.Levels()
	wanted, most := want.Levels()
	if !slices.Equal(level, wanted) || height != most || !slices.Equal(got.Tree.Parent, want.Tree.Parent) {
		t.Fatalf("levels or callers differ, height %d, want %d", height, most)
	}
	for i := range int32(got.Len()) {
		if got.At(i) != want.At(i) {
			t.Fatalf("node %d is %+v, want %+v", i, got.At(i), want.At(i))
		}
	}
	if j.Add(0, &trace.Columns{Begin: make([]trace.Time, 1)}) {
		t.Error("a lane took more rows than it has")
	}
}
