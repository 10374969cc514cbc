package span

import (
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A list of nodes finds what a map of their keys finds: the first one of each, and all others from there.
func TestNodesAreFoundByTheirIDs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var list nodeList
	want := map[key][]int32{}
	for i := range int32(50_000) {
		n := node{id: rnd.Uint64N(30_000), trace: rnd.Uint32N(3)}
		if rnd.IntN(10) == 0 {
			n.flags = oddNumber
		}
		if got := list.add(&n); got != i {
			t.Fatalf("node %d got number %d", i, got)
		}
		want[n.key()] = append(want[n.key()], i)
	}
	for k, nodes := range want {
		first, ok := list.first(k)
		if !ok || first != nodes[0] {
			t.Fatalf("%v: first is %d, %v; want %d", k, first, ok, nodes[0])
		}
		found := 0
		for at := first; at >= 0; at = list.at(at).next {
			if found++; list.at(at).key() != k || list.at(at).is(isTwin) != (len(nodes) > 1) {
				t.Fatalf("%v: node %d has key %v", k, at, list.at(at).key())
			}
		}
		if found != len(nodes) {
			t.Fatalf("%v: %d nodes, want %d", k, found, len(nodes))
		}
	}
	if _, ok := list.first(key{id: 30_000}); ok {
		t.Error("an id that no span has is found")
	}
	if _, ok := new(nodeList).first(key{}); ok {
		t.Error("an empty list finds something")
	}
}

// Ids are shown as they were written, and two that mean the same number are the same span.
func TestIDsStayAsTheyAreWritten(t *testing.T) {
	for _, c := range []struct {
		text  string
		shown string
		same  string // an id that means the same span
	}{
		{"00f067aa0ba902b7", "00f067aa0ba902b7", "f067aa0ba902b7"},
		{"1", "1", "0000000000000001"},
		{"00F067AA0BA902B7", "00F067AA0BA902B7", "00f067aa0ba902b7"},
		{"span-7", "span-7", "span-7"},
		{"00f067aa0ba902b700f067aa0ba902b7", "00f067aa0ba902b700f067aa0ba902b7", "00f067aa0ba902b700f067aa0ba902b7"},
	} {
		w := newWriter(nil, "x")
		id := ParseID([]byte(c.text))
		if got := id.value(); got.String() != c.shown || got.Kind != trace.ValueText {
			t.Errorf("%q is shown as %q", c.text, got)
		}
		a, aOdd := w.id(id)
		b, bOdd := w.id(ParseID([]byte(c.same)))
		if a != b || aOdd != bOdd {
			t.Errorf("%q and %q are two spans", c.text, c.same)
		}
	}
	if !ParseID(nil).None() || ParseID([]byte("0")).None() {
		t.Error("an empty id is none, and 0 is one")
	}
	if got := ParseID([]byte("00F067AA0BA902B7")).Lower().value().String(); got != "00f067aa0ba902b7" {
		t.Errorf("in lower case: %q", got)
	}
}
