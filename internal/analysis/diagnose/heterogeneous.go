package diagnose

// Fault: members of one group of the hierarchy differ in the time of a region.

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// findMixed: groups of the hierarchy whose members differ in the time of a region, by
// the information lost if they were drawn as one. Groups of one kind that differ in
// the same way are one finding.
func findMixed(c *diagnosis) error {
	if !c.compared {
		return nil
	}
	holds := make([]bool, c.tree.Len())
	for _, id := range c.units {
		holds[id] = true
	}
	h := runfacts.NewHierarchy(c.tree, nil, holds)
	tree := &entropy.Tree{Parent: h.Parent, Last: h.Last}
	names, ids := largestRegions(c)
	value := make([]float64, h.Len())
	for _, name := range names {
		clear(value)
		for i, r := range c.table.region {
			if c.regions[r].Name == name {
				value[h.LeafOf[c.units[c.unitOf[c.rows[c.table.row[i]]]]]] += c.table.exclusive[i]
			}
		}
		list := finding.FindMixed(tree, value, func(m *finding.Mixed) bool {
			return finding.LevelOf(m.Lost/(float64(m.Leaves)*float64(c.length))) != finding.Low
		})
		wordMixed(c, h, name, ids[name], list)
	}
	return nil
}

// wordMixed words the findings for one region: groups of one kind together, those with odd members and those that are
// spread.
func wordMixed(c *diagnosis, h *runfacts.Hierarchy, name string, ids []trace.RegionID, list []finding.Mixed) {
	together := map[string][]finding.Mixed{}
	var kinds []string
	for _, m := range list {
		k := h.Kind(m.Node)
		switch {
		case h.Location[m.Node] == trace.NoLocation:
			k = fmt.Sprint("#", m.Node) // by itself
		case m.Spread:
			k += " spread"
		}
		if together[k] == nil {
			kinds = append(kinds, k)
		}
		together[k] = append(together[k], m)
	}
	for _, k := range kinds {
		group := together[k]
		units := unitsBelow(c, h, group)
		if c.known(units) || group[0].Spread && toldUneven(c, ids) {
			continue
		}
		lost, leaves, loss := 0.0, 0, 0.0
		low, high, median := math.Inf(1), 0.0, [2]float64{math.Inf(1), 0}
		var odd, nodes []int32
		for i := range group {
			m := &group[i]
			lost += m.Lost
			leaves += m.Leaves
			loss = max(loss, m.Loss)
			odd, nodes = append(odd, m.Odd...), append(nodes, m.Node)
			if m.Spread {
				low, high = min(low, m.Low), max(high, m.High)
			} else {
				low, high = min(low, m.Mean), max(high, m.Mean)
			}
			median[0], median[1] = min(median[0], m.Median), max(median[1], m.Median)
		}
		hit := lost / (float64(leaves) * float64(c.length))
		ask := func(statistic string, odd bool) string { return mixedQuery(c, h, statistic, odd, ids, group, list) }
		f := finding.Finding{Kind: finding.Heterogeneous, Severity: finding.LevelOf(hit), Lost: trace.Time(lost),
			Hit: hit, View: "treemap", Selection: finding.Selection{Regions: ids, Locations: below(h, nodes)},
			Evidence: []finding.Evidence{
				{Name: name + ", least", Value: low, Unit: c.unit, From: ask("min", true)},
				{Name: name + ", most", Value: high, Unit: c.unit, From: ask("max", true)},
				{Name: name + " on the others, median", Value: median[1], Unit: c.unit, From: ask("max", false)},
				{Name: "least median of a group", Value: median[0], Unit: c.unit, From: ask("min", false)},
				{Name: "entropy loss (bits per unit of time)", Value: loss},
				{Name: "locations", Value: float64(leaves), Unit: "count"}}}
		if m := group[0]; m.Spread {
			within := ""
			if severalBelow(h, m.Odd[0]) {
				within = ", and each is uniform inside"
			}
			f.Text = fmt.Sprintf("The %s of %s differ: %s takes %s on each (entropy loss %.2f bits)%s.",
				kindWords(h, odd), nodePlaces(h, nodes), words.Middle(name), between(low, high, c.unit), loss, within)
		} else {
			f.Text = fmt.Sprintf("%s in %s %s from the others there: %s takes %s on %s against %s on %s neighbours.",
				capital(nodeNames(h, odd)), nodePlaces(h, nodes), words.Plural(len(odd), "differs", "differ"),
				words.Middle(name),
				c.about(low, high), words.Plural(len(odd), "it", "them"), c.about(median[0], median[1]),
				words.Plural(len(odd), "its", "their"))
			if high < median[0] { // less to do costs no time of others
				f.Severity = f.Severity.AtMost(finding.Medium)
			}
		}
		if l := c.unfelt(f.Severity); l != f.Severity {
			if len(c.list) > 0 {
				continue // who waits for whom is reported
			}
			f.Severity = l
			f.Text = strings.TrimSuffix(f.Text, ".") + ". The others hardly wait for it."
		}
		c.add(f, units)
	}
}

// severalBelow reports whether a node has more than one leaf.
func severalBelow(h *runfacts.Hierarchy, n int32) bool {
	leaves := 0
	for k := n; k <= h.Last[n]; k++ {
		if h.Last[k] == k {
			leaves++
		}
	}
	return leaves > 1
}

// mixedQuery asks for the least or most time in regions of those members of groups that stand out, of each group the
// mean, or else for the least or most of the medians of groups. If members are spread, it is that of all members.
// Members below which another group was found are left out.
func mixedQuery(c *diagnosis, h *runfacts.Hierarchy, statistic string, odd bool, ids []trace.RegionID,
	group, found []finding.Mixed) string {
	key, value, ok := c.unitKey()
	source := c.times(ids)
	if !ok || source == "" {
		return ""
	}
	var leaves []string // group, member, whether it stands out, unit
	for i := range group {
		m := &group[i]
		for child := m.Node + 1; child <= h.Last[m.Node]; child = h.Last[child] + 1 {
			if slices.ContainsFunc(found, func(x finding.Mixed) bool {
				return child <= x.Node &&
					x.Node <= h.Last[child]
			}) {
				continue
			}
			for k := child; k <= h.Last[child]; k++ {
				if h.Last[k] != k {
					continue
				}
				u, ok := slices.BinarySearch(c.units, h.Location[k])
				if !ok || len(leaves) >= mostNumbers {
					return ""
				}
				leaves = append(leaves, fmt.Sprintf("(%d, %d, %d, %d)", i, child,
					boolInt(slices.Contains(m.Odd, child)), value(int32(u))))
			}
		}
	}
	of := "select median(v) as x from m group by g"
	switch {
	case odd && group[0].Spread:
		of = "select v as x from m"
	case odd:
		of = "select total(v * n) / total(n) as x from m where odd group by g"
	}
	return fmt.Sprintf("with n(g, child, odd, u) as (values %s), t as (select %s as u, total(exclusive) as v from %s "+
		"group by 1), m as (select g, child, odd, avg(coalesce(v, 0)) as v, count(*) as n from n left join t using "+
		"(u) group by 1, 2, 3) select %s(x) from (%s)", strings.Join(leaves, ", "), key, source, statistic, of)
}

// toldUneven reports whether a finding says already that these regions are spread
// unevenly.
func toldUneven(c *diagnosis, ids []trace.RegionID) bool {
	return slices.ContainsFunc(c.list, func(f finding.Finding) bool {
		return f.Kind == finding.Imbalance && slices.Equal(f.Selection.Regions, ids)
	})
}

// unitsBelow are the units of the odd members.
func unitsBelow(c *diagnosis, h *runfacts.Hierarchy, list []finding.Mixed) []int32 {
	seen := make([]bool, len(c.units))
	for i := range list {
		for _, o := range list[i].Odd {
			for k := o; k <= h.Last[o]; k++ {
				if id := h.Location[k]; h.Last[k] == k && id != trace.NoLocation {
					if u, ok := slices.BinarySearch(c.units, id); ok {
						seen[u] = true
					}
				}
			}
		}
	}
	var out []int32
	for u, s := range seen {
		if s {
			out = append(out, int32(u))
		}
	}
	return out
}

// below are the locations of nodes; none for the root that the source does not have.
func below(h *runfacts.Hierarchy, nodes []int32) []trace.LocationID {
	var out []trace.LocationID
	for _, n := range nodes {
		if h.Location[n] == trace.NoLocation {
			return nil
		}
		out = append(out, h.Location[n])
	}
	slices.Sort(out)
	return out[:min(len(out), mostChosen)]
}

// nodePlace names a node by its path.
func nodePlace(h *runfacts.Hierarchy, n int32) string {
	if p := h.Path(n); p != "" {
		return p
	}
	return "the run"
}

func nodePlaces(h *runfacts.Hierarchy, nodes []int32) string {
	if len(nodes) == 1 {
		return nodePlace(h, nodes[0])
	}
	text := fmt.Sprintf("%d %ss (", len(nodes), h.Kind(nodes[0]))
	for i, n := range nodes {
		if i == 8 {
			text += ", …"
			break
		}
		if i > 0 {
			text += ", "
		}
		text += nodePlace(h, n)
	}
	return text + ")"
}

// nodeNames names odd members: "8 processes", or by name where they are few.
func nodeNames(h *runfacts.Hierarchy, odd []int32) string {
	if len(odd) > 4 {
		return words.Thousands(int64(len(odd))) + " " + kindWords(h, odd)
	}
	text := ""
	for i, n := range odd {
		if i > 0 {
			text += ", "
		}
		text += h.Name(n)
	}
	return text
}

func kindWords(h *runfacts.Hierarchy, nodes []int32) string {
	switch k := h.Kind(nodes[0]); k {
	case "process":
		return "processes"
	default:
		return k + "s"
	}
}
