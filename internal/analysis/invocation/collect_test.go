package invocation

import (
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestCallsOfSeveralLanesBecomeOneTree(t *testing.T) {
	call := func(loc trace.LocationID, begin, end trace.Time) Call {
		return Call{Location: loc, Begin: begin, End: end}
	}
	for _, c := range []struct {
		name    string
		calls   []Call
		parent  []int32
		want    []int32 // parents, in tree order
		begins  []trace.Time
		virtual bool
		late    int
	}{
		{"one lane keeps its order", []Call{call(0, 0, 9), call(0, 1, 4), call(0, 2, 3)}, []int32{-1, 0, 1}, []int32{-1, 0, 1}, []trace.Time{0, 1, 2}, false, 0},
		{"lanes interleave by time", []Call{call(0, 0, 9), call(0, 5, 6), call(1, 2, 4)}, []int32{-1, 0, 0}, []int32{-1, 0, 0}, []trace.Time{0, 2, 5}, false, 0},
		{"several roots get one above", []Call{call(0, 0, 9), call(1, 3, 12)}, []int32{-1, -1}, []int32{-1, 0, 0}, []trace.Time{0, 0, 3}, true, 0},
		{"a child before its parent hangs on the root", []Call{call(0, 0, 1), call(0, 5, 9), call(1, 3, 4)}, []int32{-1, 0, 1}, []int32{-1, 0, 0, 1}, []trace.Time{0, 0, 3, 5}, true, 1},
		{"a parent of the same begin comes first", []Call{call(0, 4, 5), call(1, 4, 9)}, []int32{1, -1}, []int32{-1, 0}, []trace.Time{4, 4}, false, 0},
	} {
		got := Build(c.calls, c.parent)
		var begins []trace.Time
		for _, x := range got.Calls {
			begins = append(begins, x.Begin)
		}
		if !reflect.DeepEqual(got.Tree.Parent, c.want) || !reflect.DeepEqual(begins, c.begins) || got.Virtual != c.virtual || got.Late != c.late {
			t.Errorf("%s: parents %v begins %v virtual %v late %d", c.name, got.Tree.Parent, begins, got.Virtual, got.Late)
		}
	}
}
