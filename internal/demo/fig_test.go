package demo

import (
	"math"
	"testing"
)

// figureMoments computes m0 … m3 of a chart directly, in ms: the formulas of the
// paper over the intervals, nothing of the product.
func figureMoments(busy [][2]float64) (m [4]float64) {
	for _, b := range busy {
		m[0] += b[1] - b[0]
		m[1] += (b[1]*b[1] - b[0]*b[0]) / 2
	}
	m[1] /= m[0]
	mu := func(k float64) (sum float64) {
		for _, b := range busy {
			sum += (math.Pow(b[1]-m[1], k+1) - math.Pow(b[0]-m[1], k+1)) / (k + 1)
		}
		return sum / m[0]
	}
	m[2], m[3] = math.Sqrt(3*mu(2)), 3*math.Cbrt(mu(3))
	return m
}

func momentsOf(rows []figureRow) (out [][4]float64) {
	for _, r := range rows {
		out = append(out, figureMoments(r.busy))
	}
	return out
}

func alike(a, b, within float64) bool { return math.Abs(a-b) <= within }

func TestFig2ChangesOneMomentAtATime(t *testing.T) {
	m := momentsOf(fig2Rows())
	for k, want := range [][4]bool{{true, false, true, false}, {false, true, false, false}, {false, false, true, false}, {false, false, false, true}} {
		a, b := m[2*k], m[2*k+1]
		for i := range want {
			differs := !alike(a[i], b[i], 0.5)
			if k == 3 && i < 3 {
				continue // turned round: the mean moves with the skew
			}
			if differs != want[i] {
				t.Errorf("pair %d, m%d: %v and %v", k, i, a[i], b[i])
			}
		}
	}
	for _, i := range []int{0, 1, 2, 3, 4} {
		if !alike(m[i][2], m[i][0]/2, 1e-9) {
			t.Errorf("row %d is unbroken, m2 = %v of m0 = %v", i, m[i][2], m[i][0])
		}
	}
	for i := range 6 {
		if !alike(m[i][3], 0, 1e-3) {
			t.Errorf("row %d is symmetric, m3 = %v", i, m[i][3])
		}
	}
	if m[5][2] < 1.5*m[5][0]/2 || m[6][3] < 20 || m[7][3] > -20 {
		t.Errorf("interrupted %v, skewed %v and %v", m[5], m[6], m[7])
	}
}

func TestFig4HasWhatThePaperStates(t *testing.T) {
	m := momentsOf(fig4Rows())
	early := 0
	for _, x := range m {
		if x[1] < figureLength/2 {
			early++
		}
	}
	if early != len(m)/2 {
		t.Errorf("%d of %d work early", early, len(m))
	}
	top, second, last := m[0], m[1], m[len(m)-1]
	if top[2] > 1.1*top[0]/2 {
		t.Errorf("the topmost is not nearly unbroken: %v", top)
	}
	if second[2] < 1.4*second[0]/2 || second[3] <= top[3] || second[3] <= 0 {
		t.Errorf("the second has no more idle time late: %v", second)
	}
	// Table II: small, small, large, large and positive, beside the others.
	for i, x := range m[:len(m)-1] {
		if last[0] >= x[0] || last[2]/last[0] <= x[2]/x[0] || last[3] <= x[3] {
			t.Errorf("the lowermost %v does not stand out from row %d: %v", last, i, x)
		}
	}
	if last[1] > 0.25*figureLength || last[2] < 3*last[0]/2 {
		t.Errorf("the lowermost: %v", last)
	}
}

func TestFig5LowestTwoRowsDifferInNormAndDeviationAlone(t *testing.T) {
	m := momentsOf(fig5Rows())
	a, b := m[len(m)-2], m[len(m)-1]
	if !alike(a[1], b[1], 2) || !alike(a[3], b[3], 6) {
		t.Errorf("mean and skew differ: %v, %v", a, b)
	}
	if b[0] > 0.7*a[0] || b[2]-b[0]/2 < 1.5*(a[2]-a[0]/2) {
		t.Errorf("norm or deviation are alike: %v, %v", a, b)
	}
	gap := func(busy [][2]float64) (most float64) {
		for i := 1; i < len(busy); i++ {
			if busy[i][0] > figureLength/2 {
				most = max(most, busy[i][0]-busy[i-1][1])
			}
		}
		return most
	}
	rows := fig5Rows()
	if gap(rows[15].busy) < 5*gap(rows[14].busy) {
		t.Error("the lowermost has no larger gaps late")
	}
}

func TestFig6MakesAreas(t *testing.T) {
	rows := fig6Rows()
	m := momentsOf(rows)
	if len(m) != 128 {
		t.Fatalf("%d processors", len(m))
	}
	for i := 1; i < len(m); i++ {
		if edge := i == 48 || i == 64 || i == 100 || i == 101; !edge && !alike(m[i][1], m[i-1][1], 2) {
			t.Errorf("rows %d and %d: m1 jumps from %v to %v", i-1, i, m[i-1][1], m[i][1])
		}
	}
	if m[55][2]/m[55][0] < 1.25*m[70][2]/m[70][0] || m[100][1] < m[99][1]+20 {
		t.Errorf("the band or the late row is missing: %v, %v, %v", m[55], m[70], m[100])
	}
}

func TestFiguresSpanTheWholeRunWithoutOverlap(t *testing.T) {
	for _, rows := range [][]figureRow{fig2Rows(), fig4Rows(), fig5Rows(), fig6Rows()} {
		for _, r := range rows {
			last := 0.0
			for _, b := range r.busy {
				if b[0] < last || b[1] <= b[0] || b[1] > figureLength {
					t.Errorf("%s: %v after %v", r.name, b, last)
				}
				last = b[1]
			}
		}
	}
	for _, name := range []string{"fig2", "fig4", "fig5", "fig6"} {
		if d, _ := Find(name); collect(t, name, Options{}).count() != d.Options.Intervals {
			t.Errorf("%s does not have the %d intervals it says", name, d.Options.Intervals)
		}
	}
}
