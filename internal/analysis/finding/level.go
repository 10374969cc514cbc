package finding

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
)

// Shares of their time that those who are hit lose.
const (
	HighShare   = 0.05
	MediumShare = 0.02
)

// LevelOf returns the level of a loss, given as a share of the time of the affected locations. A loss below
// MediumShare is Low and not worth a finding of its own.
func LevelOf(hit float64) Level {
	switch {
	case hit >= HighShare:
		return High
	case hit >= MediumShare:
		return Medium
	}
	return Low
}

// AtMost bounds a level, for kinds that cost no one else's time.
func (l Level) AtMost(most Level) Level {
	if l.Rank() < most.Rank() {
		return most
	}
	return l
}

// A Peer is how far one value stands from the others.
type Peer struct {
	Score  float64 // in robust standard deviations
	Value  float64
	Median float64
}

// Peers compares values, none of them negative, with package moment's robust
// distance. Fewer than four are no peers: they get scores of 0. O(n).
func Peers(values []float64) []Peer {
	rows := make([]moment.Moments, len(values))
	for i, v := range values {
		rows[i] = moment.Moments{M0: v, M1: math.NaN(), M2: math.NaN(), M3: math.NaN()}
	}
	out := make([]Peer, len(values))
	middle := orderstat.Median(values)
	for i, o := range moment.Outliers(rows, nil, 1) {
		out[i] = Peer{o.Score, values[i], middle}
	}
	return out
}

// Beyond is the score from which one of n values stands out by more than chance:
// of very many, some are far from the median though all are drawn alike. The largest
// of n normal values lies about √(2 ln n) standard deviations out.
func Beyond(n int) float64 {
	return max(moment.Threshold, math.Sqrt(2*math.Log(float64(max(n, 2))))+1.5)
}

// StandsOut reports whether the value is far from the others.
func (p Peer) StandsOut() bool { return p.Score >= moment.Threshold }

// Apart reports whether the values for which odd is true are a group of their own: a
// gap is between them and the others, as wide as a third of the way from the median
// of all. The far end of a broad distribution has no such gap.
func Apart(values []float64, odd []bool) bool {
	middle := orderstat.Median(values)
	low, high := math.Inf(1), math.Inf(1) // of the gap below and above
	far := 0.0
	restLow, restHigh := math.Inf(1), math.Inf(-1)
	for i, v := range values {
		if !odd[i] {
			restLow, restHigh = min(restLow, v), max(restHigh, v)
		}
	}
	for i, v := range values {
		if odd[i] && v > middle {
			high, far = min(high, v-restHigh), max(far, v-middle)
		} else if odd[i] {
			low, far = min(low, restLow-v), max(far, middle-v)
		}
	}
	return min(low, high) >= far/3
}
