package utilization

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A State is a set of regions that count as busy.
type State struct {
	Name string
	// Busy and Idle are what was asked for; nil: the busy roles, and none.
	Busy, Idle  *Regions
	Counted, Of int // regions that count, of all
	// Whole is set where whole roles count, so that sketches by role are exact.
	Whole bool

	roles moment.RoleSet
	key   string // equal for states that count the same regions
	// regions have the role compute where they count and idle where not, so that
	// the fold of lanes is the union. Annotations stay transparent unless named.
	regions []trace.Region
}

// Regions are some of a run's regions, by patterns.
type Regions struct {
	Patterns []string
	Match    func(trace.RegionID, *trace.Region) bool
}

// List returns the patterns.
func (g *Regions) List() []string {
	if g == nil {
		return nil
	}
	return g.Patterns
}

// roles are those that the patterns name: a recorder has roles and no regions.
func (g *Regions) roles() (set moment.RoleSet) {
	for _, p := range g.List() {
		if role, ok := trace.ParseRole(p); ok {
			set |= moment.Roles(role)
		}
	}
	return set
}

// NewState finds the regions that count: the busy ones less the idle ones. If busy is nil the busy roles do, or with
// a choice of regions all of those.
func NewState(name string, regions []trace.Region, busy, idle *Regions, chosen []trace.RegionID) *State {
	s := &State{Name: name, Busy: busy, Idle: idle, Of: len(regions), regions: slices.Clone(regions)}
	isChosen := make([]bool, len(regions))
	for i := range isChosen {
		isChosen[i] = chosen == nil
	}
	for _, id := range chosen {
		isChosen[id] = true
	}
	for i := range s.regions {
		g := &s.regions[i]
		id := trace.RegionID(i)
		counts := g.Role.Busy() || chosen != nil
		if busy != nil {
			counts = busy.Match(id, g)
		}
		switch {
		case idle != nil && idle.Match(id, g):
			g.Role = trace.RoleIdle
		case counts && isChosen[i]:
			g.Role = trace.RoleCompute
			s.Counted++
		case g.Role != trace.RoleAnnotation:
			g.Role = trace.RoleIdle
		}
	}
	s.findRoles(regions)
	return s
}

// findRoles sees whether whole roles count, and makes the key.
func (s *State) findRoles(regions []trace.Region) {
	var counts, not moment.RoleSet
	s.Whole = true
	key := make([]byte, len(regions))
	for i := range regions {
		now, was := s.regions[i].Role, regions[i].Role
		key[i] = byte(now)
		switch {
		case was == trace.RoleAnnotation:
			s.Whole = s.Whole && now == was
		case now == trace.RoleCompute:
			counts |= moment.Roles(was)
		default:
			not |= moment.Roles(was)
		}
	}
	s.roles = counts
	s.Whole = s.Whole && counts&not == 0
	if s.key = string(key); s.Whole {
		s.key = fmt.Sprintf("roles %x", counts)
	}
}
