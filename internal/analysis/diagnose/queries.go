package diagnose

// Parts of the SQL queries by which the numbers of claims are recomputed.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostNumbers bounds the lists of a query.
const mostNumbers = 4096

// timesIn is the table of times of regions in a window with its condition, to which more can be added.
func (f *facts) timesIn(begin, end trace.Time, regions []trace.RegionID) string {
	if len(regions) == 0 || len(regions) > mostNumbers {
		return ""
	}
	in := fmt.Sprintf("region_id in (%s)", numbers(regions))
	if f.profile {
		return f.profileRows() + " and " + in
	}
	return fmt.Sprintf("time_in(%d, %d) where %s%s", begin, end, in, f.whereRows(f.allRows()))
}

// peerTimes is the table of times of regions on the rows by which units are compared, with its condition.
func (f *facts) peerTimes(regions []trace.RegionID) string {
	source, rows := f.times(regions), f.peerRows()
	if source == "" || len(rows) == len(f.rows) {
		return source
	}
	return source + " and location in (" + numbers(f.idsOf(rows)) + ")"
}

// times is timesIn of the whole selection.
func (f *facts) times(regions []trace.RegionID) string {
	return f.timesIn(f.window.Begin, f.window.End, regions)
}

// profileRows are the totals of a profile that are added up; "" where they do not add up.
func (f *facts) profileRows() string {
	metrics := f.store.Metrics()
	if len(metrics) == 0 || metrics[f.metric()].Join != trace.JoinSum {
		return ""
	}
	flat := 0
	if slices.ContainsFunc(f.store.CallPaths(), func(p trace.CallPath) bool { return p.Flat }) {
		flat = 1
	}
	return fmt.Sprintf("profile where metric = %s and flat = %d%s", quoted(metrics[f.metric()].Name), flat,
		f.whereRows(f.allRows()))
}

// busyRows is the table of busy time with its condition, and the column that has it.
func (f *facts) busyRows() (source, column string) { return f.busyOf(f.allRows()) }

// busyOf is busyRows of some rows.
func (f *facts) busyOf(rows []int32) (source, column string) {
	if !f.profile {
		return fmt.Sprintf("busy(null, %d, %d) where true%s", f.window.Begin, f.window.End, f.whereRows(rows)), "busy"
	}
	source = f.profileRows()
	if source != "" && len(rows) < len(f.rows) {
		source += " and location in (" + numbers(f.idsOf(rows)) + ")"
	}
	if source == "" {
		return "", ""
	}
	var busy []trace.RegionID
	for r := range f.regions {
		if f.regions[r].Role.Busy() && !f.skipped(trace.RegionID(r)) {
			busy = append(busy, trace.RegionID(r))
		}
	}
	if len(busy) > mostNumbers {
		return "", ""
	}
	return source + fmt.Sprintf(" and region_id in (%s)", numbers(busy)), "exclusive"
}

// everyTime is the table of all times with its condition.
func (f *facts) everyTime() string {
	if !f.profile {
		return fmt.Sprintf("time_in(%d, %d) where true%s", f.window.Begin, f.window.End, f.whereRows(f.allRows()))
	}
	source := f.profileRows()
	if skipped := f.leftOut(); source != "" && len(skipped) > 0 {
		source += fmt.Sprintf(" and region_id not in (%s)", numbers(skipped))
	}
	return source
}

// sumQuery adds up a column of a table; what names the cell: "total(exclusive) / 8".
func sumQuery(what, source string) string {
	if source == "" {
		return ""
	}
	return "select " + what + " from " + source
}

// unitsQuery asks for a statistic of a column over units: "min", "median", "avg(v) / max"; v is the sum of a unit.
func (f *facts) unitsQuery(statistic, column, source string, units []int32) string {
	key, id, ok := f.unitKey()
	if every := f.everyTime(); ok && source != "" && every != "" && len(units) > mostNumbers &&
		len(units) == len(f.units) {
		return fmt.Sprintf("with t as materialized (select %s as u, total(%s) as v from %s group by 1), e as "+
			"materialized (select distinct %s as u from %s) select %s(coalesce(v, 0)) from e left join t using (u)",
			key,
			column, source, key, every, statistic)
	}
	if !ok || source == "" || len(units) == 0 || len(units) > mostNumbers {
		return ""
	}
	list := make([]string, len(units))
	for i, u := range units {
		list[i] = fmt.Sprint(id(u))
	}
	name := key
	if key == "location" {
		name = "id"
	}
	return fmt.Sprintf("with t as materialized (select %s as u, total(%s) as v from %s group by 1) select "+
		"%s(coalesce(v, 0)) from (select distinct %s as u from locations where %s in (%s)) left join t using (u)",
		key, column, source,
		statistic, name, name, strings.Join(list, ", "))
}

// unitKey is the column of tables that distinguishes units, and its value of a unit; false where none does.
func (f *facts) unitKey() (column string, value func(u int32) int64, ok bool) {
	seen := make(map[int32]bool, len(f.units))
	ranked := true
	for _, id := range f.units {
		r := f.tree.Rank[id]
		ranked = ranked && r >= 0 && !seen[r]
		seen[r] = true
	}
	for _, id := range f.rows {
		ranked = ranked && f.tree.Rank[id] == f.tree.Rank[f.units[f.unitOf[id]]]
	}
	if ranked {
		return "rank", func(u int32) int64 { return int64(f.tree.Rank[f.units[u]]) }, true
	}
	if len(f.rows) != len(f.units) {
		return "", nil, false
	}
	row := make([]trace.LocationID, len(f.units))
	for _, id := range f.rows {
		row[f.unitOf[id]] = id
	}
	return "location", func(u int32) int64 { return int64(row[u]) }, true
}

// allUnits are the numbers of all units, without some.
func (f *facts) allUnits(without ...int32) []int32 {
	out, left := make([]int32, 0, len(f.units)), f.among(without)
	for u := range int32(len(f.units)) {
		if !left[u] {
			out = append(out, u)
		}
	}
	return out
}

// among marks some units.
func (f *facts) among(units []int32) []bool {
	in := make([]bool, len(f.units))
	for _, u := range units {
		in[u] = true
	}
	return in
}

func (f *facts) allRows() []int32 {
	out := make([]int32, len(f.rows))
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// regionsOfRole are the regions with some roles.
func (f *facts) regionsOfRole(roles ...trace.Role) (out []trace.RegionID) {
	for r := range f.regions {
		if slices.Contains(roles, f.regions[r].Role) {
			out = append(out, trace.RegionID(r))
		}
	}
	return out
}

// waitTable is the table of waits.
func (f *facts) waitTable() string {
	return fmt.Sprintf("waited(%d, %d)", f.window.Begin, f.window.End)
}

// waitsFor is the condition that a wait has one of some causes; "" where these are too many to list.
func (c *diagnosis) waitsFor(causes []causeKey) string {
	if len(causes) == 0 || len(causes) > mostNumbers {
		return ""
	}
	by := map[int32][]trace.LocationID{}
	for _, k := range causes {
		by[k.region] = append(by[k.region], c.accounts.actors[k.actor])
	}
	var parts []string
	for region, at := range by {
		slices.Sort(at)
		parts = append(parts, fmt.Sprintf("cause_region = %s and cause in (%s)",
			quoted(c.accounts.regionNames[region]), numbers(at)))
	}
	slices.Sort(parts)
	return "(" + strings.Join(parts, " or ") + ")"
}

// causesOfFault are the causes of a fault.
func causesOfFault(f *fault) []causeKey {
	out := make([]causeKey, len(f.rows))
	for i, r := range f.rows {
		out[i] = causeKey{r.Actor, r.Region}
	}
	return out
}

// idsOf are the locations of rows.
func (f *facts) idsOf(rows []int32) []trace.LocationID {
	out := make([]trace.LocationID, len(rows))
	for i, row := range rows {
		out[i] = f.rows[row]
	}
	return out
}

// whereRows is the condition that a row is one of some; nothing where all rows of the run are meant.
func (f *facts) whereRows(rows []int32) string {
	if len(rows) == len(f.rows) && f.window.Locations == nil {
		return ""
	}
	return " and location in (" + numbers(f.idsOf(rows)) + ")"
}

// numbers writes ids for a list of SQL.
func numbers[T ~uint32](ids []T) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = fmt.Sprint(uint64(id))
	}
	return strings.Join(out, ", ")
}

// quoted writes a text for SQL.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
