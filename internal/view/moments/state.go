package moments

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A state is a set of regions that count as busy.
type state struct {
	name       string
	busy, idle []string // patterns
	words      string
	key        string // equal for states that count the same regions
	role       trace.Role

	// whole is set where whole roles count, so that sketches by role are exact.
	whole bool
	roles moment.RoleSet
	// regions have the role compute where they count and idle where not, so that
	// the fold of lanes is the union. Annotations stay transparent unless named.
	regions []trace.Region
}

// statesOf returns busy as the request has it, and the layers asked for.
func statesOf(q *view.Request, regions []trace.Region) (layers []*state, busy *state, err error) {
	v := q.Values
	if busy,
		err = newState("busy", regions, v.RegionPatterns("busy", regions), v.RegionPatterns("idle", regions),
		q.Selection.Regions); err != nil {
		return nil, nil, err
	}
	for _, p := range v.Patterns("layers") {
		for _, name := range strings.Split(p, ",") {
			s := busy
			if name != "busy" {
				if s, err = newState(name, regions, []string{name}, nil, q.Selection.Regions); err != nil {
					return nil, nil, err
				}
			}
			layers = append(layers, s)
		}
	}
	return layers, busy, nil
}

type matcher = func(trace.RegionID, *trace.Region) bool

// newState finds the regions that count. Without patterns the busy roles do, or with a
// choice of regions all of those.
func newState(name string, regions []trace.Region, busy, idle []string, chosen []trace.RegionID) (*state, error) {
	s := &state{name: name, busy: busy, idle: idle, role: trace.RoleNone}
	if name == "busy" {
		s.role = trace.RoleCompute
	}
	if r, ok := trace.ParseRole(name); ok {
		s.role = r
	}
	busyMatch, err := compile("busy", busy, regions)
	if err != nil {
		return nil, err
	}
	idleMatch, err := compile("idle", idle, regions)
	if err != nil {
		return nil, err
	}
	isChosen := make([]bool, len(regions))
	for i := range isChosen {
		isChosen[i] = chosen == nil
	}
	for _, id := range chosen {
		isChosen[id] = true
	}
	counted := 0
	s.regions = slices.Clone(regions)
	for i := range s.regions {
		g := &s.regions[i]
		id := trace.RegionID(i)
		named := busyMatch(id, g)
		if busy == nil {
			named = g.Role.Busy() || chosen != nil
		}
		switch {
		case idleMatch(id, g):
			g.Role = trace.RoleIdle
		case named && isChosen[i]:
			g.Role = trace.RoleCompute
			counted++
		case g.Role != trace.RoleAnnotation:
			g.Role = trace.RoleIdle
		}
	}
	s.findRoles(regions)
	s.say(counted, chosen != nil)
	return s, nil
}

// compile makes one matcher of --busy or --idle, where a bare role name is a role.
func compile(option string, patterns []string, regions []trace.Region) (matcher, error) {
	var list []matcher
	for _, p := range patterns {
		if _, ok := trace.ParseRole(p); ok {
			p = "role:" + p
		}
		m, err := view.RegionPattern(p)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", option, err)
		}
		found := strings.HasPrefix(p, "role:") // a role may be absent
		for i := range regions {
			found = found || m(trace.RegionID(i), &regions[i])
		}
		if !found {
			return nil,
				fmt.Errorf("--%s %q matches none of %d regions; `parallax info` lists them", option, p, len(regions))
		}
		list = append(list, m)
	}
	return func(id trace.RegionID, r *trace.Region) bool {
		return slices.ContainsFunc(list, func(m matcher) bool { return m(id, r) })
	}, nil
}

// findRoles sees whether whole roles count, and makes the key.
func (s *state) findRoles(regions []trace.Region) {
	var counts, not moment.RoleSet
	s.whole = true
	key := make([]byte, len(regions))
	for i := range regions {
		now, was := s.regions[i].Role, regions[i].Role
		key[i] = byte(now)
		switch {
		case was == trace.RoleAnnotation:
			s.whole = s.whole && now == was
		case now == trace.RoleCompute:
			counts |= moment.Roles(was)
		default:
			not |= moment.Roles(was)
		}
	}
	s.roles = counts
	s.whole = s.whole && counts&not == 0
	if s.key = string(key); s.whole {
		s.key = fmt.Sprintf("roles %x", counts)
	}
}

// say describes the regions that count.
func (s *state) say(counted int, chosen bool) {
	var parts []string
	switch {
	case s.busy == nil && chosen:
		parts = append(parts, "the innermost region is one of those chosen")
	case s.busy == nil:
		parts = append(parts, "the innermost region is compute, io or copy")
	default:
		parts = append(parts, "the innermost region is "+strings.Join(s.busy, ", "))
	}
	if s.idle != nil {
		parts = append(parts, "not "+strings.Join(s.idle, ", "))
	}
	name := s.name
	if name != "busy" {
		s.words = fmt.Sprintf("%s: %s", name, view.Thousands(int64(counted))+" regions")
		return
	}
	s.words = "busy: " + strings.Join(parts, ", ")
	if !s.whole {
		s.words += fmt.Sprintf(" (%s of %s regions)", view.Thousands(int64(counted)),
			view.Thousands(int64(len(s.regions))))
	}
}
