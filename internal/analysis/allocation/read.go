package allocation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A DevicePeak is the peak of a GPU. Shapes are those of the operator of each block.
type DevicePeak struct {
	*Peak
	Device trace.LocationID
	Shapes []string
}

// Peaks returns the allocations that fill each GPU's memory at its peak, in the order of GPUs.
func Peaks(ctx context.Context, p *runfacts.GPUPart) (out []DevicePeak, err error) {
	if p.Store.Info().Instants == 0 || !slices.Contains(p.Store.Attributes(), "Addr") {
		return nil, nil
	}
	records, err := readRecords(ctx, p)
	if err != nil {
		return nil, err
	}
	byDevice := map[trace.LocationID][]Event{}
	for _, e := range records {
		if e.parts < 2 || e.kind != 1 || e.Bytes == 0 { // of the host no totals are kept
			continue
		}
		if id, ok := deviceOf(p, e.Thread, e.device); ok {
			byDevice[id] = append(byDevice[id], e.Event)
		}
	}
	for _, id := range p.GPUs {
		x := DevicePeak{Peak: Find(byDevice[id]), Device: id}
		if x.Peak == nil {
			continue
		}
		if err := x.nameBlocks(ctx, p); err != nil {
			return nil, err
		}
		if x.Shapes, err = x.readShapes(ctx, p.Store); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// A record is an allocator's record while its parts are joined.
type record struct {
	Event
	kind, device int64
	parts        int
}

// readRecords joins the attributes of the allocator's records, by location and row.
func readRecords(ctx context.Context, p *runfacts.GPUPart) (map[[2]uint32]*record, error) {
	records := map[[2]uint32]*record{}
	var mu sync.Mutex
	for _, x := range []struct {
		name string
		put  func(*record, int64)
	}{
		{"Addr", func(e *record, v int64) { e.Address = v; e.parts++ }},
		{"Bytes", func(e *record, v int64) { e.Bytes = v; e.parts++ }},
		{"Total Allocated", func(e *record, v int64) { e.Total = v }},
		{"Device Type", func(e *record, v int64) { e.kind = v }},
		{"Device Id", func(e *record, v int64) { e.device = v }},
	} {
		a := slices.Index(p.Store.Attributes(), x.name)
		if a < 0 {
			continue
		}
		err := p.Store.InstantAttribute(ctx, p.Window, trace.AttributeID(a), func(c *store.InstantValues) error {
			mu.Lock()
			defer mu.Unlock()
			for i, row := range c.Row {
				v, ok := c.Value[i].Integer()
				if !ok {
					continue
				}
				k := [2]uint32{uint32(c.Location), uint32(row)}
				e := records[k]
				if e == nil {
					e = &record{Event: Event{At: c.Time[i], Total: -1, Thread: c.Location, Row: row}}
					records[k] = e
				}
				x.put(e, v)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return records, nil
}

// deviceOf finds the GPU that a thread means by a number.
func deviceOf(p *runfacts.GPUPart, thread trace.LocationID, number int64) (trace.LocationID, bool) {
	unit := p.Unit[thread]
	name := fmt.Sprintf(" %d", number)
	only, n := trace.NoLocation, 0
	for g, id := range p.GPUs {
		if p.Owner[g] != unit {
			continue
		}
		if strings.HasSuffix(p.Store.Locations().Name[id], name) {
			return id, true
		}
		only = id
		n++
	}
	return only, n == 1
}

// nameBlocks names the operators around the blocks.
func (x *DevicePeak) nameBlocks(ctx context.Context, p *runfacts.GPUPart) error {
	w := store.Window{End: p.Store.Info().End}
	for i := range x.Blocks {
		w.Locations = append(w.Locations, x.Blocks[i].Thread)
	}
	if len(w.Locations) == 0 {
		return nil
	}
	slices.Sort(w.Locations)
	w.Locations = slices.Compact(w.Locations)
	return x.Attribute(p.Regions, func(add func(*trace.Columns) error) error { return p.Store.Intervals(ctx, w, add) })
}

// readShapes reads the shapes of the operators that hold blocks.
func (x *DevicePeak) readShapes(ctx context.Context, r store.Reader) ([]string, error) {
	want := map[store.Row][]int{} // the blocks of an operator
	from, to := trace.Time(1<<62), trace.Time(0)
	for i := range x.Blocks {
		if b := &x.Blocks[i]; b.OpRow >= 0 {
			k := store.Row{Location: b.Thread, Lane: int(b.Lane), Row: int(b.OpRow)}
			want[k] = append(want[k], i)
			from, to = min(from, b.At), max(to, b.At)
		}
	}
	out := make([]string, len(x.Blocks))
	if len(want) == 0 {
		return out, nil
	}
	var mu sync.Mutex
	for _, name := range []string{"Input Dims", "Input dims"} {
		err := runfacts.AttributeNamed(ctx, r, store.Window{Begin: from, End: to + 1}, name,
			func(c *store.AttributeColumns) error {
				mu.Lock()
				defer mu.Unlock()
				for i, row := range c.Row {
					for _, b := range want[store.Row{Location: c.Location, Lane: c.Lane, Row: int(row)}] {
						out[b] = c.Value[i].String()
					}
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
