package phase

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Source is the window of a run that is cut: its rows, which are locations with intervals, and the units that they
// form, which are compared, such as ranks.
type Source struct {
	Store   store.Reader
	Window  store.Window
	Regions []trace.Region
	Rows    []trace.LocationID
	Units   int
	// Row and Unit of a location, -1 for those that do not count.
	Row, Unit []int32
	Intervals int64 // how many are in the window, about
	Uses      []Use // that a marker is chosen by
	ctx       context.Context
}

// NewSource is a window of a run with its rows; of is the unit of each.
func NewSource(ctx context.Context, r store.Reader, w store.Window, rows []trace.LocationID, units int,
	of []int32) (*Source, error) {
	n, err := r.Count(w)
	s := &Source{Store: r, Window: w, Regions: r.Regions(), Rows: rows, Units: units, Intervals: n, ctx: ctx}
	s.Row, s.Unit = make([]int32, r.Locations().Len()), make([]int32, r.Locations().Len())
	for i := range s.Row {
		s.Row[i], s.Unit[i] = -1, -1
	}
	for i, id := range rows {
		s.Row[id], s.Unit[id] = int32(i), of[i]
	}
	return s, err
}

// Marker reads how to cut, see ParseHow: the regions whose calls are phases, or how many slices. A pattern of regions
// is read by match.
func (s *Source) Marker(text string, match func(string) ([]trace.RegionID, error)) (*Marker, int, error) {
	how, err := ParseHow(text)
	if err != nil || how.Slices > 0 {
		return nil, how.Slices, err
	}
	if how.Auto && runfacts.Spans(s.Store) {
		called, err := runfacts.LinkTargets(s.ctx, s.Store, s.Window, trace.LinkSpawn)
		if err != nil || called != nil {
			return Roots(called), 0, err
		}
	}
	if s.Uses == nil {
		if err := s.addUses(); err != nil {
			return nil, 0, err
		}
	}
	if how.Auto {
		m, err := s.choose()
		return m, DefaultSlices, err
	}
	ids, err := match(text)
	if err != nil {
		return nil, 0, fmt.Errorf("--phase: %w", err)
	}
	return &Marker{Regions: ids, By: text}, 0, nil
}

// choose finds what cuts the run best, nil if nothing does.
func (s *Source) choose() (*Marker, error) {
	if m := Choose(s.Uses, s.Regions, s.Units, s.Window.End-s.Window.Begin); m != nil || s.Intervals > MostScanned {
		return m, nil
	}
	return s.rounds()
}

// addUses asks how often and how long units use regions, from prefix sums.
func (s *Source) addUses() error {
	t, err := s.Store.Time(s.ctx, s.Window)
	if err != nil {
		return err
	}
	for k, id := range t.Locations {
		for i := t.Offsets[k]; i < t.Offsets[k+1]; i++ {
			if u := s.Unit[id]; u >= 0 {
				s.Uses = append(s.Uses, Use{Unit: u, Region: t.Region[i], Calls: t.Calls[i], Inclusive: t.Inclusive[i]})
			}
		}
	}
	return nil
}

// Scan yields the intervals of locations, those of the window if nil. Batches of different locations may come at
// once.
func (s *Source) Scan(ids []trace.LocationID, f func(*trace.Columns) error) error {
	w := s.Window
	if ids != nil {
		w.Locations = ids
	}
	return s.Store.Intervals(s.ctx, w, f)
}

const (
	// MostScanned is the number of intervals that are read to find the phases of every unit.
	// Beyond that the first unit's phases are taken for all, and times come from
	// the store's digests.
	MostScanned = 4 << 20
	// mostCells bounds locations × phases.
	mostCells = 1 << 21
	// mostAsked is the number of phases that are looked at where each costs a query.
	mostAsked = 8
	// DefaultSlices is into how many slices a run is cut that has no phases.
	DefaultSlices = 10
)

// A How is the user's choice of cut: the best there is, so many slices, or else regions of a pattern.
type How struct {
	Auto   bool
	Slices int
}

// ParseHow reads "auto", "slices", "slices:N"; anything else is a pattern.
func ParseHow(text string) (How, error) {
	rest, sliced := strings.CutPrefix(text, "slices")
	switch {
	case text == "" || text == "auto":
		return How{Auto: true}, nil
	case !sliced || rest != "" && rest[0] != ':':
		return How{}, nil
	case rest == "":
		return How{Slices: DefaultSlices}, nil
	}
	n, err := strconv.Atoi(rest[1:])
	if err != nil || n < 1 || n > mostCells {
		return How{}, fmt.Errorf("--phase %q: want slices:N with a whole number", text)
	}
	return How{Slices: n}, nil
}

// Cut cuts the run by the intervals of a marker, into slices where it is nil. The notes name the bounds
// that were applied.
func (s *Source) Cut(m *Marker, slices int) (*Phases, []string, error) {
	most := max(mostCells/max(len(s.Rows), 1), 1)
	large := s.Intervals > MostScanned
	if large {
		most = min(most, mostAsked)
	}
	if m == nil {
		return Slices(s.Window.Begin, s.Window.End, max(min(slices, most), 1), s.Units), nil, nil
	}
	found, err := s.occurrences(m, large)
	if err != nil {
		return nil, nil, err
	}
	if len(found) == 0 {
		return Slices(s.Window.Begin, s.Window.End, min(DefaultSlices, most), s.Units),
			[]string{fmt.Sprintf("no interval of %s in the selection, which is cut into slices", m.By)}, nil
	}
	var notes []string
	if m.Top {
		p := shared(found, s.Units, m.By)
		if n := len(found) - p.Count; n > 0 {
			notes = append(notes,
				fmt.Sprintf("%d of %d requests run while another does and make no phase of their own", n, len(found)))
		}
		return p.Merge(most), notes, nil
	}
	if m.Rounds > 0 {
		if found, err = s.toTheEnds(found, m.calls); err != nil {
			return nil, nil, err
		}
		notes = append(notes, fmt.Sprintf("an iteration ends with %s: the calls from one to the next are the same",
			s.Regions[m.Regions[0]].Name))
	}
	p := FromOccurrences(found, s.Units, m.By)
	if large {
		p = p.Share(found[0].Unit)
		notes = append(notes,
			fmt.Sprintf("phases are those of the first unit that has %s, since the run has more than %d M intervals",
				m.By, MostScanned>>20))
	}
	if n := len(p.List); n > most {
		p = p.Merge(most)
		notes = append(notes, fmt.Sprintf("%d phases are taken together to %d", n, len(p.List)))
	}
	return p, notes, nil
}

// occurrences reads the marker's intervals, clipped to the time looked at; of a
// large run those of the first unit alone.
func (s *Source) occurrences(m *Marker, large bool) ([]Occurrence, error) {
	mark := make([]bool, len(s.Regions))
	for _, r := range m.Regions {
		mark[r] = true
	}
	var only []trace.LocationID
	if large {
		if only = s.firstUnit(mark); only == nil {
			return nil, nil
		}
	}
	var mu sync.Mutex
	var found []Occurrence
	err := s.Scan(only, func(c *trace.Columns) error {
		unit := s.Unit[c.Location]
		if unit < 0 {
			return nil
		}
		var own []Occurrence
		var failed error
		add := func(b, e trace.Time, r trace.RegionID, row int) {
			if b, e = max(b, s.Window.Begin), min(e, s.Window.End); mark[r] && b < e {
				name, err := store.NameOf(s.Store, s.Regions[r].Name,
					store.Row{Location: c.Location, Lane: c.Lane, Row: row})
				failed = cmp.Or(failed, err)
				own = append(own, Occurrence{int(unit), b, e, name})
			}
		}
		if c.First == 0 || len(c.Open) > 0 {
			for _, o := range c.Open {
				if o.Begin < s.Window.Begin {
					add(o.Begin, o.End, o.Region, o.Row)
				}
			}
		}
		for i, r := range c.Region {
			if mark[r] && (!m.Top || c.Parent[i] < 0) {
				add(c.Begin[i], c.End(i), r, c.First+i)
			}
		}
		if own != nil {
			mu.Lock()
			found = append(found, own...)
			mu.Unlock()
		}
		return failed
	})
	return found, err
}

// firstUnit returns the locations of the first unit that uses a marked region.
func (s *Source) firstUnit(mark []bool) (ids []trace.LocationID) {
	unit := int32(-1)
	for _, u := range s.Uses {
		if mark[u.Region] && u.Calls > 0 && (unit < 0 || u.Unit < unit) {
			unit = u.Unit
		}
	}
	for id, u := range s.Unit {
		if unit >= 0 && u == unit {
			ids = append(ids, trace.LocationID(id))
		}
	}
	return ids
}

// Count adds up busy and waiting time by row and phase: in one pass over the
// intervals, or from digests where there are too many of them. State overrides the
// states of regions, see Counter; it takes a pass.
func (s *Source) Count(p *Phases, state []State) (*Table, error) {
	t := NewTable(len(s.Rows), len(p.List))
	if s.Intervals > MostScanned && state == nil && p.Spans == nil {
		return t, s.countRoles(p, t)
	}
	c := &Counter{Phases: p, Table: t, Regions: s.Regions, Begin: s.Window.Begin, End: s.Window.End, Row: s.Row,
		Unit: s.Unit, State: state, Lanes: s.Store.Lanes()}
	err := s.Scan(nil, func(cols *trace.Columns) error { c.Add(cols); return nil })
	c.Close()
	return t, err
}

// countRoles takes the time per role of each row, which is that of its lanes together, from the store's sums.
func (s *Source) countRoles(p *Phases, t *Table) error {
	for k := range p.List {
		times, err := store.RoleTimes(s.ctx, s.Store, s.Rows, []trace.Time{p.List[k].Begin, p.List[k].End})
		if err != nil {
			return err
		}
		for row := range s.Rows {
			t.AddRoles(row, k, (*[trace.RoleCount]trace.Time)(times[row*trace.RoleCount:]))
		}
	}
	return nil
}
