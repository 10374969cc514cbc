package activity

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	maxBins = 1 << 20
	// defaultBins is the least number of bins where none is asked for; aligned
	// bins give up to twice as many. The data do not depend on the picture's
	// size; a narrow picture joins them.
	defaultBins = 512
)

// counting fills a result.
type counting struct {
	ctx     context.Context
	request *view.Request
	reader  store.Reader
	result  *result

	class    []int // by region or by role, the series it counts for; -1 none
	byRegion bool
	regions  []trace.Region // with the roles that count
}

func (c *counting) run(by string) error {
	c.regions = c.reader.Regions()
	sel := c.result.selection
	if n := c.request.Values.Integer("bins"); n > 0 {
		c.equalEdges(n)
	} else {
		c.result.edges = runfacts.BinEdges(sel.Begin, sel.End, levelFor(sel.End-sel.Begin))
	}
	switch by {
	case "roles":
		c.useRoles()
		if c.request.Selection.Regions == nil {
			return c.finish(c.countRoles())
		}
	case "busy":
		if err := c.useBusy(); err != nil {
			return err
		}
	case "regions":
		if err := c.useRegions(); err != nil {
			return err
		}
	}
	return c.finish(c.scan(sel.Begin, sel.End))
}

// finish drops roles that never occur.
func (c *counting) finish(err error) error {
	if err != nil {
		return err
	}
	r := c.result
	used := make([]bool, len(r.series))
	for i, t := range r.time {
		s := i % len(r.series)
		r.series[s].total += float64(t)
		used[s] = used[s] || t > 0 || r.series[s].kind == ofBusy || r.series[s].kind == ofIdle
	}
	var kept []series
	var time []trace.Time
	for b := range r.bins() {
		for s := range r.series {
			if used[s] {
				time = append(time, r.at(b, s))
			}
		}
	}
	for s := range r.series {
		if used[s] {
			kept = append(kept, r.series[s])
		}
	}
	if len(kept) == 0 {
		return view.Empty("choose a longer time or other regions", "no interval in the selection [%s, %s)",
			view.FormatTime(r.selection.Begin), view.FormatTime(r.selection.End))
	}
	r.series, r.time = kept, time
	return nil
}

// levelFor returns the largest bins of 2^level ns of which at least defaultBins fit.
func levelFor(length trace.Time) int {
	return max(0, bits.Len64(uint64(length)/defaultBins)-1)
}

// equalEdges cuts the window into n bins that differ by at most a nanosecond.
func (c *counting) equalEdges(n int) {
	sel := c.result.selection
	length := uint64(sel.End - sel.Begin)
	if uint64(n) > length {
		c.result.notes = append(c.result.notes,
			fmt.Sprintf("%d bins instead of %d: none is shorter than a nanosecond", length, n))
		n = int(length)
	}
	for i := range uint64(n) + 1 {
		hi, lo := bits.Mul64(length, i)
		lo, carry := bits.Add64(lo, uint64(n)/2, 0)
		q, _ := bits.Div64(hi+carry, lo, uint64(n))
		c.result.edges = append(c.result.edges, sel.Begin+trace.Time(q))
	}
}

// roleOrder is the stack from the bottom: busy first.
var roleOrder = []trace.Role{
	trace.RoleCompute, trace.RoleIO, trace.RoleCopy, trace.RoleCommunication,
	trace.RoleSynchronization, trace.RoleOverhead, trace.RoleIdle, trace.RoleAnnotation,
}

func (c *counting) useRoles() {
	c.class = make([]int, trace.RoleCount)
	c.class[trace.RoleNone] = -1
	for i, role := range roleOrder {
		c.class[role] = i
		c.result.series = append(c.result.series,
			series{name: role.String(), role: role, kind: ofRole, region: trace.NoRegion})
	}
}

// useBusy gives every region the role compute where it counts as busy and idle
// where not, so that the fold of lanes is the union of busy time. Annotations
// stay transparent unless they are named.
func (c *counting) useBusy() error {
	busy, err := c.patterns("busy")
	if err != nil {
		return err
	}
	idle, err := c.patterns("idle")
	if err != nil {
		return err
	}
	c.regions = slices.Clone(c.regions)
	for i := range c.regions {
		g := &c.regions[i]
		id := trace.RegionID(i)
		named, unnamed := matches(busy, id, g), matches(idle, id, g)
		switch {
		case unnamed:
			g.Role = trace.RoleIdle
		case named || busy == nil && g.Role.Busy():
			g.Role = trace.RoleCompute
		case g.Role != trace.RoleAnnotation:
			g.Role = trace.RoleIdle
		}
	}
	c.class = make([]int, trace.RoleCount)
	for i := range c.class {
		c.class[i] = 1 // annotations alone are not busy
	}
	c.class[trace.RoleNone], c.class[trace.RoleCompute] = -1, 0
	c.result.series = []series{
		{name: "busy", kind: ofBusy, role: trace.RoleCompute, region: trace.NoRegion},
		{name: "idle", kind: ofIdle, role: trace.RoleIdle, region: trace.NoRegion},
	}
	return nil
}

type matcher = func(trace.RegionID, *trace.Region) bool

// patterns compiles --busy or --idle, where a bare role name is a role.
func (c *counting) patterns(option string) ([]matcher, error) {
	var out []matcher
	for _, p := range c.request.Values.RegionPatterns(option, c.regions) {
		_, isRole := trace.ParseRole(p)
		if isRole {
			p = "role:" + p
		}
		m, err := view.RegionPattern(p)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", option, err)
		}
		found := isRole // a role may be absent
		for i := range c.regions {
			found = found || m(trace.RegionID(i), &c.regions[i])
		}
		if !found {
			return nil,
				fmt.Errorf("--%s %q matches none of %d regions; `parallax info` lists them", option, p, len(c.regions))
		}
		out = append(out, m)
	}
	return out, nil
}

func matches(list []matcher, id trace.RegionID, r *trace.Region) bool {
	return slices.ContainsFunc(list, func(m matcher) bool { return m(id, r) })
}

// useRegions makes a series of each of the top regions by innermost time in the
// window, merged by name, and one of all others.
func (c *counting) useRegions() error {
	table, err := store.TotalTime(c.ctx, c.reader, c.request.Window())
	if err != nil {
		return err
	}
	keep := c.keep()
	names := map[string]*series{}
	for i, id := range table.Region {
		if keep != nil && !keep[id] {
			continue
		}
		g := &c.regions[id]
		s := names[g.Name]
		if s == nil {
			s = &series{name: g.Name, label: g.Name, region: id, role: g.Role, kind: ofRegion}
			names[g.Name] = s
		}
		s.total += table.Exclusive[i].Float64()
	}
	var all []*series
	for _, s := range names {
		if s.total > 0 {
			all = append(all, s)
		}
	}
	sort.Slice(all, func(a, b int) bool {
		return cmp.Or(cmp.Compare(all[b].total, all[a].total), cmp.Compare(all[a].name, all[b].name)) < 0
	})
	top := c.request.Values.Integer("top")
	if top <= 0 || top > len(all) {
		top = len(all)
	}
	// The stack has roles in their order, the larger regions of a role first.
	slices.SortStableFunc(all[:top], func(a, b *series) int {
		return cmp.Compare(slices.Index(roleOrder, a.role), slices.Index(roleOrder, b.role))
	})
	index := map[string]int{}
	for i, s := range all[:top] {
		index[s.name] = i
		s.total = 0
		c.result.series = append(c.result.series, *s)
	}
	if top < len(all) {
		c.result.series = append(c.result.series, series{name: "other", kind: ofOther, region: trace.NoRegion})
		c.result.notes = append(c.result.notes,
			fmt.Sprintf("%d of %d regions are shown by name, the others as \"other\"", top, len(all)))
	}
	c.byRegion = true
	c.class = make([]int, len(c.regions))
	for id := range c.regions {
		i, ok := index[c.regions[id].Name]
		if !ok {
			i = len(c.result.series) - 1
		}
		c.class[id] = i
	}
	c.distinctNames()
	return nil
}

// distinctNames keeps regions apart from the names that this view gives.
func (c *counting) distinctNames() {
	for i := range c.result.series {
		s := &c.result.series[i]
		if s.kind == ofRegion && (s.name == noneName || s.name == restName || s.name == "other") {
			s.name = "region " + s.name
		}
	}
}

// keep is the selection's regions as a table; nil for all.
func (c *counting) keep() []bool {
	if c.request.Selection.Regions == nil {
		return nil
	}
	keep := make([]bool, len(c.regions))
	for _, id := range c.request.Selection.Regions {
		keep[id] = true
	}
	return keep
}

// countRoles takes the times from the store, which keeps bins of its own. The cost
// does not grow with the trace.
func (c *counting) countRoles() error {
	r := c.result
	times, err := c.reader.RoleTime(c.ctx, c.request.Selection.Locations, r.edges)
	if err != nil {
		return err
	}
	r.time = make([]trace.Time, r.bins()*len(r.series))
	for i, t := range times {
		if s := c.class[i%trace.RoleCount]; s >= 0 {
			at := &r.time[i/trace.RoleCount*len(r.series)+s]
			*at = trace.AddUp(*at, t.Time()) // a bin of the picture; one that is too much for a time is drawn full
		}
	}
	return nil
}
