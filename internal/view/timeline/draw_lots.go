package timeline

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The region that a bin shows at a random instant is a draw in which each region has as
// many lots as it has time. The draw hangs on the bin alone, so that a picture is the
// same each time, and rows and digests agree.

// lots reports whether a rule draws, and whether instants with nothing open take part.
func (r *rule) lots() (draws, withNone bool) {
	return r.show == random || r.show == randomOpen, r.show == random
}

// lot returns the number of the lot that is drawn for a bin, below the time it has.
func (r *rule) lot(begin, width, open trace.Time) trace.Time {
	total := open
	if _, none := r.lots(); none {
		total = max(open, width)
	}
	if total <= 0 {
		return 0
	}
	x := uint64(begin)*0x9E3779B97F4A7C15 + uint64(open)
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return trace.Time((x ^ x>>31) % uint64(total))
}

// drawRegion finds whose lot it is among regions, which it sorts; NoRegion where it is
// none of theirs.
func drawRegion(list []share.Entry, lot trace.Time) trace.RegionID {
	slices.SortFunc(list, func(a, b share.Entry) int { return cmp.Compare(a.Region, b.Region) })
	for _, e := range list {
		if lot -= e.Time; lot < 0 {
			return e.Region
		}
	}
	return trace.NoRegion
}

// drawRole does so among roles.
func drawRole(time *[trace.RoleCount]trace.Time, lot trace.Time) trace.Role {
	for i, t := range time[1:] {
		if lot -= t; lot < 0 {
			return trace.Role(i + 1)
		}
	}
	return trace.RoleNone
}

// drawDigest decides a bin by lot; false if nothing is open at the instant drawn. If
// the digest does not list the time of every region the rows must be looked at.
func (r *rule) drawDigest(d *share.Digest, s *span) bool {
	open := d.Open()
	lot := r.lot(s.begin, s.end-s.begin, open)
	if lot >= open {
		return false
	}
	if r.key != byRegion {
		s.role = drawRole(&d.Role, lot)
		return true
	}
	list := slices.Clone(d.Top[:d.Count])
	for _, e := range list {
		open -= e.Time
	}
	if open != 0 || d.Slack > 0 {
		s.pending = true
		return true
	}
	if s.region = drawRegion(list, lot); s.region != trace.NoRegion {
		s.role = r.labels[s.region].Role
	}
	return true
}

// drawOpen decides the open bin by lot; false if nothing is open at the instant drawn.
func (c *cells) drawOpen(s *span) bool {
	lot := c.rule.lot(s.begin, s.end-s.begin, c.open)
	if lot >= c.open {
		return false
	}
	if c.rule.key != byRegion {
		s.role = drawRole(&c.role, lot)
		return true
	}
	var list []share.Entry
	for _, id := range c.tally.Regions() {
		list = append(list, share.Entry{Region: id, Time: c.tally.Time(id)})
	}
	if s.region = drawRegion(list, lot); s.region != trace.NoRegion {
		s.role = c.rule.labels[s.region].Role
	}
	return true
}
