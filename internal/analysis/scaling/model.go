package scaling

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// LeastSizes is how many sizes a model needs: with fewer, any curve fits.
const LeastSizes = 5

// A Term is C · n^I · log2(n)^J.
type Term struct{ C, I, J float64 }

// A Model is C0 plus its terms.
type Model struct {
	C0    float64
	Terms []Term
	// Error is the mean of |model - value| over the mean of both, each value foretold from
	// the others (SMAPE by cross-validation). 0 is exact, 2 the worst.
	Error float64
}

// exponents are those that Extra-P tries; falling ones serve strong scaling.
var exponents = []float64{0, 1.0 / 4, 1.0 / 3, 1.0 / 2, 2.0 / 3, 3.0 / 4, 1, 5.0 / 4, 4.0 / 3, 3.0 / 2, 5.0 / 3,
	7.0 / 4, 2, 9.0 / 4, 7.0 / 3, 5.0 / 2, 8.0 / 3, 11.0 / 4, 3}

var falling = []float64{-1, -3.0 / 4, -2.0 / 3, -1.0 / 2, -1.0 / 3, -1.0 / 4}

var logs = []float64{0, 1, 2}

// clearly is how much smaller the error of a curve must be than that of a constant.
const clearly = 0.5

// Fit finds the model of values at sizes, all above 0: the one term that foretells each
// value best from the others, two where that is clearly better still, or none. With too few sizes ok is false.
func Fit(sizes, values []float64) (m Model, ok bool) {
	if len(sizes) < LeastSizes || len(sizes) != len(values) {
		return m, false
	}
	best := crossed(sizes, values, nil)
	m = Model{C0: mean(values), Error: best}
	least := best * clearly
	try := func(t Term) {
		// If two curves predict equally well, the simpler one, tried first, stays.
		if e := crossed(sizes, values, &t); e < least*(1-1e-6) {
			c0, c, fits := line(sizes, values, &t, -1)
			if !fits || c <= 0 {
				return // falling values are modelled by falling terms: less and less of something ends below nothing
			}
			t.C = c
			least, m = e, Model{C0: c0, Terms: []Term{t}, Error: e}
		}
	}
	all := exponents
	if values[len(values)-1] < values[0] {
		all = append(append([]float64(nil), falling...), exponents...)
	}
	var shapes []Term
	for _, j := range logs {
		for _, i := range all {
			if i != 0 && (i > 0 || j == 0) || i == 0 && j != 0 {
				shapes = append(shapes, Term{I: i, J: j})
				try(Term{I: i, J: j})
			}
		}
	}
	for _, i := range falling { // what falls at first may grow in the end
		if values[len(values)-1] >= values[0] {
			shapes = append(shapes, Term{I: i})
		}
	}
	return secondTerm(sizes, values, shapes, m), true
}

// At is the value of the model at a size.
func (m *Model) At(n float64) float64 {
	v := m.C0
	for i := range m.Terms {
		v += m.Terms[i].C * m.Terms[i].shape(n)
	}
	return v
}

func (t *Term) shape(n float64) float64 {
	return math.Pow(n, t.I) * math.Pow(math.Log2(n), t.J)
}

// crossed is the error where each value is foretold from the others; nil: by their mean.
func crossed(sizes, values []float64, t *Term) float64 {
	sum := 0.0
	for k := range sizes {
		c0, c, ok := line(sizes, values, t, k)
		if !ok {
			return math.Inf(1)
		}
		v := c0
		if t != nil {
			v += c * t.shape(sizes[k])
		}
		if scale := math.Abs(v) + math.Abs(values[k]); scale > 0 {
			sum += 2 * math.Abs(v-values[k]) / scale
		}
	}
	return sum / float64(len(sizes))
}

// line fits c0 + c·shape to all values but one, by least squares of relative errors: times
// of small and large runs differ by orders of magnitude, and each counts.
func line(sizes, values []float64, t *Term, without int) (c0, c float64, ok bool) {
	w, x1, y1, xx, xy := 0.0, 0.0, 0.0, 0.0, 0.0
	for k := range sizes {
		if k == without {
			continue
		}
		x := 0.0
		if t != nil {
			x = t.shape(sizes[k])
		}
		weight := 1.0
		if t != nil && values[k] != 0 {
			weight = 1 / (values[k] * values[k])
		}
		w += weight
		x1 += weight * x
		y1 += weight * values[k]
		xx += weight * x * x
		xy += weight * x * values[k]
	}
	if t == nil {
		return y1 / w, 0, w > 0
	}
	d := w*xx - x1*x1
	if !(d > 1e-12*w*xx) {
		return 0, 0, false
	}
	c = (w*xy - x1*y1) / d
	return (y1 - c*x1) / w, c, true
}

// String writes a model as Extra-P does: 3.1 + 0.02 · n^(1/2) · log2(n).
func (m *Model) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.3g", m.C0)
	for _, t := range m.Terms {
		sign := "+"
		if t.C < 0 {
			sign = "-"
		}
		fmt.Fprintf(&b, " %s %.3g%s", sign, math.Abs(t.C), t.Growth())
	}
	return b.String()
}

// Growth is the shape of a term in words of mathematics, " · n · log2(n)".
func (t *Term) Growth() string {
	s := ""
	switch {
	case t.I == 1:
		s += " · n"
	case t.I != 0:
		s += " · n^" + fraction(t.I)
	}
	switch {
	case t.J == 1:
		s += " · log2(n)"
	case t.J != 0:
		s += fmt.Sprintf(" · log2(n)^%g", t.J)
	}
	return s
}

// fraction writes an exponent: 2, (3/4), -1.
func fraction(v float64) string {
	for _, d := range []float64{1, 2, 3, 4} {
		if n := v * d; math.Abs(n-math.Round(n)) < 1e-9 {
			if d == 1 {
				return strconv.Itoa(int(math.Round(n)))
			}
			return fmt.Sprintf("(%d/%d)", int(math.Round(n)), int(d))
		}
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func mean(v []float64) float64 { return total(v) / float64(len(v)) }
