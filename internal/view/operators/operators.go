// Package operators shows the time of operators of a framework on the host and on GPUs, with their shapes: one bar
// each, or a roofline of their arithmetic against the limits of the device.
//
//	data.go       the twins
//	layout.go     bars; roofline.go, layout_rows.go the other pictures
//	memory.go     who holds memory at the peak; graphs.go the replays of CUDA and HIP graphs
package operators

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/operator"
	"github.com/parallax-hpc/parallax/internal/analysis/replay"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "operators",
	Title:   "Operators",
	Paper:   "the operator view of PyTorch's profiler; roofline after Williams, Waterman, Patterson",
	Summary: "operators with their shapes: time on host and GPU, arithmetic, bytes, roofline",
	HowToRead: "Each row is an operator with the shapes of its inputs, the most GPU time first. The upper bar is " +
		"the time of the GPU work that it launched itself, the lower bar its own time on the host without inner " +
		"operators. Next to them are the number of calls and, if shapes and device are known, the arithmetic per " +
		"second of GPU time and its share of the device's peak. --picture roofline draws one point per operator. " +
		"Points to the right compute more per byte, points higher up more per second. Memory bandwidth limits " +
		"points under the slanted line, arithmetic those under the flat line. --by name merges shapes, --by module " +
		"groups by the Python modules around operators, and --by kernel lists the GPU work itself, also if no " +
		"operators were recorded. --picture memory shows which operators had allocated memory at the peak of a GPU. " +
		"--picture graphs shows the replays of CUDA and HIP graphs and their nodes: the bar is the mean, and the " +
		"line reaches from the shortest to the longest.",
	Needs: view.Needs{Intervals: true},
	Options: view.Words(view.Use("by=shapes", "picture=bars", "top"),
		"by: what a row is: operators with their shapes, by name only, the modules (nn.Module) around them, or GPU "+
			"kernels [shapes name module kernel]",
		"picture: one bar per operator, operators against the peaks of the device, memory by operator at its peak, "+
			"or replays of graphs [bars roofline memory graphs]"),
	Data:    []any{Data{}},
	Compute: view.InTime(compute),
}

type result struct {
	request *view.Request
	regions []trace.Region
	colours *view.Colours
	devices *runfacts.Devices
	by      string // kind of rows, which may not be the one asked for
	tables  *operator.Tables
	table   *operator.Table // of these
	models  []string        // of devices, each once
	peak    *operator.Peak
	whole   trace.Time     // of all work
	memory  []Memory       // of GPUs, the most first
	graphs  []replay.Graph // most time first
	notes   []string
	held    barList
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, regions: q.Store().Regions()}
	r.devices = runfacts.FindDevices(q.Store().Locations(), q.Selection.Locations)
	if len(r.devices.Rows) == 0 {
		return nil, view.Empty("choose other locations", "no location with intervals in the selection")
	}
	var err error
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	r.by = q.Values.Text("by")
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	if len(r.table.Rows) == 0 && (r.by == "shapes" || r.by == "name") {
		// Profilers of devices know kernels alone: show these rather than nothing.
		r.by = "kernel"
		if err := r.read(ctx); err != nil {
			return nil, err
		}
		r.notes = append(r.notes, "no operators are recorded in the selection: rows are what ran on the GPU, by name")
	}
	if len(r.table.Rows) == 0 {
		what := "no operator and no work of a GPU in the selection"
		if r.by == "module" {
			what = "no module (nn.Module, recorded with with_stack or with_modules) in the selection"
		}
		return nil, view.Empty("open a trace of PyTorch's profiler, or choose more of it", "%s", what)
	}
	r.whole = r.table.Unattributed
	for i := range r.table.Rows {
		r.whole += r.table.Rows[i].DeviceSelf
	}
	r.findPeak()
	r.note()
	part := r.devices.In(ctx, q.Store(), q.Window())
	if err := r.readMemory(ctx, part); err != nil {
		return nil, err
	}
	if r.graphs, err = replay.Find(part); err != nil {
		return nil, err
	}
	return r, ctx.Err()
}

// read makes the table that r.by names. Those of a whole run are kept while it is open, and those of a large one with
// its store.
func (r *result) read(ctx context.Context) error {
	by := map[string]operator.By{"shapes": operator.ByShapes, "name": operator.ByName, "module": operator.ByModule,
		"kernel": operator.ByKernel}[r.by]
	var err error
	if r.tables == nil {
		if r.tables, err = tablesOf(ctx, &r.request.Runs[0], r.request.Window(), r.devices); err != nil {
			return err
		}
	}
	table := *r.tables[by]
	r.table = &table
	r.choose()
	return nil
}

func tablesOf(ctx context.Context, run *view.Run, w store.Window, d *runfacts.Devices) (*operator.Tables, error) {
	if !w.Whole(run.Store) {
		return operator.Read(d.In(ctx, run.Store, w))
	}
	return operator.TablesOfRun.Of(ctx, run)
}

// choose keeps the regions of the selection.
func (r *result) choose() {
	chosen := r.request.Selection.Regions
	if chosen == nil {
		return
	}
	names := map[string]bool{}
	for _, id := range chosen {
		names[r.regions[id].Name] = true
	}
	kept := []operator.Row{} // the table may be kept as it is
	for _, x := range r.table.Rows {
		if names[x.Name] || names["nn.Module: "+x.Name] {
			kept = append(kept, x)
		}
	}
	r.table.Rows = kept
}

// findPeak looks up the limits of the devices; of several kinds none is drawn.
func (r *result) findPeak() {
	tree := r.request.Store().Locations()
	seen := map[string]bool{}
	for _, id := range r.devices.GPUs {
		for _, a := range tree.Attributes[id] {
			if name := a.Value.String(); a.Key == "model" && !seen[name] {
				seen[name] = true
				r.models = append(r.models, name)
			}
		}
	}
	if len(r.models) == 1 {
		if p, ok := operator.PeakOf(r.models[0]); ok {
			r.peak = &p
		}
	}
}

func (r *result) note() {
	t := r.table
	if !t.Shaped && r.by == "shapes" {
		r.notes = append(r.notes, "the file tells no shapes (record_shapes=True does): rows are by name")
	}
	if t.UnattributedWork > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of GPU work (%s) were launched by no operator in the selection",
				view.Count(int(t.UnattributedWork), "piece"), view.FormatTime(t.Unattributed)))
	}
	switch {
	case len(r.models) == 0:
	case r.peak == nil && len(r.models) == 1:
		r.notes = append(r.notes, "the peaks of "+r.models[0]+" are not known")
	case r.peak != nil:
		r.notes = append(r.notes,
			fmt.Sprintf("peaks of %s: %s with matrix units in half precision, %s of memory (%s)", r.peak.Device,
				rate(r.peak.Half, "FLOP/s"), rate(r.peak.Memory, "B/s"), r.peak.Source))
		if slices.ContainsFunc(r.table.Rows, func(x operator.Row) bool { return r.peakShare(&x) > 1 }) {
			r.notes = append(r.notes,
				"above the peak: the library went a way with less arithmetic than the formula has (Winograd, "+
					"Fourier), or used matrix units")
		}
	}
}

// rate writes a number per second: "106.9 TFLOP/s".
func rate(x float64, unit string) string {
	for _, p := range []struct {
		by   float64
		sign string
	}{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if x >= p.by {
			return fmt.Sprintf("%.4g %s%s", x/p.by, p.sign, unit)
		}
	}
	return fmt.Sprintf("%.4g %s", x, unit)
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
