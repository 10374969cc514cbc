package operator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// works are the rows of one lane of a GPU that are work.
type works struct {
	rows   []int32
	length []trace.Time
	region []trace.RegionID
}

func (w *works) find(row int32) (trace.Time, trace.RegionID, bool) {
	if len(w.rows) == 0 {
		return 0, 0, false
	}
	if i := int(row) - int(w.rows[0]); uint(i) < uint(len(w.rows)) && w.rows[i] == row {
		// mostly all rows of a stream are work
		return w.length[i], w.region[i], true
	}
	i, ok := slices.BinarySearch(w.rows, row)
	if !ok {
		return 0, 0, false
	}
	return w.length[i], w.region[i], true
}

// A launch joins a call with the work that it started.
type launch struct {
	fromRow, toRow int32
	toLane         uint32
}

// readWork keeps the work of GPUs and who launched it.
func (r *reader) readWork() error {
	r.works = map[uint32]*works{}
	is := make([]bool, len(r.Regions))
	for i := range r.Regions {
		g := &r.Regions[i]
		category := strings.ToLower(g.Category)
		is[i] = category != "cuda_sync" && category != "cuda_event" &&
			(g.Role == trace.RoleCompute || g.Role == trace.RoleCopy || g.Role == trace.RoleCommunication ||
				g.Role == trace.RoleIO)
	}
	err := r.Of(true).Intervals(func(c *trace.Columns) error {
		id := r.Lane(c.Location, c.Lane)
		r.mu.Lock()
		w := r.works[id]
		if w == nil {
			n := c.Len() + c.Follow
			w = &works{rows: make([]int32, 0, n), length: make([]trace.Time, 0, n),
				region: make([]trace.RegionID, 0, n)}
			r.works[id] = w
		}
		r.mu.Unlock()
		for i, region := range c.Region {
			if is[region] {
				w.rows, w.length, w.region = append(w.rows, int32(c.First+i)), append(w.length, max(c.Duration[i], 0)),
					append(w.region, region)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	lanes := r.Lanes[len(r.Lanes)-1]
	r.launches = make([][]launch, lanes)
	err = r.Launches(func(from, to store.Row, _ trace.Time) {
		id := r.Lane(from.Location, from.Lane)
		r.launches[id] = append(r.launches[id], launch{int32(from.Row), int32(to.Row), r.Lane(to.Location, to.Lane)})
	})
	for _, list := range r.launches {
		if !slices.IsSortedFunc(list, byCall) { // links come in order of time
			slices.SortFunc(list, byCall)
		}
	}
	return err
}

func byCall(a, b launch) int {
	if a.fromRow != b.fromRow {
		return cmp.Compare(a.fromRow, b.fromRow)
	}
	return cmp.Or(cmp.Compare(a.toLane, b.toLane), cmp.Compare(a.toRow, b.toRow))
}

// kernels returns the table of work on GPUs by name, from any launcher: all that a recording without operators has.
func (r *reader) kernels() *Table {
	sums := make([]Kernel, len(r.Regions))
	for _, w := range r.works {
		for i, region := range w.region {
			sums[region].Calls++
			sums[region].Time += w.length[i]
		}
	}
	rows := map[string]*Row{}
	for region := range sums {
		if sums[region].Calls == 0 {
			continue
		}
		name := r.Regions[region].Name
		x := rows[name]
		if x == nil {
			x = &Row{Name: name, Region: trace.RegionID(region), Flop: -1, Bytes: -1, Kernels: make([]Kernel, 1)}
			rows[name] = x
		}
		x.Calls += sums[region].Calls
		x.Device += sums[region].Time
	}
	t := &Table{}
	for _, x := range rows {
		x.DeviceSelf = x.Device
		x.Kernels[0] = Kernel{Region: x.Region, Calls: x.Calls, Time: x.Device}
		t.Rows = append(t.Rows, *x)
	}
	t.sort()
	return t
}
