package runfacts

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Devices says which rows of a run hold the work of GPUs, and whose these are. A unit is a
// process with its threads and GPUs; Unit and GPU are by location, -1 for none.
type Devices struct {
	Units, GPUs []trace.LocationID
	Unit, GPU   []int32
	Owner       []int32            // of each GPU: its unit
	Rows        []trace.LocationID // of all units, ascending
}

// FindDevices finds the GPUs of the units that a selection touches, whole units each: the work of a GPU cannot
// be explained without its host. Processes without a GPU are left out if others have one.
func FindDevices(t *store.Tree, selected []trace.LocationID) *Devices {
	d := &Devices{Unit: make([]int32, t.Len()), GPU: make([]int32, t.Len())}
	unit, gpu := make([]trace.LocationID, t.Len()), make([]trace.LocationID, t.Len())
	var hosts []trace.LocationID
	for i := range unit {
		id := trace.LocationID(i)
		d.Unit[i], d.GPU[i] = -1, -1
		unit[i], gpu[i] = id, trace.NoLocation
		up := t.Parent[id]
		if up != trace.NoLocation {
			gpu[i] = gpu[up]
			if t.Kind[id] != trace.KindProcess {
				unit[i] = unit[up]
			}
			if t.Kind[id] == trace.KindStream && gpu[i] == trace.NoLocation {
				gpu[i] = up
			}
		}
		if isGPU(t, id) {
			gpu[i] = id
		}
		if t.Holds[id] && gpu[i] == trace.NoLocation && !slices.Contains(hosts, unit[i]) && len(hosts) < 2 {
			hosts = append(hosts, unit[i])
		}
	}
	touched := map[trace.LocationID]bool{}
	for _, id := range Chosen(t, selected, t.Holds) {
		touched[unit[id]] = true
	}
	owns := map[trace.LocationID]bool{}
	home := func(id trace.LocationID) trace.LocationID { // of a GPU's row
		if u := unit[id]; u != gpu[id] || len(hosts) != 1 {
			return u
		}
		return hosts[0]
	}
	for id, g := range gpu {
		if g != trace.NoLocation && t.Holds[id] {
			if u := home(trace.LocationID(id)); touched[unit[id]] || touched[u] {
				owns[u], touched[u] = true, true
			}
		}
	}
	units, gpus := map[trace.LocationID]int32{}, map[trace.LocationID]int32{}
	for i := range unit {
		id := trace.LocationID(i)
		if !t.Holds[id] {
			continue
		}
		u := unit[i]
		if gpu[i] != trace.NoLocation {
			u = home(id)
		}
		if !touched[u] || len(owns) > 0 && !owns[u] {
			continue
		}
		k, ok := units[u]
		if !ok {
			k = int32(len(d.Units))
			units[u] = k
			d.Units = append(d.Units, u)
		}
		d.Unit[i] = k
		d.Rows = append(d.Rows, id)
		if g := gpu[i]; g != trace.NoLocation {
			n, ok := gpus[g]
			if !ok {
				n = int32(len(d.GPUs))
				gpus[g] = n
				d.GPUs, d.Owner = append(d.GPUs, g), append(d.Owner, k)
			}
			d.GPU[i] = n
		}
	}
	return d
}

// isGPU reports whether a location is a GPU; XLA writes GPUs as processes.
func isGPU(t *store.Tree, id trace.LocationID) bool {
	return t.Kind[id] == trace.KindDevice ||
		t.Kind[id] == trace.KindProcess && strings.HasPrefix(t.Name[id], "/device:")
}

// HasGPU reports whether FindDevices finds a GPU in the whole run. O(locations).
func HasGPU(t *store.Tree) bool {
	of := make([]bool, t.Len()) // rows of GPUs
	for i := range of {
		id := trace.LocationID(i)
		up := t.Parent[id]
		of[i] = isGPU(t, id) || up != trace.NoLocation && (of[up] || t.Kind[id] == trace.KindStream)
		if of[i] && t.Holds[id] {
			return true
		}
	}
	return false
}

// LaunchLinks passes the links from calls to the work they started to f, if both intervals are known, one at a
// time.
func LaunchLinks(ctx context.Context, r store.Reader, w store.Window, f func(from, to store.Row, at trace.Time)) error {
	var mu sync.Mutex
	return r.Links(ctx, w, func(l *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, k := range l.Kind {
			if k == trace.LinkSpawn && l.FromRow[i] >= 0 && l.ToRow[i] >= 0 {
				f(store.Row{Location: l.FromLocation[i], Lane: int(l.FromLane[i]), Row: int(l.FromRow[i])},
					store.Row{Location: l.ToLocation[i], Lane: int(l.ToLane[i]), Row: int(l.ToRow[i])}, l.FromTime[i])
			}
		}
		return nil
	})
}

// QueueCounter is a counter of each GPU that no store holds: it follows from the links of launches.
var QueueCounter = trace.Counter{Name: "launch queue", Unit: "pieces of work"}

// AttributeNamed yields one attribute of intervals by name; nothing where the run has none of that name.
func AttributeNamed(ctx context.Context, r store.Reader, w store.Window, name string,
	f func(*store.AttributeColumns) error) error {
	a := slices.Index(r.Attributes(), name)
	if a < 0 {
		return nil
	}
	return r.AttributeColumn(ctx, w, trace.AttributeID(a), f)
}

// A GPUPart is a window of a run with its GPUs and their hosts, as kernels read it.
type GPUPart struct {
	*Devices
	Store   store.Reader
	Window  store.Window // of all rows
	Regions []trace.Region
	Lanes   []uint32 // first lane of each location, see store.Reader
	ctx     context.Context
}

// In returns the rows of devices and their hosts in a window.
func (d *Devices) In(ctx context.Context, r store.Reader, w store.Window) *GPUPart {
	w.Locations = d.Rows
	return &GPUPart{Devices: d, Store: r, Window: w, Regions: r.Regions(), Lanes: r.Lanes(), ctx: ctx}
}

// Lane numbers a lane among those of all locations.
func (p *GPUPart) Lane(id trace.LocationID, lane int) uint32 { return p.Lanes[id] + uint32(lane) }

// Of returns the rows of GPUs alone, or those of hosts.
func (p *GPUPart) Of(gpus bool) *GPUPart {
	part := *p
	part.Window.Locations = []trace.LocationID{}
	for _, id := range p.Rows {
		if p.GPU[id] >= 0 == gpus {
			part.Window.Locations = append(part.Window.Locations, id)
		}
	}
	return &part
}

// Intervals yields all intervals, as the store does.
func (p *GPUPart) Intervals(f func(*trace.Columns) error) error {
	if len(p.Window.Locations) == 0 {
		return nil
	}
	return p.Store.Intervals(p.ctx, p.Window, f)
}

// Launches yields the links from calls of hosts to the work that they started, one at a time.
func (p *GPUPart) Launches(f func(from, to store.Row, at trace.Time)) error {
	return LaunchLinks(p.ctx, p.Store, p.Window, func(from, to store.Row, at trace.Time) {
		if p.GPU[to.Location] >= 0 && p.GPU[from.Location] < 0 {
			f(from, to, at)
		}
	})
}

// Attribute yields one attribute of intervals by name; nothing where the run has none of that name. Several
// goroutines may call f at once, never for one location.
func (p *GPUPart) Attribute(name string, f func(*store.AttributeColumns)) error {
	if len(p.Window.Locations) == 0 {
		return nil
	}
	return AttributeNamed(p.ctx, p.Store, p.Window, name, func(c *store.AttributeColumns) error {
		f(c)
		return nil
	})
}

// Recorded are the parts of the window in which the recorder was on.
func (p *GPUPart) Recorded() ([][2]trace.Time, error) {
	return Recorded(p.ctx, p.Store, p.Window.Begin, p.Window.End)
}

// A GPU job with fewer intervals is taken apart while one waits; of one with more too much would be kept.
const (
	fewIntervals  = 1 << 20
	mostIntervals = 3 << 24
)

// IsLargeJob reports whether results of a GPU job are kept next to its store.
func IsLargeJob(r store.Reader) bool {
	n := r.Info().Intervals
	return r.Info().Timed() && n >= fewIntervals && n <= mostIntervals &&
		HasGPU(r.Locations())
}
