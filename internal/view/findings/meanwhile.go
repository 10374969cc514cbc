package findings

import (
	"cmp"
	"errors"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A meanwhile is how busy processors were while goroutines waited for one. From begin
// to end most of the waiting happened.
type meanwhile struct {
	waits      int     // that were looked at
	busy       float64 // share
	processors float64 // mean number
	begin, end trace.Time
}

const (
	// mostWaits is how many waits are looked at.
	mostWaits = 256
	// edgeShare of them lies before, and after, the time in which most happened.
	edgeShare = 0.02
)

// meanwhile takes a sample of the waits, evenly spread over all time waited too long, and
// asks how busy processors were in exactly these. Slices of time would not do: waits come
// in bursts, and in a long run a slice holds a burst and the quiet after it.
// O(mostWaits × (intervals of a goroutine, at most mostStays, + processors × log intervals)).
func (s *scheduler) meanwhile() (m meanwhile, err error) {
	waits, err := s.sampleWaits()
	if err != nil || len(waits) == 0 {
		return m, err
	}
	m.waits = len(waits)
	for _, w := range waits {
		roles, err := s.store.RoleTime(s.ctx, s.processors, []trace.Time{w.begin, w.end})
		if err != nil {
			return m, err
		}
		busy := 0.0
		for r := range trace.Role(trace.RoleCount) {
			if r != trace.RoleIdle && r != trace.RoleNone {
				busy += roles[r].Float64()
			}
		}
		capacity := s.capacityOf(w.begin, w.end)
		m.busy += min(busy/max(capacity, 1), 1) / float64(m.waits)
		m.processors += capacity / float64(w.end-w.begin) / float64(m.waits)
	}
	edge := int(edgeShare * float64(m.waits))
	slices.SortFunc(waits, func(a, b waitSpan) int { return cmp.Compare(a.begin, b.begin) })
	m.begin = waits[edge].begin
	slices.SortFunc(waits, func(a, b waitSpan) int { return cmp.Compare(a.end, b.end) })
	m.end = waits[m.waits-1-edge].end
	return m, nil
}

type waitSpan struct{ begin, end trace.Time }

// sampleWaits takes waits at even distances along the time waited too long, goroutine
// after goroutine, and within one along all its waits: a wait twice as long is
// twice as likely to be taken.
func (s *scheduler) sampleWaits() (out []waitSpan, err error) {
	sum := 0.0
	for _, l := range s.late {
		sum += l.late
	}
	step := sum / mostWaits
	before, next := 0.0, step/2
	for _, l := range s.late {
		if next < before+l.late {
			waits, err := s.waitsOf(l.id)
			if err != nil {
				return nil, err
			}
			for ; next < before+l.late; next += step {
				if w, ok := along(waits, (next-before)/l.late); ok {
					out = append(out, w)
				}
			}
		}
		before += l.late
	}
	return out, nil
}

// waitsOf gives the waits of a goroutine for a processor that begin in the selection.
func (s *scheduler) waitsOf(id trace.LocationID) (waits []waitSpan, err error) {
	seen := 0
	err = s.store.Intervals(s.ctx, store.Window{Begin: s.window.Begin, End: s.window.End, Locations: []trace.LocationID{id}}, func(x *trace.Columns) error {
		for i, r := range x.Region {
			if g := &s.regions[r]; g.Name == stateRunnable && g.Category == "state" && x.Duration[i] > 0 && x.Begin[i] < s.window.End {
				waits = append(waits, waitSpan{x.Begin[i], min(x.End(i), s.window.End)})
			}
		}
		if seen += x.Len(); seen >= mostStays {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return waits, err
}

// along finds the wait at a part of the way along all of them.
func along(waits []waitSpan, part float64) (waitSpan, bool) {
	sum := trace.Time(0)
	for _, w := range waits {
		sum += w.end - w.begin
	}
	to := trace.Time(part * float64(sum))
	for _, w := range waits {
		if to -= w.end - w.begin; to < 0 {
			return w, true
		}
	}
	return waitSpan{}, false
}
