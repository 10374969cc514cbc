package step

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Launches are how a GPU's work was launched.
type Launches struct {
	Count int
	// Call is how long launching calls take, Work how long what they start runs, Delay from the end of
	// a call to the begin of its work.
	Call, Work, Delay Spread
	// Short is how many works take less time than the call that launched them.
	Short int
	// Queue is how many works were launched and not yet begun: on average over the time from the first
	// launch to the last begin, and at most.
	QueueMean float64
	QueueMost int
}

// A Spread is a distribution in short, in nanoseconds.
type Spread struct {
	Mean               float64
	Median, P98, Least trace.Time
	Most               trace.Time
}

func spreadOf(list []trace.Time) Spread {
	if len(list) == 0 {
		return Spread{}
	}
	slices.Sort(list)
	sum := 0.0
	for _, x := range list {
		sum += float64(x)
	}
	n := len(list)
	return Spread{Mean: sum / float64(n), Median: list[(n-1)/2], P98: list[(n-1)*98/100], Least: list[0], Most: list[n-1]}
}

// launchesOf measures the launches of work whose call is known. O(n log n).
func launchesOf(works []Work) (l Launches) {
	all := make([]trace.Time, 5*len(works))
	column := func(k int) []trace.Time { return all[k*len(works) : k*len(works) : (k+1)*len(works)] }
	call, run, delay, called, begun := column(0), column(1), column(2), column(3), column(4)
	for i := range works {
		w := &works[i]
		if !w.Launched() {
			continue
		}
		call, run, delay = append(call, w.Returned-w.Called), append(run, w.End-w.Begin), append(delay, w.Begin-w.Returned)
		called, begun = append(called, w.Called), append(begun, max(w.Begin, w.Called))
		if w.End-w.Begin < w.Returned-w.Called {
			l.Short++
		}
	}
	l.Count = len(call)
	l.Call, l.Work, l.Delay = spreadOf(call), spreadOf(run), spreadOf(delay)
	slices.Sort(called)
	slices.Sort(begun)
	waiting, area, last := 0, 0.0, trace.Time(0)
	for i, k := 0, 0; k < len(begun); {
		at := begun[k]
		if i < len(called) && called[i] <= at {
			at = called[i]
		}
		area += float64(waiting) * float64(at-last)
		last = at
		for i < len(called) && called[i] == at {
			waiting++
			i++
		}
		l.QueueMost = max(l.QueueMost, waiting)
		for k < len(begun) && begun[k] == at {
			waiting--
			k++
		}
	}
	if n := len(called); n > 0 && begun[n-1] > called[0] {
		l.QueueMean = area / float64(begun[n-1]-called[0])
	}
	return l
}
