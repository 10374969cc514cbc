package sides

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Times are looked at one by one: in a list of spans or not.
func TestSpansAreThoseOfTheirTimes(t *testing.T) {
	const end = 40
	draw := rand.New(rand.NewPCG(1, 2))
	list := func() []Span {
		var out []Span
		for range draw.IntN(5) {
			begin := trace.Time(draw.IntN(end))
			out = append(out, Span{begin, begin + 1 + trace.Time(draw.IntN(8))})
		}
		return out
	}
	in := func(spans []Span, at trace.Time) bool {
		return slices.ContainsFunc(spans, func(s Span) bool { return s.Begin <= at && at < s.End })
	}
	for range 2000 {
		given := list()
		a, b := Joined(slices.Clone(given)), Joined(list())
		both, rest := Inside(a, b), Outside(a, b)
		for at := range trace.Time(end + 10) {
			if in(a, at) != in(given, at) || in(both, at) != (in(a, at) && in(b, at)) ||
				in(rest, at) != (in(a, at) && !in(b, at)) {
				t.Fatalf("at %d: of %v and %v both have %v, the first alone %v", at, a, b, both, rest)
			}
		}
		for i := 1; i < len(a); i++ {
			if a[i].Begin <= a[i-1].End {
				t.Fatalf("%v meet", a)
			}
		}
	}
}

// Units that stand out in one direction are one side. Where work differs and waiting too, work tells the cause.
func TestUnitsThatStandOutTogetherAreFound(t *testing.T) {
	work := &Quantity{Role: trace.RoleCompute, Values: [2][]float64{{10, 11, 10, 50, 48, 10, 9, 10}}}
	got := unlike([]*Quantity{work}, 8)
	want := []bool{false, false, false, true, true, false, false, false}
	if !slices.Equal(got, want) {
		t.Errorf("%v stand out, want %v", got, want)
	}
	// waiting is what the slow ones do to the others
	wait := &Quantity{Role: trace.RoleCommunication, Values: [2][]float64{{40, 39, 40, 0, 2, 40, 41, 40}}}
	if list := worked([]*Quantity{wait, work}, 8); len(list) != 1 || list[0] != work {
		t.Errorf("%d quantities tell who is the cause, want the work alone", len(list))
	}
}
