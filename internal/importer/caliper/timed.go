package caliper

import (
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// timed turns snapshots that have a time into intervals: events of an event trace, and
// activities of a GPU.
type timed struct {
	*converter
	rows importer.Rows
}

func (t *timed) stream(at trace.LocationID) trace.Stream {
	return t.rows.At(at, trace.StreamOptions{Unordered: true}).Stream
}

// take reports whether a snapshot was an event with a time.
func (t *timed) take(s *snapshot) bool {
	var at, start, end, device float64
	var hasTime, hasStart, hasEnd bool
	for _, v := range s.numbers {
		switch v.of.name {
		case "time.offset.ns":
			at, hasTime = v.n, true
		case "time.offset":
			at, hasTime = v.n*1000, true
		case "cupti.activity.start":
			start, hasStart = v.n, true
		case "cupti.activity.end":
			end, hasEnd = v.n, true
		case "cupti.device.id", "cupti.deviceId":
			device = v.n
		}
	}
	if hasStart && hasEnd {
		return t.activity(s, start, end, int64(device))
	}
	if !hasTime {
		return false
	}
	for key, name := range s.facts {
		if category, ok := strings.CutPrefix(key, "event.begin#"); ok {
			t.stream(t.location(s)).Enter(trace.Time(at), t.region(step{name, category}))
			return true
		}
		if category, ok := strings.CutPrefix(key, "event.end#"); ok {
			t.stream(t.location(s)).Leave(trace.Time(at), t.region(step{name, category}))
			return true
		}
	}
	return false
}

// activity adds an activity of a GPU. The innermost part of the path names it.
func (t *timed) activity(s *snapshot, start, end float64, device int64) bool {
	if len(s.path) == 0 {
		return false
	}
	owner := t.location(s)
	number := strconv.FormatInt(device, 10)
	at := t.w.Location(trace.Location{Parent: owner, Kind: trace.KindDevice, Key: number, Name: "GPU " + number,
		Rank: trace.NoRank, Order: 1<<40 + device})
	last := s.path[len(s.path)-1]
	if last.category == "cupti.kernel.name" {
		last.category = "kernel"
	}
	t.stream(at).Interval(trace.Time(start), trace.Time(end), t.region(last))
	return true
}
