package invocation

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A sample is a call in words: its lane, its row around, its times.
type sample struct {
	lane, parent int32 // row in the lane, -1
	begin, end   trace.Time
	state        bool // not a call
}

func lanesOf(samples []sample) (lanes []*Lane) {
	for _, s := range samples {
		for int(s.lane) >= len(lanes) {
			lanes = append(lanes, &Lane{Location: trace.LocationID(len(lanes))})
		}
		l := lanes[s.lane]
		l.Add(l.rows, s.begin, s.end, 0, s.parent, !s.state)
	}
	return lanes
}

func TestCallsOfSeveralLanesBecomeOneTree(t *testing.T) {
	type spawn struct{ child, maker Spot }
	for _, c := range []struct {
		name    string
		samples []sample
		spawns  []spawn
		want    []int32 // parents, in tree order
		begins  []trace.Time
		virtual bool
		late    int
	}{
		{"one lane keeps its order", []sample{{0, -1, 0, 9, false}, {0, 0, 1, 4, false}, {0, 1, 2, 3, false}}, nil, []int32{-1, 0, 1}, []trace.Time{0, 1, 2}, false, 0},
		{"lanes interleave by time", []sample{{0, -1, 0, 9, false}, {0, 0, 5, 6, false}, {1, -1, 2, 4, false}}, []spawn{{Spot{1, 0}, Spot{0, 0}}}, []int32{-1, 0, 0}, []trace.Time{0, 2, 5}, false, 0},
		{"several roots get one above", []sample{{0, -1, 0, 9, false}, {1, -1, 3, 12, false}}, nil, []int32{-1, 0, 0}, []trace.Time{0, 0, 3}, true, 0},
		{"a child before its parent comes behind it", []sample{{0, -1, 0, 1, false}, {0, -1, 5, 9, false}, {1, -1, 3, 4, false}}, []spawn{{Spot{0, 1}, Spot{0, 0}}, {Spot{1, 0}, Spot{0, 1}}},
			[]int32{-1, 0, 1}, []trace.Time{0, 5, 3}, false, 1},
		{"what a late child made comes with it", []sample{{0, -1, 5, 9, false}, {1, -1, 2, 4, false}, {1, 0, 3, 4, false}}, []spawn{{Spot{1, 0}, Spot{0, 0}}},
			[]int32{-1, 0, 1}, []trace.Time{5, 2, 3}, false, 1},
		{"a circle is cut", []sample{{0, -1, 0, 9, false}, {1, -1, 3, 4, false}}, []spawn{{Spot{1, 0}, Spot{0, 0}}, {Spot{0, 0}, Spot{1, 0}}},
			[]int32{-1, 0}, []trace.Time{3, 0}, false, 1},
		{"a parent of the same begin comes first", []sample{{0, -1, 4, 5, false}, {1, -1, 4, 9, false}}, []spawn{{Spot{0, 0}, Spot{1, 0}}}, []int32{-1, 0}, []trace.Time{4, 4}, false, 0},
		{"a state is no call and hands its children up", []sample{{0, -1, 0, 9, false}, {0, 0, 1, 8, true}, {0, 1, 2, 3, false}, {1, -1, 4, 5, false}}, []spawn{{Spot{1, 0}, Spot{0, 1}}},
			[]int32{-1, 0, 0}, []trace.Time{0, 2, 4}, false, 0},
	} {
		calls := Collect(lanesOf(c.samples))
		for _, s := range c.spawns {
			calls.Spawn(calls.Node(s.child), calls.Node(s.maker))
		}
		calls.Finish()
		if !reflect.DeepEqual(calls.Tree.Parent, c.want) || !slices.Equal(calls.Begin, c.begins) || calls.Virtual != c.virtual || calls.Late != c.late {
			t.Errorf("%s: parents %v begins %v virtual %v late %d", c.name, calls.Tree.Parent, calls.Begin, calls.Virtual, calls.Late)
		}
	}
}

// TestMergingInPartsOfTimeIsOneStableSort holds the merge of many long lanes, which
// is cut into parts, against sorting all calls at once.
func TestMergingInPartsOfTimeIsOneStableSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var lanes []*Lane
	type key struct {
		begin trace.Time
		lane  int32
		row   int32
	}
	var want []key
	for k := range 37 {
		l := &Lane{Location: trace.LocationID(k)}
		at := trace.Time(random.IntN(1000))
		for row := range 2000 + random.IntN(6000) {
			l.Add(row, at, at+1, 0, -1, true)
			want = append(want, key{at, int32(k), int32(row)})
			at += trace.Time(random.IntN(3))
		}
		lanes = append(lanes, l)
	}
	slices.SortStableFunc(want, func(a, b key) int { return int(a.begin - b.begin) })
	c := Collect(lanes).Finish()
	for i, w := range want {
		if got := c.At(int32(i + 1)); got.Begin != w.begin || int32(got.Location) != w.lane || got.Row != w.row {
			t.Fatalf("call %d is %+v, want %+v", i, got, w)
		}
	}
}

// TestACycleOfMakersIsCut: traces that claim it must not hang the program.
func TestACycleOfMakersIsCut(t *testing.T) {
	c := Collect(lanesOf([]sample{{0, -1, 4, 5, false}, {1, -1, 4, 9, false}, {2, -1, 4, 9, false}}))
	for k := range int32(3) {
		c.Spawn(c.Node(Spot{k, 0}), c.Node(Spot{(k + 1) % 3, 0}))
	}
	c.Finish()
	for i, p := range c.Tree.Parent {
		if p >= int32(i) {
			t.Errorf("node %d hangs below %d", i, p)
		}
	}
}
