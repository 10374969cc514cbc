package stackalign

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// lcs is the textbook table, for the length alone.
func lcs(a, b []int32) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		before := 0
		for j, y := range b {
			keep := row[j+1]
			if x == y {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			before = keep
		}
	}
	return row[len(b)]
}

func checkMatches(t *testing.T, a, b []int32, got []match) {
	t.Helper()
	last := match{-1, -1}
	for _, m := range got {
		if m.a <= last.a || m.b <= last.b || a[m.a] != b[m.b] {
			t.Fatalf("%v and %v: matches %v", a, b, got)
		}
		last = m
	}
}

func TestListsAreAlignedByALongestCommonSubsequence(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		a, b := make([]int32, rng.IntN(14)), make([]int32, rng.IntN(14))
		for _, x := range [][]int32{a, b} {
			for i := range x {
				x[i] = int32(rng.IntN(4))
			}
		}
		got, exact := longest(a, b, mostEdits)
		checkMatches(t, a, b, got)
		if want := lcs(a, b); len(got) != want || !exact {
			t.Fatalf("%v and %v: %d in common, want %d", a, b, len(got), want)
		}
		got, _ = longest(a, b, 3) // in pieces: in order and the same, if not the longest
		checkMatches(t, a, b, got)
	}
	// Ten thousand alike but for some: exact and quick.
	a := make([]int32, 10000)
	for i := range a {
		a[i] = int32(rng.IntN(50))
	}
	b := slices.Clone(a)
	for range 60 {
		b = slices.Delete(b, 17, 18)
	}
	if got, exact := longest(a, b, mostEdits); len(got) != len(b) || !exact {
		t.Errorf("%d of %d found again", len(got), len(b))
	}
}

// sequence makes calls of "node begin end depth" rows.
func sequence(rows ...[4]int) *Sequence {
	q := &Sequence{}
	var open []int32
	for i, r := range rows {
		open = open[:r[3]]
		parent := int32(-1)
		if r[3] > 0 {
			parent = open[r[3]-1]
		}
		q.Node, q.Begin, q.End, q.Parent = append(q.Node, int32(r[0])), append(q.Begin, trace.Time(r[1])), append(q.End, trace.Time(r[2])), append(q.Parent, parent)
		open = append(open, int32(i))
	}
	return q
}

// TestStacksByHand: two iterations against three, and a call that one alone makes.
func TestStacksByHand(t *testing.T) {
	const main, step, send, recv = 0, 1, 2, 3
	a := sequence([4]int{main, 0, 100, 0}, [4]int{step, 10, 40, 1}, [4]int{send, 15, 20, 2}, [4]int{recv, 20, 35, 2}, [4]int{step, 50, 80, 1}, [4]int{send, 55, 60, 2})
	b := sequence([4]int{main, 5, 125, 0}, [4]int{step, 15, 45, 1}, [4]int{send, 20, 24, 2}, [4]int{step, 50, 80, 1}, [4]int{send, 55, 65, 2}, [4]int{recv, 70, 75, 2}, [4]int{step, 90, 120, 1})
	out := Align([]*Sequence{a, b})
	if len(out.Slots) != 1 || len(out.Slots[0].Inner) != 3 || out.Count != 8 || out.Inexact != 0 {
		t.Fatalf("%d slots, %d in main, %d in all", len(out.Slots), len(out.Slots[0].Inner), out.Count)
	}
	steps := out.Slots[0].Inner
	if !slices.Equal(steps[0].Calls, []int32{1, 1}) || len(steps[0].Inner) != 2 || !slices.Equal(steps[0].Inner[1].Calls, []int32{3, -1}) {
		t.Errorf("the first step %+v", steps[0])
	}
	p := out.Pairs[1]
	// In common: main, two steps, two sends. Alone: recv of a; recv and a step of b.
	if p.Matched != 5 || p.There != 1 || p.OnlyHere != 2 || p.Structure() != 10./13 {
		t.Errorf("%+v, %v", p, p.Structure())
	}
	// Self of main: 40 and 30; steps 10 and 26, 25 and 15, 0 and 30; send 5 and 4, 5 and 10; recv 15 and 0, 0 and 5.
	if want := float64(30+10+15+4+5) / float64(40+26+25+30+5+10+15+5); p.Time != want {
		t.Errorf("time in common %v, want %v", p.Time, want)
	}
	if x := out.Pairs[0]; x.Structure() != 1 || x.Time != 1 {
		t.Errorf("the first with itself: %+v", x)
	}
	if w := out.Slots[0].Width; w != 40+26+25+30+5+10+15+5 {
		t.Errorf("width %d", w)
	}
}

// TestEveryCallIsInOneSlot of its region, under the slot of its caller, in order.
func TestEveryCallIsInOneSlot(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		list := make([]*Sequence, 2+rng.IntN(4))
		for s := range list {
			var rows [][4]int
			for at, depth := 0, 0; len(rows) < 40; at++ {
				rows = append(rows, [4]int{rng.IntN(4), at, at + 1, depth})
				depth = min(rng.IntN(depth+2), 4)
			}
			list[s] = sequence(rows...)
		}
		out := Align(list)
		seen := make([]int, len(list))
		var visit func(slots []*Slot, under []int32)
		visit = func(slots []*Slot, under []int32) {
			last := slices.Repeat([]int32{-1}, len(list))
			for _, x := range slots {
				for s, c := range x.Calls {
					if c < 0 {
						continue
					}
					seen[s]++
					if list[s].Node[c] != x.Node || c <= last[s] || list[s].Parent[c] != under[s] {
						t.Fatalf("call %d of %d in slot %+v", c, s, x)
					}
					last[s] = c
				}
				visit(x.Inner, x.Calls)
			}
		}
		visit(out.Slots, slices.Repeat([]int32{-1}, len(list)))
		for s := range list {
			if seen[s] != list[s].Len() {
				t.Fatalf("sequence %d: %d of %d calls are in slots", s, seen[s], list[s].Len())
			}
		}
	}
}
