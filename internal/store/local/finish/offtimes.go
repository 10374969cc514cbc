package finish

import (
	"github.com/parallax-hpc/parallax/internal/clock"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A recorder that is on now and then leaves times without a call that are no work. Few sources say when it was off, so
// it is told from the gaps: they are few, all locations have them at once, they are most of the time and far longer
// than all other gaps, and the windows between them hold many calls, each of them several times. A run that computes
// long between calls has as many such gaps as steps, and some call once a step.

const (
	longGap      = 128 // gaps of the 128th part of the run and more are long
	leastOff     = 10  // a time that the recorder was off is so many long gaps at least
	mostOff      = 7
	leastBlank   = 0.8 // part of the run in which the recorder was off
	windowCalls  = 64  // of a location in a window, in the mean
	windowRounds = 3   // of each call that all windows have
)

// offTimes are the times in which the recorder may have been off.
type offTimes struct {
	long   trace.Time // gaps from this length on are long
	common []gap      // the parts of long gaps that all locations share, on the common clock
	any    bool       // a location was seen
	found  bool       // the recorder was off in all long gaps
}

func (o *offTimes) has(g gap) bool { return g.end-g.begin >= o.long }

// take adds a gap to the long ones of a location, as many as matter.
func (o *offTimes) take(long []gap, g gap) []gap {
	if o.has(g) && len(long) <= mostOff {
		long = append(long, g)
	}
	return long
}

// share keeps the parts of gaps that a further location has too.
func (o *offTimes) share(long []gap, line clock.Line) {
	for i := range long {
		long[i] = gap{line.At(long[i].begin), line.At(long[i].end)}
	}
	if !o.any {
		o.any, o.common = true, long
		return
	}
	if len(long) != len(o.common) {
		o.common = nil
		return
	}
	for i, g := range long {
		c := &o.common[i]
		c.begin, c.end = max(c.begin, g.begin), min(c.end, g.end)
	}
}

// areWindows reports whether the recorder was off in the long gaps of locations.
func (f *finisher) areWindows(x *inference) bool {
	o := &x.off
	if len(o.common) == 0 || len(o.common) > mostOff {
		return false
	}
	blank := trace.Time(0)
	for _, g := range o.common {
		if g.end-g.begin < leastOff*o.long {
			return false
		}
		blank += g.end - g.begin
	}
	if float64(blank) < leastBlank*float64(f.end) {
		return false
	}
	windows := len(o.common) + 1
	for _, id := range f.order.old {
		if x.rows[id].count == 0 {
			continue
		}
		calls, all := map[trace.RegionID]int{}, 0
		f.eachCall(f.Streams[id], func(c *call) bool {
			if !c.leave {
				calls[c.region]++
				all++
			}
			return true
		})
		for _, n := range calls {
			if n >= windows && n < windowRounds*windows {
				return false
			}
		}
		return all >= windowCalls*windows // one location is like the others
	}
	return false
}
