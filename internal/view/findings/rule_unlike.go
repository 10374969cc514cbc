package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// leastRegion is the part of all time that a region must take to be compared.
	leastRegion = 0.01
	// fewestCalls is how many calls a unit must make for their mean to be compared.
	fewestCalls = 10
	// mostRegions is how many regions are compared, those with most time first.
	mostRegions = 6
)

// largest lists the names of regions with most exclusive time that may differ for
// reasons of their own: not those of waiting, which differ because others do.
func (c *court) largest() (names []string, ids map[string][]trace.RegionID) {
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

// startsOrEnds reports regions in which ranks meet though their role is overhead:
// how long they take is the doing of others.
func startsOrEnds(g *trace.Region) bool {
	name := strings.ToLower(g.Name)
	return g.Role == trace.RoleOverhead && (strings.Contains(name, "init") || strings.Contains(name, "finalize"))
}

// mixed: groups of the hierarchy whose members differ in the time of a region, by
// the information lost if they were drawn as one. Groups of one kind that differ in
// the same way are one finding.
func (c *court) mixed() error {
	holds := make([]bool, c.tree.Len())
	for _, id := range c.units {
		holds[id] = true
	}
	h := view.NewHierarchy(c.tree, nil, holds)
	tree := &entropy.Tree{Parent: h.Parent, Last: h.Last}
	names, ids := c.largest()
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
		c.wordMixed(h, name, ids[name], list)
	}
	return nil
}

// wordMixed words what was found of one region: groups with odd members together by
// the kind of the group, groups that are spread one by one.
func (c *court) wordMixed(h *view.Hierarchy, name string, ids []trace.RegionID, list []finding.Mixed) {
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
		units := c.unitsBelow(h, group)
		if c.known(units) || group[0].Spread && c.uneven(ids) {
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
		f := finding.Finding{Kind: finding.Heterogeneous, Severity: finding.LevelOf(hit), Lost: trace.Time(lost), Hit: hit, View: "treemap", Selection: finding.Selection{Regions: ids, Locations: c.below(h, nodes)},
			Evidence: []finding.Evidence{{Name: name + ", least", Value: low, Unit: "ns"}, {Name: name + ", most", Value: high, Unit: "ns"}, {Name: name + " on the others, median", Value: median[1], Unit: "ns"}, {Name: "entropy loss (bits per unit of time)", Value: loss}, {Name: "locations", Value: float64(leaves), Unit: "count"}}}
		if m := group[0]; m.Spread {
			f.Text = fmt.Sprintf("The %s of %s differ: %s takes %s on each (entropy loss %.2f bits), and they are alike within.", kindWords(h, m.Odd), c.place(h, m.Node), middle(name), between(low, high), loss)
			if h.Last[m.Odd[0]] == m.Odd[0] {
				f.Text = fmt.Sprintf("The %s of %s differ: %s takes %s on each (entropy loss %.2f bits).", kindWords(h, m.Odd), c.place(h, m.Node), middle(name), between(low, high), loss)
			}
		} else {
			f.Text = fmt.Sprintf("%s in %s %s unlike the others there: %s takes %s on %s against %s on %s neighbours.", c.nodeNames(h, odd), c.places(h, nodes), plural(len(odd), "is", "are"), middle(name),
				span(low, high), plural(len(odd), "it", "them"), span(median[0], median[1]), plural(len(odd), "its", "their"))
			if high < median[0] { // less to do costs nobody else's time
				f.Severity = f.Severity.AtMost(finding.Medium)
			}
		}
		c.add(f, units)
	}
}

// uneven reports whether a finding says already that these regions are spread
// unevenly.
func (c *court) uneven(ids []trace.RegionID) bool {
	return slices.ContainsFunc(c.list, func(f finding.Finding) bool {
		return f.Kind == finding.Imbalance && slices.Equal(f.Selection.Regions, ids)
	})
}

func span(low, high float64) string {
	if view.FormatDuration(low) == view.FormatDuration(high) {
		return view.FormatDuration(low)
	}
	return between(low, high)
}

// unitsBelow are the units of the odd members.
func (c *court) unitsBelow(h *view.Hierarchy, list []finding.Mixed) []int32 {
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
func (c *court) below(h *view.Hierarchy, nodes []int32) []trace.LocationID {
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

// place names a node by its path.
func (c *court) place(h *view.Hierarchy, n int32) string {
	if p := h.Path(n); p != "" {
		return p
	}
	return "the run"
}

func (c *court) places(h *view.Hierarchy, nodes []int32) string {
	if len(nodes) == 1 {
		return c.place(h, nodes[0])
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
		text += c.place(h, n)
	}
	return text + ")"
}

// nodeNames names odd members: "8 processes", or by name where they are few.
func (c *court) nodeNames(h *view.Hierarchy, odd []int32) string {
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

// unlike: regions whose calls take longer on some units than on the others, though
// nobody waits for it.
func (c *court) unlike() error {
	names, ids := c.largest()
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
		text := fmt.Sprintf("Calls of %s take %s on %s against %s on the others.", middle(name), span(low, high), c.named(odd), view.FormatDuration(middleValue))
		c.add(finding.Finding{Kind: finding.Unlike, Severity: level.AtMost(finding.Medium), Lost: trace.Time(lost), Hit: hit, Text: text, View: "boxprofile",
			Evidence:  []finding.Evidence{{Name: "mean call, most", Value: high, Unit: "ns"}, {Name: "mean call on the others, median", Value: middleValue, Unit: "ns"}, {Name: "time more than the others", Value: lost, Unit: "ns"}},
			Selection: finding.Selection{Regions: ids[name], Locations: c.locations(odd)}}, odd)
	}
	return nil
}

// mostUnits is up to how many units are looked at bin by bin.
const mostUnits = 20_000

// idle: units that begin to work later, or end earlier, than the others.
func (c *court) idle() error {
	if len(c.units) < 4 || len(c.units) > mostUnits || c.untimed {
		return nil
	}
	g, err := c.store.Groups(c.ctx, c.units, c.window.Begin, c.window.End, c.level())
	if err != nil || g.Bins == 0 {
		return err
	}
	starts, ends := make([]float64, 0, len(c.units)), make([]float64, 0, len(c.units))
	units := []int32{}
	for u := range c.units {
		first, last := -1, -1
		for b := range g.Bins {
			for r := range trace.Role(trace.RoleCount) {
				if r.Busy() && g.Time[(u*g.Bins+b)*trace.RoleCount+int(r)] > 0 {
					if first < 0 {
						first = b
					}
					last = b + 1
				}
			}
		}
		if first >= 0 {
			units = append(units, int32(u))
			starts = append(starts, float64(trace.Time(first)<<g.Level))
			ends = append(ends, float64(c.length)-min(float64(trace.Time(last)<<g.Level), float64(c.length)))
		}
	}
	c.wordIdle(finding.IdleStart, units, starts, "%s %s to work %s after the others", [2]string{"begins", "begin"})
	c.wordIdle(finding.IdleEnd, units, ends, "%s %s work %s before the others", [2]string{"ends its", "end their"})
	return nil
}

func (c *court) wordIdle(kind finding.Kind, units []int32, values []float64, text string, verb [2]string) {
	middleValue := finding.Median(values)
	apart := make([]float64, len(values))
	for i, v := range values {
		apart[i] = math.Abs(v - middleValue)
	}
	unit := 1.4826 * finding.Median(apart)
	var late []int32
	lost := 0.0
	for i, v := range values {
		if d := v - middleValue; d > 2*finding.MediumShare*float64(c.length) && d > finding.Beyond(len(values))*unit {
			late = append(late, units[i])
			lost += v - middleValue
		}
	}
	if len(late) == 0 || float64(len(late)) > 0.4*float64(len(values)) || c.known(late) {
		return
	}
	each := lost / float64(len(late))
	hit := each / float64(c.length)
	c.add(finding.Finding{Kind: kind, Severity: finding.LevelOf(hit).AtMost(finding.Medium), Lost: trace.Time(lost), Hit: hit, View: "timeline",
		Text:      fmt.Sprintf(text, capital(c.named(late)), plural(len(late), verb[0], verb[1]), view.FormatDuration(each)) + ".",
		Evidence:  []finding.Evidence{{Name: "idle on each", Value: each, Unit: "ns"}, {Name: "units", Value: float64(len(late)), Unit: "count"}},
		Selection: finding.Selection{Locations: c.locations(late)}}, late)
}

// mostMoments is up to how many rows are compared by their moments.
const mostMoments = 200_000

// outliers: rows far from their peers in the space of moments, where nothing
// above explains it: they work at another time, or in more pieces.
func (c *court) outliers() error {
	if len(c.rows) < 8 || len(c.rows) > mostMoments || c.untimed {
		return nil
	}
	cubics := make([]moment.Cubic, len(c.rows))
	w := c.window
	err := c.store.Summaries(c.ctx, moment.Name, w, store.Coarsest, store.Visitor{
		Block: func(id trace.LocationID, _ int, _, _ trace.Time, b trace.Block) error {
			if row := c.rowOf[id]; row >= 0 && !cubics[row].AddBlock(b, moment.BusyRoles) {
				return fmt.Errorf("a digest of location %d cannot be read; import the run again", id)
			}
			return nil
		},
		Rows: func(s *trace.Stretch) error {
			if row := c.rowOf[s.Rows.Location]; row >= 0 {
				cubics[row].AddSegments(s.Segments, moment.BusyRoles)
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	rows, peers, number := make([]moment.Moments, len(c.rows)), make([]int32, len(c.rows)), map[string]int32{}
	for i := range cubics {
		rows[i] = cubics[i].Moments(c.window.Begin)
		k, ok := number[c.class[i]]
		if !ok {
			k = int32(len(number))
			number[c.class[i]] = k
		}
		peers[i] = k
	}
	single := c.oneEach()
	byMoment := map[int][]int32{}
	shift := map[int]float64{}
	for i, o := range moment.Outliers(rows, peers, float64(c.length)) {
		u := c.unitOf[c.rows[i]]
		if !single[c.class[i]] || o.Score < finding.Beyond(len(rows)) || o.Moment > 1 || c.blamed[u] || rows[i].M0 < 0.05*float64(c.length) || math.Abs(o.Value-o.Median) < 2*finding.MediumShare*float64(c.length) {
			continue
		}
		byMoment[o.Moment] = append(byMoment[o.Moment], int32(i))
		shift[o.Moment] += math.Abs(o.Value - o.Median)
	}
	for k := range 2 {
		c.wordOutliers(k, byMoment[k], shift[k])
	}
	return nil
}

// oneEach says of which classes every unit has one row: several of a rank, such as
// its threads, have different duties and are no peers.
func (c *court) oneEach() map[string]bool {
	rows, units := map[string]int{}, map[string]map[int32]bool{}
	for row, id := range c.rows {
		k := c.class[row]
		if units[k] == nil {
			units[k] = map[int32]bool{}
		}
		rows[k]++
		units[k][c.unitOf[id]] = true
	}
	out := map[string]bool{}
	for k := range rows {
		out[k] = rows[k] == len(units[k])
	}
	return out
}

func (c *court) wordOutliers(k int, rows []int32, shift float64) {
	if len(rows) == 0 || float64(len(rows)) > 0.2*float64(len(c.rows)) {
		return
	}
	units := []int32{}
	for _, row := range rows {
		if u := c.unitOf[c.rows[row]]; !slices.Contains(units, u) {
			units = append(units, u)
		}
	}
	slices.Sort(units)
	each := shift / float64(len(rows))
	text := fmt.Sprintf("%s %s for another time than the others: busy time differs by %s (moment m0).", capital(c.named(units)), plural(len(units), "works", "work"), view.FormatDuration(each))
	if k == 1 {
		text = fmt.Sprintf("%s %s at another time than the others: the mean time of the work lies %s apart (moment m1).", capital(c.named(units)), plural(len(units), "works", "work"), view.FormatDuration(each))
	}
	hit := each / float64(c.length)
	c.add(finding.Finding{Kind: finding.Outlier, Severity: finding.LevelOf(hit).AtMost(finding.Medium), Lost: trace.Time(shift), Hit: hit, Text: text, View: "moments",
		Evidence: []finding.Evidence{{Name: "distance from the median", Value: each, Unit: "ns"}, {Name: "units", Value: float64(len(units)), Unit: "count"}}, Selection: finding.Selection{Locations: c.locations(units)}}, units)
}
