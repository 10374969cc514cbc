package quantile

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestSketchesAreWrittenAndReadAsTheyAre: one that was written, read and merged
// gives what one of all values gives, whatever was exact and whatever was not.
func TestSketchesAreWrittenAndReadAsTheyAre(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, sizes := range [][]int{{1}, {3, 5}, {200, 56}, {200, 57}, {256}, {257}, {1, 4000}, {5000, 1, 300}} {
		var all, merged Sketch
		for _, n := range sizes {
			values := make([]int64, n)
			for i := range values {
				values[i] = int64(math.Exp(r.NormFloat64()*4 + 9))
			}
			var part, one Sketch
			part.AddAll(values)
			for _, v := range values {
				all.Add(v)
				one.Add(v)
			}
			if !reflect.DeepEqual(part.Quantiles(nil, Box[:]...), one.Quantiles(nil, Box[:]...)) || part.squares != one.squares {
				t.Errorf("%d values added at once differ from those added one by one", n)
			}
			b := part.Append(nil)
			h, err := ReadHeader(b)
			if err != nil || h != (Header{part.Count, int64(part.Total.Time()), part.Min, part.Max}) {
				t.Errorf("header %+v, %v", h, err)
			}
			if err := merged.MergeBytes(b); err != nil {
				t.Fatal(err)
			}
			var short Sketch
			if err := short.Condense(b, part.AppendBox(nil)); err != nil {
				t.Fatal(err)
			}
			if short.Box() != part.Box() || short.Deviation() != part.Deviation() || short.Exact() != part.Exact() || short.Mean() != part.Mean() {
				t.Errorf("%d values: condensed %v, want %v", n, short.Box(), part.Box())
			}
		}
		if merged.Box() != all.Box() || merged.Deviation() != all.Deviation() || merged.Exact() != all.Exact() || merged.Count != all.Count || merged.Min != all.Min || merged.Max != all.Max {
			t.Errorf("%v: merged %v, want %v", sizes, merged.Box(), all.Box())
		}
	}
}

// TestDamagedSketchesAreErrors: any cut or changed byte gives an error or a sketch,
// never a panic and no memory without bound.
func TestDamagedSketchesAreErrors(t *testing.T) {
	for _, n := range []int{3, 3000} {
		var s Sketch
		for i := range n {
			s.Add(int64(i * i))
		}
		b := s.Append(nil)
		for cut := range b {
			var x Sketch
			if err := x.MergeBytes(b[:cut]); err == nil {
				t.Fatalf("%d of %d bytes are a sketch", cut, len(b))
			}
		}
		for i := range b {
			for _, bit := range []byte{1, 0x40, 0x80, 0xff} {
				c := append([]byte{}, b...)
				c[i] ^= bit
				var x Sketch
				if x.MergeBytes(c) == nil {
					x.Box()
				}
				_ = x.Condense(c, s.AppendBox(nil))
			}
		}
	}
}
