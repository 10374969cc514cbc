package quantile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantilesAreOfType7(t *testing.T) {
	for _, c := range []struct {
		values []int64
		q      float64
		want   float64
	}{
		{[]int64{7}, 0.02, 7}, {[]int64{1, 2}, 0.5, 1.5}, {[]int64{1, 2, 3}, 0.5, 2}, {[]int64{1, 2, 3, 4}, 0.25, 1.75},
		{[]int64{0, 10}, 0.98, 9.8}, {[]int64{1, 2, 3, 4, 5}, 0, 1}, {[]int64{1, 2, 3, 4, 5}, 1, 5},
	} {
		if got := OfSorted(c.values, c.q); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("q = %v of %v: %v, want %v", c.q, c.values, got, c.want)
		}
	}
	if !math.IsNaN(OfSorted([]int64(nil), 0.5)) {
		t.Error("no values have no quantile")
	}
}

func TestBucketsTileTheAxisAndStayNarrow(t *testing.T) {
	last := -1
	for _, v := range []int64{0, 1, 63, 64, 127, 128, 129, 130, 255, 256, 1000, 1 << 20, 1<<40 + 12345, math.MaxInt64} {
		b := bucketOf(v)
		if b < last {
			t.Errorf("bucket of %d is %d, below that of a smaller value", v, b)
		}
		last = b
		if err := math.Abs(middle(b)-float64(v)) / max(float64(v), 1); err > RelativeError {
			t.Errorf("%d is given as %v: off by %v, the bound is %v", v, middle(b), err, RelativeError)
		}
	}
}

// TestSketchesKeepTheirPromises: count, total, extremes, mean and deviation
// exact; quantiles exact up to the size and within the bound past it; the order
// of merging does not matter.
func TestSketchesKeepTheirPromises(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 100, ExactSize, ExactSize + 1, 5000} {
		values := make([]int64, n)
		parts := make([]Sketch, 1+r.IntN(9))
		var one Sketch
		for i := range values {
			values[i] = int64(math.Exp(r.NormFloat64()*3 + 8))
			one.Add(values[i])
			parts[r.IntN(len(parts))].Add(values[i])
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		var merged Sketch
		for i := range parts {
			merged.Merge(&parts[i])
		}
		slices.Sort(values)
		var total int64
		for _, v := range values {
			total += v
		}
		mean, squares := float64(total)/float64(n), 0.0
		for _, v := range values {
			squares += (float64(v) - mean) * (float64(v) - mean)
		}
		for name, s := range map[string]*Sketch{"added": &one, "merged": &merged} {
			if s.Count != int64(n) || int64(s.Total.Time()) != total || s.Min != values[0] || s.Max != values[n-1] || s.Mean() != mean {
				t.Errorf("%d %s: count %d total %s min %d max %d", n, name, s.Count, s.Total, s.Min, s.Max)
			}
			if d := math.Sqrt(squares / float64(n)); math.Abs(s.Deviation()-d) > 1e-9*d {
				t.Errorf("%d %s: deviation %v, want %v", n, name, s.Deviation(), d)
			}
			if s.Exact() != (n <= ExactSize) {
				t.Errorf("%d %s: exact is %v", n, name, s.Exact())
			}
			for k, got := range s.Quantiles(nil, Box[:]...) {
				want := OfSorted(values, Box[k])
				if bound := map[bool]float64{true: 1e-12, false: RelativeError}[s.Exact()]; math.Abs(got-want) > bound*want {
					t.Errorf("%d %s: q%v = %v, want %v", n, name, Box[k], got, want)
				}
			}
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	values := make([]int64, 4096)
	for i := range values {
		values[i] = int64(math.Exp(r.NormFloat64()*2 + 10))
	}
	var s Sketch
	i := 0
	for b.Loop() {
		s.Add(values[i&4095])
		i++
	}
}

// The box of few values is found without sorting them; it must be the one that
// sorting gives, whatever their distribution.
func TestBoxOfFewValuesIsThatOfSortedOnes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= ExactSize; n++ {
		for name, value := range map[string]func() int64{
			"alike":     func() int64 { return 7 },
			"narrow":    func() int64 { return rnd.Int64N(10) },
			"even":      func() int64 { return rnd.Int64N(1 << 40) },
			"long tail": func() int64 { return int64(math.Exp(40 * rnd.Float64())) },
			"extremes":  func() int64 { return []int64{0, 1, math.MaxInt64 / 512}[rnd.IntN(3)] },
		} {
			var s Sketch
			var values []int64
			for range n {
				v := value()
				s.Add(v)
				values = append(values, v)
			}
			slices.Sort(values)
			box := s.Box()
			for k, q := range Box {
				if want := OfSorted(values, q); box[k] != want {
					t.Fatalf("%s, %d values: quantile %v is %v, want %v", name, n, q, box[k], want)
				}
			}
		}
	}
}

// A million ranks of a day each: more than a number of 64 bits holds.
// TestAddingInBatchesEqualsAddingOneByOne: whether or not squares add up to more than 64 bits.
func TestAddingInBatchesEqualsAddingOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{1, 2, 200, 255, 256, 1000, 1 << 15} {
		for width := range 63 {
			values := make([]int64, n)
			for i := range values {
				values[i] = 1<<width - 1 - r.Int64N(1<<width)/16
			}
			var all, each Sketch
			all.AddAll(values)
			for _, v := range values {
				each.Add(v)
			}
			if all.Count != each.Count || all.Total != each.Total || all.squares != each.squares || all.Min != each.Min || all.Max != each.Max || all.Box() != each.Box() {
				t.Fatalf("%d values of %d bits: total %v, squares %v, want %v, %v", n, width, all.Total, all.squares, each.Total, each.squares)
			}
		}
	}
}

func TestTotalsOfVeryManyLongCallsDoNotRunOver(t *testing.T) {
	const day = 24 * 3600 * 1e9
	var one, all Sketch
	for range 1000 {
		one.Add(day)
		one.Add(day / 2)
	}
	for range 500 {
		all.Merge(&one)
	}
	if all.Total.String() != "64800000000000000000" || all.Mean() != 0.75*day || math.Abs(all.Deviation()-day/4) > 1 {
		t.Errorf("total %s, mean %g, deviation %g", all.Total, all.Mean(), all.Deviation())
	}
}
