package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// startsOrEnds reports regions in which ranks meet though their role is overhead:
// how long they take is the doing of others.
func startsOrEnds(g *trace.Region) bool {
	name := strings.ToLower(g.Name)
	return g.Role == trace.RoleOverhead && (strings.Contains(name, "init") || strings.Contains(name, "finalize"))
}

// findMixed: groups of the hierarchy whose members differ in the time of a region, by
// the information lost if they were drawn as one. Groups of one kind that differ in
// the same way are one finding.
func findMixed(c *court) error {
	holds := make([]bool, c.tree.Len())
	for _, id := range c.units {
		holds[id] = true
	}
	h := view.NewHierarchy(c.tree, nil, holds)
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

// wordMixed words what was found of one region: groups with odd members together by
// the kind of the group, groups that are spread one by one.
func wordMixed(c *court, h *view.Hierarchy, name string, ids []trace.RegionID, list []finding.Mixed) {
	together := map[string][]finding.Mixed{}
	var kinds []string
	for _, m := range list {
		k := h.Kind(m.Node)
		if m.Spread || h.Location[m.Node] == trace.NoLocation {
			k = fmt.Sprint("#", m.Node) // by itself
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
		f := finding.Finding{Kind: finding.Heterogeneous, Severity: finding.LevelOf(hit), Lost: trace.Time(lost),
			Hit: hit, View: "treemap", Selection: finding.Selection{Regions: ids, Locations: below(h, nodes)},
			Evidence: []finding.Evidence{{Name: name + ", least", Value: low, Unit: c.unit},
				{Name: name + ", most", Value: high, Unit: c.unit},
				{Name: name + " on the others, median", Value: median[1], Unit: c.unit},
				{Name: "entropy loss (bits per unit of time)", Value: loss},
				{Name: "locations", Value: float64(leaves), Unit: "count"}}}
		if m := group[0]; m.Spread {
			f.Text = fmt.Sprintf("The %s of %s differ: %s takes %s on each (entropy loss %.2f bits), and they are "+
				"alike within.", kindWords(h, m.Odd), nodePlace(h, m.Node), middle(name), between(low, high, c.unit),
				loss)
			if h.Last[m.Odd[0]] == m.Odd[0] {
				f.Text = fmt.Sprintf("The %s of %s differ: %s takes %s on each (entropy loss %.2f bits).",
					kindWords(h, m.Odd), nodePlace(h, m.Node), middle(name), between(low, high, c.unit), loss)
			}
		} else {
			f.Text = fmt.Sprintf("%s in %s %s unlike the others there: %s takes %s on %s against %s on %s neighbours.",
				nodeNames(h, odd), nodePlaces(h, nodes), plural(len(odd), "is", "are"), middle(name),
				c.about(low, high), plural(len(odd), "it", "them"), c.about(median[0], median[1]),
				plural(len(odd), "its", "their"))
			if high < median[0] { // less to do costs nobody else's time
				f.Severity = f.Severity.AtMost(finding.Medium)
			}
		}
		if l := c.unfelt(f.Severity); l != f.Severity {
			if len(c.list) > 0 {
				continue // who waits for whom is told
			}
			f.Severity = l
			f.Text = strings.TrimSuffix(f.Text, ".") + "; hardly anyone waits for it."
		}
		c.add(f, units)
	}
}

// toldUneven reports whether a finding says already that these regions are spread
// unevenly.
func toldUneven(c *court, ids []trace.RegionID) bool {
	return slices.ContainsFunc(c.list, func(f finding.Finding) bool {
		return f.Kind == finding.Imbalance && slices.Equal(f.Selection.Regions, ids)
	})
}

// unitsBelow are the units of the odd members.
func unitsBelow(c *court, h *view.Hierarchy, list []finding.Mixed) []int32 {
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
func below(h *view.Hierarchy, nodes []int32) []trace.LocationID {
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
func nodePlace(h *view.Hierarchy, n int32) string {
	if p := h.Path(n); p != "" {
		return p
	}
	return "the run"
}

func nodePlaces(h *view.Hierarchy, nodes []int32) string {
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
func nodeNames(h *view.Hierarchy, odd []int32) string {
	if len(odd) > 4 {
		return view.Thousands(int64(len(odd))) + " " + kindWords(h, odd)
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

func kindWords(h *view.Hierarchy, nodes []int32) string {
	switch k := h.Kind(nodes[0]); k {
	case "process":
		return "processes"
	default:
		return k + "s"
	}
}

const (
	// leastRegion is the part of all time that a region must take to be compared.
	leastRegion = 0.01
	// fewestCalls is how many calls a unit must make for their mean to be compared.
	fewestCalls = 10
	// mostRegions is how many regions are compared, those with most time first.
	mostRegions = 6
)

// largestRegions lists the names of regions with most exclusive time that may differ for
// reasons of their own: not those of waiting, which differ because others do.
func largestRegions(c *court) (names []string, ids map[string][]trace.RegionID) {
	sums := map[string]float64{}
	ids = map[string][]trace.RegionID{}
	for i, r := range c.table.region {
		g := &c.regions[r]
		if !g.Role.Busy() && g.Role != trace.RoleOverhead || startsOrEnds(g) {
			continue
		}
		if sums[g.Name] += c.table.exclusive[i]; !slices.Contains(ids[g.Name], r) {
			ids[g.Name] = append(ids[g.Name], r)
		}
	}
	for n, s := range sums {
		if s >= leastRegion*float64(c.length)*float64(len(c.rows)) {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), mostRegions)], ids
}

// findUnlike: regions whose calls take longer on some units than on the others, though
// nobody waits for it.
func findUnlike(c *court) error {
	names, ids := largestRegions(c)
	for _, name := range names {
		sums, calls := make([]float64, len(c.units)), make([]float64, len(c.units))
		for i, r := range c.table.region {
			if c.regions[r].Name == name {
				u := c.unitOf[c.rows[c.table.row[i]]]
				sums[u] += c.table.exclusive[i]
				calls[u] += c.table.calls[i]
			}
		}
		means, units := []float64{}, []int32{}
		for u := range sums {
			if calls[u] >= fewestCalls {
				means, units = append(means, sums[u]/calls[u]), append(units, int32(u))
			}
		}
		var odd []int32
		lost, low, high, middleValue := 0.0, math.Inf(1), 0.0, 0.0
		loose, out := 0, make([]bool, len(means))
		for i, p := range finding.Peers(means) {
			if p.StandsOut() {
				loose++
			}
			if p.Score >= finding.Beyond(len(means)) && p.Value > 1.1*p.Median {
				odd, out[i] = append(odd, units[i]), true
				lost += (p.Value - p.Median) * calls[units[i]]
				low, high, middleValue = min(low, p.Value), max(high, p.Value), p.Median
			}
		}
		if len(odd) == 0 || !finding.Apart(means, out) || float64(loose) > 0.25*float64(len(means)) || c.known(odd) {
			continue
		}
		hit := lost / (float64(len(odd)) * float64(c.length))
		level := finding.LevelOf(hit)
		if level == finding.Low {
			continue
		}
		text := fmt.Sprintf("Calls of %s take %s on %s against %s on the others.", middle(name), c.about(low, high),
			c.named(odd), c.amount(middleValue))
		c.add(finding.Finding{Kind: finding.Unlike, Severity: c.unfelt(level.AtMost(finding.Medium)),
			Lost: trace.Time(lost), Hit: hit, Text: text, View: "boxprofile",
			Evidence: []finding.Evidence{{Name: "mean call, most", Value: high, Unit: c.unit},
				{Name: "mean call on the others, median", Value: middleValue, Unit: c.unit},
				{Name: "time more than the others", Value: lost, Unit: c.unit}},
			Selection: finding.Selection{Regions: ids[name], Locations: c.locations(odd)}}, odd)
	}
	return nil
}
