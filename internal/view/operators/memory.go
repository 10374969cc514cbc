package operators

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/allocation"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Memory is what the memory of a device held when most of it was taken, and who had allocated it.
type Memory struct {
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	At       trace.Time       `json:"at"`
	Peak     int64            `json:"peak"`
	// Held is the sum of the blocks; Before was allocated before the recording began.
	Held    int64    `json:"held"`
	Before  int64    `json:"before"`
	Blocks  int      `json:"blocks"`
	Holders []Holder `json:"holders"`
}

// A Holder is the blocks of one operator and its shapes that live at the peak.
type Holder struct {
	Operator string `json:"operator"`
	Shapes   string `json:"shapes"`
	Module   string `json:"module"`
	Within   string `json:"within"`
	Bytes    int64  `json:"bytes"`
	Blocks   int    `json:"blocks"`
	// Share of the peak.
	Share float64 `json:"share"`
	// First is when the first of them was allocated.
	First trace.Time `json:"first"`

	region trace.RegionID
}

// A memoryEvent is an allocator's record while its parts are joined.
type memoryEvent struct {
	allocation.Event
	kind, device int64
	parts        int
}

// readMemory finds who holds the memory of GPUs at the peak.
func (r *result) readMemory(ctx context.Context) error {
	s := r.request.Store()
	if s.Info().Instants == 0 || !slices.Contains(s.Attributes(), "Addr") {
		return nil
	}
	tree := s.Locations()
	events, err := r.memoryEvents(ctx)
	if err != nil {
		return err
	}
	byDevice := map[trace.LocationID][]allocation.Event{}
	for _, e := range events {
		if e.parts < 2 || e.kind != 1 || e.Bytes == 0 { // of the host no totals are kept
			continue
		}
		if id, ok := r.deviceOf(e.Thread, e.device); ok {
			byDevice[id] = append(byDevice[id], e.Event)
		}
	}
	for _, id := range r.devices.GPUs {
		p := allocation.Find(byDevice[id])
		if p == nil {
			continue
		}
		if err := r.holders(ctx, p); err != nil {
			return err
		}
		m := Memory{Location: id, Path: tree.Path(id), At: p.At, Peak: p.Total, Held: p.Held, Before: p.Before(),
			Blocks: len(p.Blocks)}
		if m.Holders, err = r.joinBlocks(ctx, p); err != nil {
			return err
		}
		r.memory = append(r.memory, m)
		if n := p.Twice; n > 0 {
			r.notes = append(r.notes,
				fmt.Sprintf("%s at an address that was not freed before", view.Count(int(n), "allocation")))
		}
	}
	slices.SortStableFunc(r.memory, func(a, b Memory) int { return cmp.Compare(b.Peak, a.Peak) })
	return nil
}

// memoryEvents joins the attributes of the allocator's records.
func (r *result) memoryEvents(ctx context.Context) (map[[2]uint32]*memoryEvent, error) {
	s, w := r.request.Store(), r.request.Window()
	w.Locations = r.devices.Rows
	events := map[[2]uint32]*memoryEvent{}
	var mu sync.Mutex
	for _, x := range []struct {
		name string
		put  func(*memoryEvent, int64)
	}{
		{"Addr", func(e *memoryEvent, v int64) { e.Address = v; e.parts++ }},
		{"Bytes", func(e *memoryEvent, v int64) { e.Bytes = v; e.parts++ }},
		{"Total Allocated", func(e *memoryEvent, v int64) { e.Total = v }},
		{"Device Type", func(e *memoryEvent, v int64) { e.kind = v }},
		{"Device Id", func(e *memoryEvent, v int64) { e.device = v }},
	} {
		a := slices.Index(s.Attributes(), x.name)
		if a < 0 {
			continue
		}
		err := s.InstantAttribute(ctx, w, trace.AttributeID(a), func(c *store.InstantValues) error {
			mu.Lock()
			defer mu.Unlock()
			for i, row := range c.Row {
				v, ok := c.Value[i].Integer()
				if !ok {
					continue
				}
				k := [2]uint32{uint32(c.Location), uint32(row)}
				e := events[k]
				if e == nil {
					e = &memoryEvent{Event: allocation.Event{At: c.Time[i], Total: -1, Thread: c.Location, Row: row}}
					events[k] = e
				}
				x.put(e, v)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return events, nil
}

// deviceOf finds the GPU that a thread means by a number.
func (r *result) deviceOf(thread trace.LocationID, number int64) (trace.LocationID, bool) {
	unit := r.devices.Unit[thread]
	name := fmt.Sprintf(" %d", number)
	only, n := trace.NoLocation, 0
	for g, id := range r.devices.GPUs {
		if r.devices.Owner[g] != unit {
			continue
		}
		if strings.HasSuffix(r.request.Store().Locations().Name[id], name) {
			return id, true
		}
		only = id
		n++
	}
	return only, n == 1
}

// holders names the operators around the blocks.
func (r *result) holders(ctx context.Context, p *allocation.Peak) error {
	w := store.Window{End: r.request.Store().Info().End}
	for i := range p.Blocks {
		w.Locations = append(w.Locations, p.Blocks[i].Thread)
	}
	if len(w.Locations) == 0 {
		return nil
	}
	slices.Sort(w.Locations)
	w.Locations = slices.Compact(w.Locations)
	return p.Attribute(r.regions,
		func(add func(*trace.Columns) error) error { return r.request.Store().Intervals(ctx, w, add) })
}

// joinBlocks adds up blocks by operator, shapes and module; by name or module where rows are so.
func (r *result) joinBlocks(ctx context.Context, p *allocation.Peak) ([]Holder, error) {
	shapes, err := r.shapesOf(ctx, p)
	if err != nil {
		return nil, err
	}
	name := func(id trace.RegionID) string {
		if id == trace.NoRegion {
			return ""
		}
		return r.regions[id].Name
	}
	out := []Holder{}
	at := map[[4]string]int{}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		k := [4]string{name(b.Operator), shapes[placeKey{b.Thread, b.Lane, b.OpRow}],
			strings.TrimPrefix(name(b.Module), "nn.Module: "), name(b.Within)}
		switch r.request.Values.Text("by") {
		case "name":
			k[1], k[2] = "", ""
		case "module":
			k[0], k[1] = "", ""
		}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			out = append(out,
				Holder{Operator: k[0], Shapes: k[1], Module: k[2], Within: k[3], First: b.At, region: b.Operator})
		}
		out[n].Bytes += b.Bytes
		out[n].Blocks++
		out[n].First = min(out[n].First, b.At)
	}
	for i := range out {
		out[i].Share = float64(out[i].Bytes) / float64(max(p.Total, 1))
	}
	slices.SortStableFunc(out, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.First, b.First), cmp.Compare(a.Operator, b.Operator))
	})
	return out, nil
}

type placeKey struct {
	location  trace.LocationID
	lane, row int32
}

// shapesOf reads the shapes of the operators that hold blocks.
func (r *result) shapesOf(ctx context.Context, p *allocation.Peak) (map[placeKey]string, error) {
	want := map[placeKey]bool{}
	from, to := trace.Time(1<<62), trace.Time(0)
	for i := range p.Blocks {
		if b := &p.Blocks[i]; b.OpRow >= 0 {
			want[placeKey{b.Thread, b.Lane, b.OpRow}] = true
			from, to = min(from, b.At), max(to, b.At)
		}
	}
	out := map[placeKey]string{}
	if len(want) == 0 {
		return out, nil
	}
	var mu sync.Mutex
	for _, name := range []string{"Input Dims", "Input dims"} {
		err := view.AttributeNamed(ctx, r.request.Store(), store.Window{Begin: from, End: to + 1}, name,
			func(c *store.AttributeColumns) error {
				mu.Lock()
				defer mu.Unlock()
				for i, row := range c.Row {
					if k := (placeKey{c.Location, int32(c.Lane), row}); want[k] {
						out[k] = c.Value[i].String()
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

// label names a holder.
func (h *Holder) label() string {
	name := h.Operator
	switch {
	case name == "" && h.Module != "":
		name = h.Module
	case name == "":
		name = "(no operator recorded)"
	}
	if s := shapeWords(h.Shapes); s != "" {
		name += " " + s
	}
	return name
}

// words stand beside the bar of a holder.
func (h *Holder) words() string {
	parts := []string{view.FormatBytes(float64(h.Bytes)), view.FormatShare(h.Share), view.Count(h.Blocks, "block")}
	if h.Operator != "" && h.Module != "" {
		parts = append(parts, h.Module)
	}
	if h.Within != "" {
		parts = append(parts, h.Within)
	}
	return strings.Join(parts, " · ")
}

// memoryBars are the holders at the peak of the device that holds most.
func (r *result) memoryBars() (bars []bar, title string) {
	if len(r.memory) == 0 {
		return nil, "no allocations with their addresses in the selection (profile_memory=True records them)"
	}
	m := &r.memory[0]
	title = fmt.Sprintf("%s at %s, when most is taken: %s", r.request.Store().Locations().Name[m.Location],
		view.FormatTime(m.At), view.FormatBytes(float64(m.Peak)))
	if m.Before > 0 {
		bars = append(bars,
			bar{label: "allocated before the recording", value: float64(m.Before),
				words: view.FormatBytes(float64(m.Before)) + " · " +
					view.FormatShare(float64(m.Before)/float64(max(m.Peak, 1))), region: trace.NoRegion,
				colour: hostColour,
				lines: []view.FactLine{{Label: "bytes", Value: view.FormatBytes(float64(m.Before)),
					Exact: view.Thousands(m.Before)}}})
	}
	for i := range m.Holders {
		h := &m.Holders[i]
		lines := []view.FactLine{{Label: "bytes", Value: view.FormatBytes(float64(h.Bytes)),
			Exact: view.Thousands(h.Bytes)}, {Label: "of the peak", Value: view.FormatShare(h.Share)},
			{Label: "blocks", Value: view.Thousands(int64(h.Blocks))},
			{Label: "first allocated", Value: view.FormatTime(h.First), Exact: view.Thousands(int64(h.First)) + " ns"}}
		if h.Module != "" {
			lines = append(lines, view.FactLine{Label: "module", Value: h.Module})
		}
		if h.Within != "" {
			lines = append(lines, view.FactLine{Label: "within", Value: h.Within})
		}
		bars = append(bars,
			bar{label: h.label(), value: float64(h.Bytes), words: h.words(), region: h.region, colour: deviceColour,
				lines: lines})
	}
	return bars, title
}
