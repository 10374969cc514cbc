package operators

import (
	"github.com/parallax-hpc/parallax/internal/analysis/operator"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is an operator with its shapes. Flop and bytes are of one call; flops, bandwidth and intensity null if they
// are unknown.
type Row struct {
	Operator   string     `json:"operator"`
	Shapes     string     `json:"shapes"`
	Types      string     `json:"types"`
	Calls      int64      `json:"calls"`
	Host       trace.Time `json:"host"`
	HostSelf   trace.Time `json:"host_self"`
	Device     trace.Time `json:"device"`
	DeviceSelf trace.Time `json:"device_self"`
	Share      float64    `json:"share"` // of device, by device_self
	Flop       *float64   `json:"flop"`
	Bytes      *float64   `json:"bytes"`
	Flops      *float64   `json:"flops"`
	Bandwidth  *float64   `json:"bandwidth"`
	Intensity  *float64   `json:"intensity"`
	Peak       *float64   `json:"peak_share"`
	Kernels    []Kernel   `json:"kernels"`
}

// A Kernel is work that an operator launched itself.
type Kernel struct {
	Name  string     `json:"name"`
	Calls int64      `json:"calls"`
	Time  trace.Time `json:"time"`
}

// A Collective is communication by kind and size. Bandwidths are in bytes per second of GPU time: of the message, and
// of the bytes on the wires by NCCL's convention.
type Collective struct {
	Collective string     `json:"collective"`
	Bytes      int64      `json:"bytes"`
	Size       int64      `json:"group_size"`
	Calls      int64      `json:"calls"`
	Time       trace.Time `json:"time"`
	Algorithm  *float64   `json:"algorithm_bandwidth"`
	Bus        *float64   `json:"bus_bandwidth"`
}

// Loose is work that no operator launched.
type Loose struct {
	Count int64      `json:"count"`
	Time  trace.Time `json:"time"`
}

// A Device is a kind of GPU and its limits; null if those are not known.
type Device struct {
	Model  string   `json:"model"`
	Half   *float64 `json:"flops_half"`
	Single *float64 `json:"flops_single"`
	Memory *float64 `json:"memory_bandwidth"`
	Source string   `json:"source"`
}

// Data is the "data" of the JSON output.
type Data struct {
	By            string       `json:"by"`
	Rows          []Row        `json:"rows"`
	Communication []Collective `json:"communication"`
	Unattributed  Loose        `json:"unattributed"`
	Loose         Loose        `json:"loose"`    // as unattributed, its name in the release before
	Device        trace.Time   `json:"device"`   // of all work: the base of shares
	ShareOf       string       `json:"share_of"` // the same in words
	Devices       []Device     `json:"devices"`
	// Memory lists the allocations at the peak of each GPU, Graphs those that were launched as one.
	Memory []Memory `json:"memory"`
	Graphs []Graph  `json:"graphs"`
}

func (r *result) Data() any {
	d := Data{By: r.by, Rows: []Row{}, Communication: []Collective{},
		Unattributed: Loose{r.table.UnattributedWork, r.table.Unattributed},
		Device:       r.whole, ShareOf: shareOf, Devices: []Device{},
		Memory: append([]Memory{}, r.memory...), Graphs: r.dataGraphs()}
	d.Loose = d.Unattributed
	for i := range r.table.Rows {
		d.Rows = append(d.Rows, r.row(&r.table.Rows[i]))
		if x := &r.table.Rows[i]; x.Comm.Name != "" {
			d.Communication = append(d.Communication, collective(x))
		}
	}
	for _, m := range r.models {
		x := Device{Model: m}
		if p, ok := operator.PeakOf(m); ok {
			x.Half, x.Single, x.Memory, x.Source = &p.Half, &p.Single, &p.Memory, p.Source
		}
		d.Devices = append(d.Devices, x)
	}
	return d
}

func collective(x *operator.Row) Collective {
	c := Collective{Collective: x.Comm.Name, Bytes: x.Comm.Bytes, Size: x.Comm.Size, Calls: x.Calls, Time: x.Device}
	if x.Device > 0 && x.Comm.Bytes > 0 {
		a := float64(x.Comm.Bytes) * float64(x.Calls) / float64(x.Device) * 1e9
		b := a * x.Comm.Bus()
		c.Algorithm, c.Bus = &a, &b
	}
	return c
}

func (r *result) row(x *operator.Row) Row {
	out := Row{Operator: x.Name, Shapes: x.Shapes, Types: x.Types, Calls: x.Calls, Host: x.Host, HostSelf: x.HostSelf,
		Device: x.Device, DeviceSelf: x.DeviceSelf, Share: r.share(x),
		Flop: known(x.Flop), Bytes: known(x.Bytes), Flops: known(x.Rate()), Bandwidth: known(x.Bandwidth()),
		Intensity: known(x.Intensity()), Peak: known(r.peakShare(x)), Kernels: []Kernel{}}
	for _, k := range x.Kernels {
		out.Kernels = append(out.Kernels, Kernel{r.regions[k.Region].Name, k.Calls, k.Time})
	}
	return out
}

// shareOf names the base of shares, the time of all GPU work.
const shareOf = "all GPU time"

// share is the part of the time of all GPU work that is the row's own.
func (r *result) share(x *operator.Row) float64 {
	return float64(x.DeviceSelf) / float64(max(r.whole, 1))
}

// peakShare is the part of the device's peak for the type of the first input; negative where it is unknown.
func (r *result) peakShare(x *operator.Row) float64 {
	if rate := x.Rate(); rate >= 0 && r.peak != nil {
		if p := r.peak.Of(operator.FirstType(x.Types)); p > 0 {
			return rate / p
		}
	}
	return -1
}

func known(x float64) *float64 {
	if x < 0 {
		return nil
	}
	return &x
}

// Table has a line for each row.
func (r *result) Table() *view.Table {
	t := &view.Table{Rows: [][]any{}, Regions: []trace.RegionID{},
		Columns: []view.Column{{Name: "operator"}, {Name: "shapes"}, {Name: "types"}, {Name: "calls", Unit: "count"},
			{Name: "host", Unit: "ns"}, {Name: "host_self", Unit: "ns"},
			{Name: "device", Unit: "ns"}, {Name: "device_self", Unit: "ns"}, {Name: "flop"},
			{Name: "bytes", Unit: "bytes"},
			{Name: "flops"}, {Name: "bandwidth"}, {Name: "intensity"}, {Name: "peak_share", Unit: "share"}}}
	cell := func(p *float64) any {
		if p == nil {
			return nil
		}
		return *p
	}
	for i := range r.table.Rows {
		x := &r.table.Rows[i]
		d := r.row(x)
		t.Rows = append(t.Rows,
			[]any{d.Operator, d.Shapes, d.Types, d.Calls, int64(d.Host), int64(d.HostSelf), int64(d.Device),
				int64(d.DeviceSelf), cell(d.Flop), cell(d.Bytes), cell(d.Flops), cell(d.Bandwidth), cell(d.Intensity),
				cell(d.Peak)})
		t.Regions = append(t.Regions, x.Region)
	}
	return t
}
