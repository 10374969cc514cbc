package moment

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
)

// An Outlier says how far a row stands from its peers.
type Outlier struct {
	// Score is the distance in robust standard deviations of the moment that is
	// furthest out; 0 where the row has too few peers, or too little work to matter.
	Score float64
	// Moment is that moment, 0 to 3.
	Moment int
	// Value is its value, Median that of the peers: in ns, of the skew standardised.
	Value, Median float64
	// Impact orders rows that stand out: the score, up to a bound, times the busy time at stake, which is
	// the row's own or its peers'.
	Impact float64
}

// Threshold is the score from which a row stands out: the usual one for distances in
// robust standard deviations (Iglewicz and Hoaglin).
const Threshold = 3.5

const (
	// fewestPeers is how many rows must be alike for one to stand out.
	fewestPeers = 4
	// negligible is the part of the busiest row's work below which a row and its
	// peers do too little for their moments to matter.
	negligible = 0.01
	mostScore  = 20 // that counts in Impact
)

// StandsOut reports whether the row is marked.
func (o *Outlier) StandsOut() bool { return o.Score >= Threshold }

// Outliers compares each row with its peers: rows with the same number in peers,
// all rows where peers is nil. For each moment the distance from the median is
// taken in units of 1.4826 × the median absolute deviation, which half of the rows
// cannot shift; the unit is not let below 2 % of the median (0.5 % of length for m1), so
// that rows which differ by a hair do not stand out among rows that do not differ at all.
// The skew is compared as skewness mu3/mu2^1.5 and its unit not let below leastSkew: m3 is
// a cube root, which makes a long line of an asymmetry of a thousandth. O(n) for each
// moment and group.
func Outliers(rows []Moments, peers []int32, length float64) []Outlier {
	return outliers(rows, peers, length, false)
}

// FewOutliers is Outliers for pictures, where outliers must be few to be seen: the unit is not let below
// the one that the farthest fifth of the rows sets, so that no more than a fifth of the peers stand out in
// a moment. More are another kind of row, not outliers: in a short window half of the ranks may wait while
// the others work.
func FewOutliers(rows []Moments, peers []int32, length float64) []Outlier {
	return outliers(rows, peers, length, true)
}

func outliers(rows []Moments, peers []int32, length float64, few bool) []Outlier {
	out := make([]Outlier, len(rows))
	buffer := make([]float64, 0, len(rows))
	most := 0.0
	for i := range rows {
		most = max(most, rows[i].M0)
	}
	for _, group := range peerGroups(len(rows), peers) {
		if len(group) < fewestPeers {
			continue
		}
		var medians [4]float64
		for k := range medians {
			buffer = buffer[:0]
			for _, i := range group {
				if v := rows[i].compared(k); !math.IsNaN(v) {
					buffer = append(buffer, v)
				}
			}
			if len(buffer) < fewestPeers {
				continue
			}
			centre, deviation := orderstat.Deviation(buffer) // of which the buffer holds the distances now
			medians[k] = centre
			unit := max(deviation, unitFloor(k, centre, length))
			if few { // of a normal distribution four fifths are within 1.2816 deviations
				unit = max(unit, orderstat.Nth(buffer, (len(buffer)-1)*4/5)/1.2816)
			}
			if !(unit > 0) {
				continue
			}
			for _, i := range group {
				stake := max(rows[i].M0, medians[0])
				v := rows[i].compared(k)
				if score := math.Abs(v-centre) / unit; score > out[i].Score && stake >= negligible*most {
					out[i] = Outlier{score, k, v, centre, min(score, mostScore) * stake}
				}
			}
		}
	}
	return out
}

// leastSkew is the least unit of skewness: to stand out takes 3.5 times as much. One bar
// has 0, an exponential tail has 2.
const leastSkew = 0.1

func unitFloor(k int, median, length float64) float64 {
	switch k {
	case 1:
		return 0.005 * length
	case 3:
		return leastSkew
	}
	return 0.02 * math.Abs(median)
}

// Skewness is mu3/mu2^1.5: the skew as a pure number, as it is compared.
func (m *Moments) Skewness() float64 {
	if m.M3 == 0 {
		return 0
	}
	return m.Mu3() / math.Pow(m.Mu2(), 1.5)
}

// compared returns the value by which moment k is compared.
func (m *Moments) compared(k int) float64 {
	if k == 3 && !m.Empty() {
		return m.Skewness()
	}
	return m.At(k)
}

// At returns moment k.
func (m *Moments) At(k int) float64 {
	switch k {
	case 0:
		return m.M0
	case 1:
		return m.M1
	case 2:
		return m.M2
	}
	return m.M3
}

// peerGroups returns the rows of each group.
func peerGroups(n int, peers []int32) [][]int32 {
	if peers == nil {
		peers = make([]int32, n)
	}
	most := int32(-1)
	for _, p := range peers {
		most = max(most, p)
	}
	groups := make([][]int32, most+1)
	for i, p := range peers {
		groups[p] = append(groups[p], int32(i))
	}
	return groups
}
