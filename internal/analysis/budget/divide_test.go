package budget

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// The work before a wait is compared with work of the same use: actor 1 works longer in use 1, and actor 0, which waits
// for it, longer in use 0, which is no cause.
func TestUsesOfARegionAreComparedEachByItself(t *testing.T) {
	excess := func(divided bool) trace.Time {
		b := New(2, 3, 0, 1000)
		number := [2]int32{1, 1}
		if divided {
			first := b.Divide(1, 2)
			number = [2]int32{first, first + 1}
		}
		// actor 0: use 0 for 100, then waits; actor 1: use 1 for 60, use 0 for 20, use 1 for 70
		b.Add(0, 0, 100, number[0])
		b.Add(0, 100, 150, 2)
		b.Add(1, 0, 60, number[1])
		b.Add(1, 60, 80, number[0])
		b.Add(1, 80, 150, number[1])
		b.Wait(Wait{Actor: 0, Late: 1, Kind: Collective, Region: 2, Begin: 100, End: 150}, 150)
		r := b.Result()
		if len(r.Rows) != 1 || r.Rows[0].Actor != 1 || r.Rows[0].Region != 1 || len(r.InCalls) != 3 {
			t.Fatalf("rows %+v, %d in calls", r.Rows, len(r.InCalls))
		}
		return r.Rows[0].Caused()
	}
	if with, without := excess(true), excess(false); with != 50 || without != 50 {
		t.Errorf("caused %d and %d", with, without)
	}
}
