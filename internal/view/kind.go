package view

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A RunKind is the kind of a run in a word: the views to look at first depend on it.
type RunKind string

// The kinds, in the order in which they are asked for.
const (
	KindRequests RunKind = "requests" // spans of services
	KindGPU      RunKind = "gpu"      // a job with work on devices
	KindGo       RunKind = "go"       // goroutines on processors
	KindMoments  RunKind = "moments"  // data of a recorder, without intervals
	KindProfile  RunKind = "profile"  // sums by call path, without time
	KindRanks    RunKind = "ranks"    // many that work together
	KindThreads  RunKind = "threads"  // one process, or a few rows
	KindOther    RunKind = "other"    // counters or instants alone
)

// manyRows is from how many rows on a run is one of many that work together, where its
// format knows no ranks.
const manyRows = 16

// KindOf returns the kind of a run, by its content and never by its format.
// O(locations).
func KindOf(r store.Reader) RunKind {
	i, lanes := r.Info(), r.Lanes()
	acts := func(kinds ...trace.Kind) bool {
		for id, k := range r.Locations().Kind {
			if slices.Contains(kinds, k) && lanes[id] < lanes[id+1] {
				return true
			}
		}
		return false
	}
	switch {
	case i.Intervals == 0 && hasMoments(r):
		return KindMoments
	case i.Profile > 0 && onlyAside(r):
		return KindProfile
	case i.Intervals == 0:
		return KindOther
	case runfacts.HasSpans(r):
		return KindRequests
	case acts(trace.KindStream, trace.KindDevice):
		return KindGPU
	case acts(trace.KindGoroutine):
		return KindGo
	case i.Ranks > 1 || i.Rows >= manyRows:
		return KindRanks
	}
	return KindThreads
}

// onlyAside reports whether no interval counts: there are none, or all are samples.
func onlyAside(r store.Reader) bool { return !slices.Contains(r.Locations().Holds, true) }
