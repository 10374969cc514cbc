package moment

import "math"

// An Alignment says how well the rows of a run line up, which is the aim of tuning: "moments such as m0 and
// m1 are more aligned, and moments such as m2 and m3 consume less display area". All parts are shares.
type Alignment struct {
	// Score is M0 × M1: 1 where all rows work as much and at the same time.
	Score float64 `json:"score"`
	// M0 is the share of the busy time that is in the right row: the rest would
	// have to move for all rows to work as much (1 minus Hoover's index).
	M0 float64 `json:"m0"`
	// M1 is 1 minus the mean distance of m1 from its mean, weighted by busy time, as
	// a share of half the window, which is the largest there can be.
	M1 float64 `json:"m1"`
	// Deviation and Skew are the mean share of a row that the black bars and the
	// skew lines take; less is better.
	Deviation float64 `json:"deviation"`
	Skew      float64 `json:"skew"`
	// Utilization is the mean share of a row that is busy.
	Utilization float64 `json:"utilization"`
}

// Align rates rows in a window of that length. O(n).
func Align(rows []Moments, length float64) Alignment {
	var work, mean, moved, apart, black, skew float64
	for i := range rows {
		if m := &rows[i]; !m.Empty() {
			work += m.M0
			mean += m.M0 * m.M1
			black += max(2*m.M2-m.M0, 0)
			skew += math.Abs(m.M3)
		}
	}
	n := float64(len(rows))
	if n == 0 || work == 0 || !(length > 0) {
		return Alignment{}
	}
	mean /= work
	for i := range rows {
		moved += math.Abs(rows[i].M0 - work/n)
		if !rows[i].Empty() {
			apart += rows[i].M0 * math.Abs(rows[i].M1-mean)
		}
	}
	a := Alignment{
		M0: 1 - moved/(2*work), M1: max(0, 1-2*apart/(work*length)),
		Deviation: black / (n * length), Skew: skew / (n * length), Utilization: work / (n * length),
	}
	a.Score = a.M0 * a.M1
	return a
}
