package moments

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// recorded are moments that a program recorded of itself: sketches of windows,
// with nothing finer. It is nil if the run has intervals, or no program recorded any.
type recorded struct {
	rows       map[trace.LocationID][]trace.MomentRow // those that meet the selection
	queued     map[trace.LocationID]float64           // ns that a row waited for a core in the whole run
	begin, end trace.Time                             // of the windows
	selection  trace.Selection
	longest    trace.Time
}

// readRecorded takes the windows that meet the selection. They cannot be cut, so
// those at its ends count whole, which the notes say.
func readRecorded(ctx context.Context, r store.Reader, sel trace.Selection) (*recorded, error) {
	if r.Info().Timed() {
		return nil, nil
	}
	c := &recorded{rows: map[trace.LocationID][]trace.MomentRow{}, begin: sel.End, end: sel.Begin, selection: sel}
	err := r.Moments(ctx, sel.Locations, func(rows []trace.MomentRow) error {
		for _, m := range rows {
			list := c.rows[m.Location]
			if m.Begin < sel.End && m.End > sel.Begin {
				c.begin, c.end, c.longest = min(c.begin, m.Begin), max(c.end, m.End), max(c.longest, m.End-m.Begin)
				list = append(list, m)
			}
			c.rows[m.Location] = list
		}
		return nil
	})
	if err != nil || len(c.rows) == 0 { // a run of samples alone
		return nil, err
	}
	c.queued, err = waitsForCores(ctx, r, sel)
	return c, err
}

// waitsForCores returns the time that each location waited for a core, if the recorder has it.
func waitsForCores(ctx context.Context, r store.Reader, sel trace.Selection) (map[trace.LocationID]float64, error) {
	out := map[trace.LocationID]float64{}
	at := slices.IndexFunc(r.Metrics(), func(m trace.Metric) bool { return m.Name == trace.WaitedForCore })
	if at < 0 {
		return out, nil
	}
	return out, r.Profile(ctx, sel.Locations, func(rows []trace.ProfileRow) error {
		for _, row := range rows {
			if row.Metric == trace.MetricID(at) {
				out[row.Location] += row.Inclusive
			}
		}
		return nil
	})
}

func (c *recorded) has(id trace.LocationID) bool {
	if c == nil {
		return false
	}
	_, ok := c.rows[id]
	return ok
}

// sketches merges the windows of each row.
func (c *recorded) sketches(ids []trace.LocationID, s *state, orders int) ([]moment.Cubic, []moment.Sketch) {
	roles := s.roles
	if s.busy == nil && s.idle == nil { // a recorder names roles and has no regions
		roles = moment.BusyRoles
	}
	for _, p := range s.busy {
		if role, ok := trace.ParseRole(p); ok {
			roles |= moment.Roles(role)
		}
	}
	for _, p := range s.idle {
		if role, ok := trace.ParseRole(p); ok {
			roles &^= moment.Roles(role)
		}
	}
	cubics := make([]moment.Cubic, len(ids))
	var higher []moment.Sketch
	if orders > 3 {
		higher = make([]moment.Sketch, len(ids))
	}
	for i, id := range ids {
		for _, m := range c.rows[id] {
			if !roles.Has(m.Role) {
				continue
			}
			part := moment.Cubic{Origin: m.Begin, Weight: m.Weight, Mean: m.Mean, M2: m.Central[2], M3: m.Central[3]}
			cubics[i].Merge(&part)
			if higher != nil {
				full := moment.Sketch{Origin: m.Begin, Weight: m.Weight, Mean: m.Mean, Central: m.Central}
				higher[i].Merge(&full, orders)
			}
		}
	}
	return cubics, higher
}

// coreNote describes where busy time, which goes by the clock, has more than a twentieth of waiting for a core next
// to it.
func (c *recorded) coreNote(tree *store.Tree) []string {
	const much = 0.05
	rows, most, longest, busyThere := 0, trace.NoLocation, 0.0, 0.0
	for id, windows := range c.rows {
		busy := 0.0
		for _, m := range windows {
			busy += m.Weight
		}
		if queued := c.queued[id]; queued > much*busy && busy > 0 {
			rows++
			if queued > longest || queued == longest && id < most {
				most, longest, busyThere = id, queued, busy
			}
		}
	}
	if rows == 0 {
		return nil
	}
	return []string{fmt.Sprintf("busy time goes by the clock, and others had the cores for some of it: %d of %d rows "+
		"waited for a core for more than 5 %% of their busy time; %s waited longest, %s beside %s of busy time", rows,
		len(c.rows), tree.Name[most], view.FormatTime(trace.Time(longest)), view.FormatTime(trace.Time(busyThere)))}
}

func (c *recorded) notes(tree *store.Tree) []string {
	out := []string{fmt.Sprintf("recorded inside the program: windows of %s, nothing finer is known",
		view.FormatTime(c.longest))}
	if c.begin < c.selection.Begin || c.end > c.selection.End {
		out = append(out,
			fmt.Sprintf("windows count whole: the numbers are those of %s to %s", view.FormatTime(c.begin),
				view.FormatTime(c.end)))
	}
	return append(out, c.coreNote(tree)...)
}
