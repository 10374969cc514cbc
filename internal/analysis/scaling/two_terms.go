package scaling

import "math"

const (
	// sizesForTwo is how many sizes a model of two terms needs: each is foretold from the
	// others, and those must be more than the numbers that are fitted.
	sizesForTwo = 6
	// goodEnough is the error of one term below which a second is not asked for.
	goodEnough = 0.01
)

// secondTerm looks for two terms that predict clearly better than the one found: divided work falls while
// exchanged data grows. Both must add, as one alone must.
func secondTerm(sizes, values []float64, shapes []Term, one Model) Model {
	if distinct(sizes) < sizesForTwo || one.Error <= goodEnough {
		return one
	}
	columns := make([][]float64, len(shapes)) // each brought to a largest value of 1
	scale := make([]float64, len(shapes))
	for k := range shapes {
		columns[k] = make([]float64, len(sizes))
		for i, n := range sizes {
			columns[k][i] = shapes[k].shape(n)
			scale[k] = max(scale[k], math.Abs(columns[k][i]))
		}
		for i := range columns[k] {
			columns[k][i] /= scale[k]
		}
	}
	least, best := one.Error*clearly, one
	for a := range shapes {
		for b := a + 1; b < len(shapes); b++ {
			c, ok := plane(columns[a], columns[b], values, -1)
			if !ok || c[1] <= 0 || c[2] <= 0 {
				continue
			}
			if e := crossedTwo(columns[a], columns[b], values, least); e < least*(1-1e-6) {
				least = e
				x, y := shapes[a], shapes[b]
				x.C, y.C = c[1]/scale[a], c[2]/scale[b]
				best = Model{C0: c[0], Terms: []Term{x, y}, Error: e}
			}
		}
	}
	return best
}

func distinct(sizes []float64) int {
	seen := map[float64]bool{}
	for _, n := range sizes {
		seen[n] = true
	}
	return len(seen)
}

// crossedTwo is the error where each value is foretold from the others; it stops past most.
func crossedTwo(x, y, values []float64, most float64) float64 {
	sum, end := 0.0, most*float64(len(values))
	for k := range values {
		c, ok := plane(x, y, values, k)
		if !ok {
			return math.Inf(1)
		}
		v := c[0] + c[1]*x[k] + c[2]*y[k]
		if scale := math.Abs(v) + math.Abs(values[k]); scale > 0 {
			sum += 2 * math.Abs(v-values[k]) / scale
		}
		if sum > end {
			break
		}
	}
	return sum / float64(len(values))
}

// plane fits c0 + c1·x + c2·y to all values but one, by least squares of relative errors as
// line does.
func plane(x, y, values []float64, without int) (c [3]float64, ok bool) {
	var m [3][4]float64 // normal equations
	for k := range values {
		if k == without {
			continue
		}
		weight := 1.0
		if values[k] != 0 {
			weight = 1 / (values[k] * values[k])
		}
		row := [4]float64{1, x[k], y[k], values[k]}
		for i := range 3 {
			for j := range 4 {
				m[i][j] += weight * row[i] * row[j]
			}
		}
	}
	for i := range 3 { // Gauss, the largest first
		at := i
		for r := i + 1; r < 3; r++ {
			if math.Abs(m[r][i]) > math.Abs(m[at][i]) {
				at = r
			}
		}
		m[i], m[at] = m[at], m[i]
		if !(math.Abs(m[i][i]) > 1e-12*math.Abs(m[i][3])) || m[i][i] == 0 {
			return c, false
		}
		for r := range 3 {
			if r == i {
				continue
			}
			f := m[r][i] / m[i][i]
			for j := i; j < 4; j++ {
				m[r][j] -= f * m[i][j]
			}
		}
	}
	for i := range 3 {
		if c[i] = m[i][3] / m[i][i]; math.IsNaN(c[i]) || math.IsInf(c[i], 0) {
			return c, false
		}
	}
	return c, true
}
