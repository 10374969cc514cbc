package diagnose

// When each unit begins and ends to do something, in bins of time.

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Edges are the first and the last bin of time in which units do something. Bins are a power of two long.
type edges struct {
	first, last []int // by unit, the last one not included; first is -1 for a unit that does nothing
	level       int
	roles       []trace.Role
}

// fineBins is how many times finer times are that a sentence states.
const fineBins = 6

// edgesIn finds when units do something of some roles, in bins of a level.
func (c *diagnosis) edgesIn(level int, roles []trace.Role) (*edges, error) {
	g, err := c.store.Groups(c.ctx, c.units, c.window.Begin, c.window.End, level)
	if err != nil || g.Bins == 0 {
		return nil, err
	}
	e := &edges{first: make([]int, len(c.units)), last: make([]int, len(c.units)), level: g.Level, roles: roles}
	for u := range c.units {
		e.first[u] = -1
		for b := range g.Bins {
			for _, r := range roles {
				if g.Time[(u*g.Bins+b)*trace.RoleCount+int(r)] > 0 {
					if e.first[u] < 0 {
						e.first[u] = b
					}
					e.last[u] = b + 1
				}
			}
		}
	}
	return e, nil
}

// finer finds the same in finer bins; nil for so many units that it would take long.
func (c *diagnosis) finer(e *edges) (*edges, error) {
	if len(c.units) > mostNumbers || e.level <= fineBins {
		return e, nil
	}
	return c.edgesIn(e.level-fineBins, e.roles)
}

// begins are when units begin, in ns from the begin of the window.
func (e *edges) begins(u int32) float64 { return float64(trace.Time(e.first[u]) << e.level) }

// times are when all units begin.
func (e *edges) times() []float64 {
	out := make([]float64, len(e.first))
	for u := range out {
		out[u] = e.begins(int32(u))
	}
	return out
}

// ends are when units end, in ns before the end of the window.
func (e *edges) ends(c *diagnosis, u int32) float64 {
	return float64(c.span) - min(float64(trace.Time(e.last[u])<<e.level), float64(c.span))
}

// apartQueryOf asks by how much some units begin later, or end earlier, than the median of all that do something.
func (c *diagnosis) apartQueryOf(e *edges, units []int32, atEnd bool) string {
	key, value, ok := c.unitKey()
	if !ok || c.window.Begin != 0 || len(units) > mostNumbers {
		return ""
	}
	list := make([]string, len(units))
	for i, u := range units {
		list[i] = fmt.Sprint(value(u))
	}
	some := ""
	for i, r := range e.roles {
		if i > 0 {
			some += " + "
		}
		some += r.String()
	}
	step := int64(1) << e.level
	edge := "min(begin)"
	if atEnd {
		edge = fmt.Sprintf("max(%d - max(begin) - %d, 0)", c.span, step)
	}
	return fmt.Sprintf("with t as (select %s as u, %s as v from busy(%d, %d, %d) where %s > 0%s group by 1) select "+
		"avg(v) - (select median(v) from t) from t where u in (%s)", key, edge, step, c.window.Begin, c.window.End,
		some,
		c.whereRows(c.allRows()), strings.Join(list, ", "))
}
