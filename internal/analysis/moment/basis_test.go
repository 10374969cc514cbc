package moment

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestProjectionsAreThoseOfTheIntegral: coefficients of random charts against the sum over
// a fine grid, and what they make of the chart against its true means.
func TestProjectionsAreThoseOfTheIntegral(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const grid = 1 << 15
	for range 20 {
		var bars [][2]float64
		g := make([]float64, grid)
		for at := rng.IntN(grid / 4); at < grid; {
			end := min(at+1+rng.IntN(grid/5), grid)
			bars = append(bars, [2]float64{float64(at) / grid, float64(end) / grid})
			for i := at; i < end; i++ {
				g[i] = 1
			}
			at = end + 1 + rng.IntN(grid/5)
		}
		for _, b := range []Basis{Cosine, Haar, Bins} {
			c := make([]float64, b.Size(13))
			for _, x := range bars {
				b.AddBar(c, x[0], x[1])
			}
			b.Finish(c)
			check(t, b, c, g)
		}
	}
}

func check(t *testing.T, b Basis, c, g []float64) {
	t.Helper()
	n := len(g)
	mean := func(from, to int) (v float64) {
		for _, x := range g[from:to] {
			v += x
		}
		return v / float64(to-from)
	}
	switch b {
	case Cosine:
		for k := range c {
			want := 0.0
			for i, x := range g {
				want += x * math.Cos(float64(k)*math.Pi*(float64(i)+0.5)/float64(n)) / float64(n)
			}
			if k > 0 {
				want *= 2
			}
			if math.Abs(c[k]-want) > 1e-6 {
				t.Fatalf("cosine %d: %v, want %v", k, c[k], want)
			}
		}
	case Haar:
		if len(c) != 16 {
			t.Fatalf("%d coefficients, want the next power of two", len(c))
		}
		if want := (mean(0, n/2) - mean(n/2, n)) / 2; math.Abs(c[1]-want) > 1e-12 {
			t.Fatalf("haar: %v, want %v", c[1], want)
		}
		fallthrough
	default: // what they make of a part is its mean
		for k := range c {
			want := mean(k*n/len(c), (k+1)*n/len(c))
			if got := b.At(c, (float64(k)+0.5)/float64(len(c))); math.Abs(got-want) > 2e-3 {
				t.Fatalf("%s in part %d of %d: %v, want %v", b, k, len(c), got, want)
			}
		}
	}
	if whole := mean(0, n); b != Bins && math.Abs(c[0]-whole) > 1e-9 {
		t.Fatalf("%s: the first coefficient is %v, the mean utilization %v", b, c[0], whole)
	}
}

// TestCosinesComeNearer: more of them leave less of the chart.
func TestCosinesComeNearer(t *testing.T) {
	rest := math.Inf(1)
	for _, n := range []int{1, 2, 4, 16, 64, 256} {
		c := make([]float64, n)
		Cosine.AddBar(c, 0.2, 0.35)
		Cosine.AddBar(c, 0.6, 0.9)
		off := 0.0
		for i := range 4000 {
			x := (float64(i) + 0.5) / 4000
			g := 0.0
			if x >= 0.2 && x < 0.35 || x >= 0.6 && x < 0.9 {
				g = 1
			}
			d := Cosine.At(c, x) - g
			off += d * d / 4000
		}
		if off >= rest {
			t.Fatalf("%d cosines leave %v, fewer left %v", n, off, rest)
		}
		rest = off
	}
	if rest > 0.01 {
		t.Errorf("256 cosines leave %v", rest)
	}
}
