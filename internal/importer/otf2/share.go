package otf2

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/match"
)

// Parts of a run read the definitions, and the events of their own locations. The last one reads the markers, which
// may be about any location.

func lastOf(s match.Sharer) bool {
	if s == nil {
		return true
	}
	part, of := s.Share()
	return part == of
}

// ownLocations returns the locations that are read, of those that have events.
func (a *archive) ownLocations(order []int32) []int32 {
	s := a.matcher.Sharer
	if s == nil {
		return order
	}
	sizes := make([]int64, len(order))
	for i, at := range order {
		sizes[i] = a.files.sizes[a.files.events[a.defs.locations[at].id]]
	}
	part, of := s.Share()
	first, end := match.Own(sizes, part, of)
	return order[first:end]
}

// tell gives the store what the other parts need, and forgets what is told for all of them together.
func (a *archive) tell(s match.Sharer) {
	f := match.Facts{Alone: aloneWords, Unsure: unsureWords, Example: base(a.files.anchor),
		Lines: a.totals.told(a.label), Sums: map[string]int64{}}
	for _, p := range a.tree.places {
		f.Places = append(f.Places, p.id)
	}
	for i, p := range a.tree.processes {
		f.Processes = append(f.Processes, p.place)
		if a.matcher.Incomplete[i] {
			f.Incomplete = append(f.Incomplete, int32(i))
		}
	}
	for i := range a.comms {
		f.Communicators = append(f.Communicators, a.comms[i].id)
	}
	for id, n := range a.totals.events {
		f.Sums["otf2 events"] += n
		if n > 0 && id < eventIDs {
			f.Sums["otf2 events "+eventNames[id]] = n
		}
	}
	program := match.First{Place: -1, Properties: map[string]string{}}
	if p := &a.programs; p.name != "" {
		program.Place = int(p.at)
		program.Properties["program"] = p.name
		if text := strings.Join(p.arguments, " "); text != "" {
			program.Properties["arguments"] = text
		}
	}
	f.First = []match.First{program}
	a.totals, a.programs = tallyTotals{}, programName{}
	s.Tell(f)
}
