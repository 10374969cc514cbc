package moment

import "math"

// A Basis is another set of functions that utilization is projected on. The paper has
// moments as one choice of a general projection; these are orthogonal, so that each
// coefficient stands for itself and more of them only add detail.
type Basis string

const (
	Cosine Basis = "cosine" // 1, cos πx, cos 2πx …: the even half of Fourier's
	Haar   Basis = "haar"   // the mean, then differences of halves, of quarters …
	Bins   Basis = "bins"   // the mean of each of n equal parts
)

// MostCoefficients bounds a projection.
const MostCoefficients = 256

// Size returns the number of coefficients a basis has where n are asked for: Haar's come in
// powers of two.
func (b Basis) Size(n int) int {
	n = min(max(n, 1), MostCoefficients)
	if b != Haar {
		return n
	}
	size := 1
	for size < n {
		size *= 2
	}
	return size
}

// AddBar adds one busy stretch, from a to b in shares of the window, to a projection
// that Finish has yet to see. O(len(c)) for cosines, else O(parts that it meets).
func (b Basis) AddBar(c []float64, from, to float64) {
	from, to = max(from, 0), min(to, 1)
	if !(to > from) {
		return
	}
	if b == Cosine {
		c[0] += to - from
		for k := 1; k < len(c); k++ {
			w := float64(k) * math.Pi
			c[k] += 2 / w * (math.Sin(w*to) - math.Sin(w*from))
		}
		return
	}
	n := float64(len(c))
	x, y := from*n, to*n
	for k := int(x); k < len(c) && float64(k) < y; k++ {
		c[k] += min(y, float64(k+1)) - max(x, float64(k))
	}
}

// Finish turns the sums into coefficients, in place. Haar's are the mean, then for each level from the
// coarsest half of (mean of the left part - mean of the right).
func (b Basis) Finish(c []float64) {
	if b != Haar {
		return
	}
	work := make([]float64, len(c))
	for n := len(c); n > 1; n /= 2 {
		for k := range n / 2 {
			l, r := c[2*k], c[2*k+1]
			work[k], work[n/2+k] = (l+r)/2, (l-r)/2
		}
		copy(c[:n], work[:n])
	}
}

// At returns the utilization that coefficients make at x, from 0 to 1. Cosines may leave 0
// to 1 next to a steep edge.
func (b Basis) At(c []float64, x float64) float64 {
	switch b {
	case Cosine:
		v := c[0]
		for k := 1; k < len(c); k++ {
			v += c[k] * math.Cos(float64(k)*math.Pi*x)
		}
		return v
	case Haar:
		v, at := c[0], min(max(x, 0), math.Nextafter(1, 0))
		for n := 1; n < len(c); n *= 2 {
			place := at * float64(n)
			k := int(place)
			if place-float64(k) < 0.5 {
				v += c[n+k]
			} else {
				v -= c[n+k]
			}
		}
		return v
	}
	return c[min(max(int(x*float64(len(c))), 0), len(c)-1)]
}
