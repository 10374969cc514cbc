package step

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Launches are how a GPU's work was launched.
type Launches struct {
	Count int
	// Call is the time of launching calls, Work the time of the work they start, Delay the time from the
	// end of a call to the begin of its work.
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
	n := len(list)
	s := Spread{Least: list[0], Most: list[0]}
	sum, size := trace.Time(0), 0.0
	for _, x := range list {
		s.Least, s.Most = min(s.Least, x), max(s.Most, x)
		sum += x
		size += math.Abs(float64(x))
	}
	s.Mean = float64(sum) / float64(n)
	if size >= 1<<53 { // more than a float64 adds up exactly: in one order for all
		slices.Sort(list)
		s.Mean = 0
		for _, x := range list {
			s.Mean += float64(x)
		}
		s.Mean /= float64(n)
	}
	at := (n - 1) / 2
	s.Median = nth(list, at)
	s.P98 = nth(list[at:], (n-1)*98/100-at)
	return s
}

// nth returns the value that would be at k if the list were sorted; nothing before k is larger then, and nothing behind
// it smaller. O(n).
func nth(list []trace.Time, k int) trace.Time {
	for tries := 0; len(list) > 24; tries++ {
		if tries == 64 { // hardly ever: no choice of a middle helps
			break
		}
		a, b, c := list[len(list)/4], list[len(list)/2], list[len(list)-1-len(list)/4]
		middle := max(min(a, b), min(max(a, b), c))
		lo, hi := 0, len(list)-1
		for lo <= hi {
			for list[lo] < middle {
				lo++
			}
			for list[hi] > middle {
				hi--
			}
			if lo <= hi {
				list[lo], list[hi] = list[hi], list[lo]
				lo++
				hi--
			}
		}
		switch {
		case k <= hi:
			list = list[:hi+1]
		case k >= lo:
			list, k = list[lo:], k-lo
		default:
			return middle
		}
	}
	slices.Sort(list)
	return list[k]
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
		call, run, delay = append(call, w.Returned-w.Called), append(run, w.End-w.Begin),
			append(delay, w.Begin-w.Returned)
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
