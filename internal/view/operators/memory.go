package operators

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/allocation"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Memory is the content of a device's memory at its peak, with its allocators.
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

// readMemory finds the operators that hold the memory of GPUs at the peak.
func (r *result) readMemory(ctx context.Context, part *runfacts.GPUPart) error {
	tree := r.request.Store().Locations()
	peaks, err := allocation.Peaks(ctx, part)
	if err != nil {
		return err
	}
	for i := range peaks {
		p := &peaks[i]
		r.memory = append(r.memory, Memory{Location: p.Device, Path: tree.Path(p.Device), At: p.At, Peak: p.Total,
			Held: p.Held, Before: p.Before(), Blocks: len(p.Blocks), Holders: r.joinBlocks(p)})
		if n := p.Twice; n > 0 {
			r.notes = append(r.notes,
				fmt.Sprintf("%s at an address that was not freed before", view.Count(int(n), "allocation")))
		}
	}
	slices.SortStableFunc(r.memory, func(a, b Memory) int { return cmp.Compare(b.Peak, a.Peak) })
	return nil
}

// joinBlocks adds up blocks by operator, shapes and module; by name or module where rows are so.
func (r *result) joinBlocks(p *allocation.DevicePeak) []Holder {
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
		k := [4]string{name(b.Operator), p.Shapes[i],
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
	return out
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

// words stand next to the bar of a holder.
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
