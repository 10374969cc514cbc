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

// FindDevices finds the GPUs of the units that a selection touches, whole units each: what a GPU does cannot be
// told without its host. Processes without a GPU are left out where others have one.
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
		if t.Kind[id] == trace.KindDevice ||
			t.Kind[id] == trace.KindProcess && strings.HasPrefix(t.Name[id], "/device:") {
			// as XLA writes it
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

// LaunchLinks hands out the links from calls to what they started, where both intervals are known. One at a time.
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

// AttributeNamed hands out one attribute of intervals by name; nothing where the run has none of that name.
func AttributeNamed(ctx context.Context, r store.Reader, w store.Window, name string,
	f func(*store.AttributeColumns) error) error {
	a := slices.Index(r.Attributes(), name)
	if a < 0 {
		return nil
	}
	return r.AttributeColumn(ctx, w, trace.AttributeID(a), f)
}
