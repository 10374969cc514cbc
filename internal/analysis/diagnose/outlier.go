package diagnose

// Fault: rows work at another time, or in more pieces, than their peers.

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// mostMoments is up to how many rows are compared by their moments.
const mostMoments = 200_000

// findOutliers: rows far from their peers in the space of moments, where nothing
// above explains it: they work at another time, or in more pieces.
func findOutliers(c *diagnosis) error {
	if !c.compared || c.profile {
		return nil
	}
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
	compared := c.rowSet(c.processorRows())
	rows, peers, number := make([]moment.Moments, len(c.rows)), make([]int32, len(c.rows)), map[string]int32{}
	for i := range cubics {
		rows[i] = cubics[i].Moments(c.window.Begin)
		class := c.class[i]
		if !compared[i] {
			class += " of a runtime"
		}
		k, ok := number[class]
		if !ok {
			k = int32(len(number))
			number[class] = k
		}
		peers[i] = k
	}
	single := oneEach(c, compared)
	byMoment := map[int][]int32{}
	shift := map[int]float64{}
	for i, o := range moment.Outliers(rows, peers, float64(c.span)) {
		u := c.unitOf[c.rows[i]]
		if !compared[i] || !single[c.class[i]] || o.Score < finding.Beyond(len(rows)) || o.Moment > 1 || c.blamed[u] ||
			rows[i].M0 < 0.05*float64(c.length) ||
			math.Abs(o.Value-o.Median) < 2*finding.MediumShare*float64(c.length) {
			continue
		}
		byMoment[o.Moment] = append(byMoment[o.Moment], int32(i))
		shift[o.Moment] += math.Abs(o.Value - o.Median)
	}
	for k := range 2 {
		wordOutliers(c, k, byMoment[k], shift[k], peers)
	}
	return nil
}

// oneEach returns of which classes every unit has one row: several of a rank, such as
// its threads, have different duties and are no peers.
func oneEach(c *diagnosis, compared []bool) map[string]bool {
	rows, units := map[string]int{}, map[string]map[int32]bool{}
	for row, id := range c.rows {
		k := c.class[row]
		if !compared[row] {
			continue
		}
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

func wordOutliers(c *diagnosis, k int, rows []int32, shift float64, peers []int32) {
	if len(rows) == 0 || float64(len(rows)) > 0.2*float64(len(c.rows)) {
		return
	}
	units := []int32{}
	for _, row := range rows {
		units = append(units, c.unitOf[c.rows[row]])
	}
	slices.Sort(units)
	units = slices.Compact(units)
	each := shift / float64(len(rows))
	text := fmt.Sprintf("The busy time of %s differs from that of the others by %s (moment m0).", c.named(units),
		words.FormatDuration(each))
	if k == 1 {
		text = fmt.Sprintf(
			"%s %s at another time than the others: the mean time of the work differs by %s (moment m1).",
			capital(c.named(units)), words.Plural(len(units), "works", "work"), words.FormatDuration(each),
		)
	}
	hit := each / float64(c.length)
	c.add(finding.Finding{Kind: finding.Outlier, Severity: c.unfelt(finding.LevelOf(hit).AtMost(finding.Medium)),
		Lost: trace.Time(shift), Hit: hit, Text: text, View: "moments",
		Evidence: []finding.Evidence{{Name: "distance from the median", Value: each, Unit: "ns",
			From: c.apartQuery(k, rows, peers)},
			{Name: "units", Value: float64(len(units)), Unit: "count"}},
		Selection: finding.Selection{Locations: c.locations(units)}}, units)
}

// apartQuery asks for the mean distance of the busy time, or of the mean time of the work, of rows from the median of
// their peers; "" if they are of several kinds.
func (c *diagnosis) apartQuery(k int, rows, peers []int32) string {
	source, column := c.busyRows()
	if k == 1 {
		source = fmt.Sprintf("moments where role in ('compute', 'io', 'copy')%s", c.whereRows(c.allRows()))
	}
	var alike []int32
	for row := range peers {
		if peers[row] == peers[rows[0]] {
			alike = append(alike, int32(row))
		}
	}
	if source == "" || k == 1 && !c.window.Whole(c.store) || len(alike) > mostNumbers ||
		slices.ContainsFunc(rows, func(row int32) bool { return peers[row] != peers[rows[0]] }) {
		return ""
	}
	what := fmt.Sprintf("total(%s)", column)
	if k == 1 {
		what = "total(weight * mean) / total(weight)"
	}
	return fmt.Sprintf("with t as (select location, %s as v from %s group by 1), every as (select id, "+
		"coalesce(v, 0) as v from locations left join t on location = id where id in (%s)) select avg(abs(v - (select "+
		"median(v) from every))) from every where id in (%s)", what, source, numbers(c.idsOf(alike)),
		numbers(c.idsOf(rows)))
}
