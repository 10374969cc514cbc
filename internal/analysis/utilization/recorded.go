package utilization

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Recorded are moments that a program recorded of itself: sketches of windows,
// with nothing finer. It is nil if the run has intervals, or no program recorded any.
type Recorded struct {
	rows       map[trace.LocationID][]trace.MomentRow // those that meet the selection
	queued     map[trace.LocationID]float64           // ns that a row waited for a core in the whole run
	Begin, End trace.Time                             // of the windows
	Longest    trace.Time
}

// readRecorded takes the windows that meet the selection. They cannot be cut, so
// those at its ends count whole, which the notes say.
func readRecorded(ctx context.Context, r store.Reader, sel trace.Selection) (*Recorded, error) {
	if r.Info().Timed() {
		return nil, nil
	}
	c := &Recorded{rows: map[trace.LocationID][]trace.MomentRow{}, Begin: sel.End, End: sel.Begin}
	err := r.Moments(ctx, sel.Locations, func(rows []trace.MomentRow) error {
		for _, m := range rows {
			list := c.rows[m.Location]
			if m.Begin < sel.End && m.End > sel.Begin {
				c.Begin, c.End, c.Longest = min(c.Begin, m.Begin), max(c.End, m.End), max(c.Longest, m.End-m.Begin)
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

func (c *Recorded) has(id trace.LocationID) bool {
	if c == nil {
		return false
	}
	_, ok := c.rows[id]
	return ok
}

// sketches merges the windows of each row.
func (c *Recorded) sketches(ids []trace.LocationID, s *State, orders int) ([]moment.Cubic, []moment.Sketch) {
	roles := s.roles
	if s.Busy == nil && s.Idle == nil { // a recorder names roles and has no regions
		roles = moment.BusyRoles
	}
	roles = (roles | s.Busy.roles()) &^ s.Idle.roles()
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

// A CoreWait is waiting of rows for a core, next to their busy time, which goes by the clock.
type CoreWait struct {
	Rows, Of     int // that waited for more than a twentieth of their busy time
	Longest      trace.LocationID
	Waited, Busy float64 // of the row that waited longest, in ns
}

// WaitForCores finds the rows that waited much for a core.
func (c *Recorded) WaitForCores() CoreWait {
	const much = 0.05
	w := CoreWait{Of: len(c.rows), Longest: trace.NoLocation}
	for id, windows := range c.rows {
		busy := 0.0
		for _, m := range windows {
			busy += m.Weight
		}
		if queued := c.queued[id]; queued > much*busy && busy > 0 {
			w.Rows++
			if queued > w.Waited || queued == w.Waited && id < w.Longest {
				w.Longest, w.Waited, w.Busy = id, queued, busy
			}
		}
	}
	return w
}
