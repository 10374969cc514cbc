package timeline

import "github.com/parallax-hpc/parallax/internal/view"

// contentNotes lists the content that is not drawn as it is.
func contentNotes(in *input, c *content) (out notes) {
	loose := false
	eachSpan(c.leaves, func(s *span) { loose = loose || s.loose })
	if loose {
		out.add("counts of aggregates include intervals of regions that are not selected")
	}
	if c.fullShare < 1 {
		out.add("the full height of a group's row means %s of its locations", view.FormatShare(c.fullShare))
	}
	out = append(out, c.links.notes()...)
	if len(in.opt.counters) > 0 {
		out = append(out, c.counters.notes()...)
	}
	if c.critical != nil {
		out = append(out, c.critical.notes(in.selection)...)
	}
	return out
}

func (s *linkSet) notes() (out notes) {
	if s.many > 0 {
		out.add("%s links are too many to look at; choose a shorter time or fewer locations to see them",
			view.Thousands(s.many))
	}
	if n := s.inside - s.called; n > 0 {
		out.add("not drawn: %s between places on one row", count(n, "link"))
	}
	if s.called > 0 {
		out.add("not drawn: %s from a caller on the same row", count(s.called, "link"))
	}
	if s.hidden > 0 {
		out.add("not drawn: %s to or from rows that are not shown", count(s.hidden, "link"))
	}
	if len(s.bursts) > 0 {
		n := int64(0)
		for _, b := range s.bursts {
			n += b.count
		}
		out.add("%s too dense to draw: %s for those that start near each other", count(n, "link"),
			count(int64(len(s.bursts)), "symbol"))
	}
	return out
}

func (s *counterSet) notes() (out notes) {
	if s.found > len(s.list) {
		out.add("%d of %d counters are drawn; choose fewer by --counters or --locations", len(s.list), s.found)
	}
	if len(s.list) == 0 {
		out.add("no counter of the rows shown matches --counters")
	}
	if s.many > 0 {
		out.add("%s links are too many to tell queues from; choose a shorter time or fewer locations",
			view.Thousands(s.many))
	}
	return out
}
