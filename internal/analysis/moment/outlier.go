package moment

import (
	"math"
	"slices"
)

// An Outlier says how far a row stands from its peers.
type Outlier struct {
	// Score is the distance in robust standard deviations of the moment that is
	// furthest out; 0 where the row has too few peers.
	Score float64
	// Moment is that moment, 0 to 3.
	Moment int
	// Value is its value, Median that of the peers, in ns.
	Value, Median float64
}

// Threshold is the score from which a row stands out.
const Threshold = 5

// fewestPeers is how many rows must be alike for one to stand out.
const fewestPeers = 4

// StandsOut reports whether the row is marked.
func (o *Outlier) StandsOut() bool { return o.Score >= Threshold }

// Outliers compares each row with its peers: rows with the same number in peers,
// all rows where peers is nil. For each moment the distance from the median is
// taken in units of 1.4826 × the median absolute deviation, which half of the rows
// cannot shift; the unit is not let below 2 % of the median (of m2 for the skew,
// 0.5 % of length for m1), so that rows which differ by a hair do not stand out
// among rows that do not differ at all. O(n) for each moment and group of peers.
func Outliers(rows []Moments, peers []int32, length float64) []Outlier {
	out := make([]Outlier, len(rows))
	buffer := make([]float64, 0, len(rows))
	for _, group := range peerGroups(len(rows), peers) {
		if len(group) < fewestPeers {
			continue
		}
		median2 := 0.0
		for _, k := range []int{0, 1, 2, 3} {
			buffer = buffer[:0]
			for _, i := range group {
				if v := rows[i].At(k); !math.IsNaN(v) {
					buffer = append(buffer, v)
				}
			}
			if len(buffer) < fewestPeers {
				continue
			}
			median := selectNth(buffer, len(buffer)/2)
			for i, v := range buffer {
				buffer[i] = math.Abs(v - median)
			}
			if k == 2 {
				median2 = median
			}
			unit := 1.4826 * selectNth(buffer, len(buffer)/2)
			unit = max(unit, unitFloor(k, median, median2, length))
			if !(unit > 0) {
				continue
			}
			for _, i := range group {
				v := rows[i].At(k)
				if score := math.Abs(v-median) / unit; score > out[i].Score {
					out[i] = Outlier{score, k, v, median}
				}
			}
		}
	}
	return out
}

func unitFloor(k int, median, median2, length float64) float64 {
	switch k {
	case 1:
		return 0.005 * length
	case 3: // a cube root: small asymmetries make large skews
		return 0.1 * median2
	}
	return 0.02 * math.Abs(median)
}

// At gives moment k.
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

// peerGroups gives the rows of each group.
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

// selectNth puts the nth smallest value in its place and gives it: quickselect with
// the median of three, O(n) expected.
func selectNth(a []float64, n int) float64 {
	lo, hi := 0, len(a)-1
	for hi-lo > 12 {
		mid := lo + (hi-lo)/2
		if a[mid] < a[lo] {
			a[mid], a[lo] = a[lo], a[mid]
		}
		if a[hi] < a[lo] {
			a[hi], a[lo] = a[lo], a[hi]
		}
		if a[hi] < a[mid] {
			a[hi], a[mid] = a[mid], a[hi]
		}
		pivot := a[mid]
		i, j := lo, hi
		for i <= j {
			for a[i] < pivot {
				i++
			}
			for a[j] > pivot {
				j--
			}
			if i <= j {
				a[i], a[j] = a[j], a[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			hi = j
		case n >= i:
			lo = i
		default:
			return a[n]
		}
	}
	slices.Sort(a[lo : hi+1])
	return a[n]
}
