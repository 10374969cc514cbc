package scene

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// paint draws rectangles in an order on a grid of pixels, the last on top.
func paint(m *Rect, order []int32, size int) []Colour {
	grid := make([]Colour, size*size)
	for i := range grid {
		grid[i] = None
	}
	for _, i := range order {
		for y := int(m.Y[i]); y < int(m.Y[i]+m.H[i]); y++ {
			for x := int(m.X[i]); x < int(m.X[i]+m.W[i]); x++ {
				grid[y*size+x] = m.Fill[i]
			}
		}
	}
	return grid
}

func TestRunsGiveTheSamePicture(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const size = 40
	for round := range 300 {
		m := &Rect{}
		var order []int32
		for i := range 1 + r.IntN(80) {
			x, w := r.IntN(size), 1+r.IntN(8)
			y, h := r.IntN(size), 1+r.IntN(8)
			if round%2 == 0 { // rows that do not overlap, as in a timeline
				y, h = y/5*5, 5
			}
			m.Add(float32(x), float32(y), float32(min(w, size-x)), float32(min(h, size-y)), Colour(r.IntN(4)))
			order = append(order, int32(i))
		}
		var sorted []int32
		for _, run := range m.Runs() {
			for k, i := range run.Index {
				if m.Fill[i] != run.Fill || k > 0 && run.Index[k-1] >= i {
					t.Fatal("a run holds another colour, or is not in order")
				}
			}
			sorted = append(sorted, run.Index...)
		}
		if len(sorted) != len(order) {
			t.Fatalf("%d of %d rectangles are in runs", len(sorted), len(order))
		}
		if !slices.Equal(paint(m, order, size), paint(m, sorted, size)) {
			t.Fatalf("round %d: the picture changed", round)
		}
	}
}

func TestRectanglesSideBySideMakeOneRunForEachLook(t *testing.T) {
	m := &Rect{}
	for row := range 50 {
		for i := range 100 {
			m.Add(float32(i)*1.3, float32(row)*0.7, 1.3, 0.7, Colour(i%5)) // lower than a pixel
			if i%5 == 0 {
				m.SetFlags(Dimmed)
			}
		}
	}
	if got := len(m.Runs()); got != 5 {
		t.Errorf("%d runs, want 5", got)
	}
}

func TestNestedRectanglesMakeARunForEachLevel(t *testing.T) {
	m := &Rect{}
	for i := range 200 {
		x := float32(i) * 10
		m.Add(x, 0, 10, 4, 1)    // caller
		m.Add(x+1, 0, 6, 4, 2)   // callee on top
		m.Add(x+2, 0, 2, 4, 1)   // its callee
		m.Add(x, 6, 10, 4, 3)    // another row
		m.Add(x, 12, 0, 4, 3)    // nothing
		m.Add(x, 12, 3, 4, None) // nothing
	}
	if got := len(m.Runs()); got != 4 {
		t.Errorf("%d runs, want 4", got)
	}
}

func BenchmarkRuns(b *testing.B) {
	side, nested := &Rect{}, &Rect{}
	for i := range 200_000 {
		x, y := float32(i%800)*2, float32(i/800)*4
		side.Add(x, y, 2, 4, Colour(i%50))
		nested.Add(x, y, float32(2+i%7*8), 4, Colour(i%50))
	}
	for name, m := range map[string]*Rect{"side by side": side, "nested": nested} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Runs()
			}
		})
	}
}
