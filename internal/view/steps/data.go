package steps

import (
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is one step of one rank; its terms add up to total.
type Row struct {
	Step          string           `json:"step"`
	Location      trace.LocationID `json:"location"`
	Path          string           `json:"path"`
	Begin         trace.Time       `json:"begin"`
	End           trace.Time       `json:"end"`
	Total         trace.Time       `json:"total"`
	Kernel        trace.Time       `json:"kernel"`
	Memcpy        trace.Time       `json:"memcpy"`
	Memset        trace.Time       `json:"memset"`
	Communication trace.Time       `json:"communication"`
	Runtime       trace.Time       `json:"runtime"`
	Loader        trace.Time       `json:"loader"`
	CPU           trace.Time       `json:"cpu"`
	Other         trace.Time       `json:"other"`
	GPUs          []GPUTime        `json:"gpus"`
}

// A GPUTime is the time of one GPU: span is the sum of the four that follow.
type GPUTime struct {
	Location             trace.LocationID `json:"location"`
	Path                 string           `json:"path"`
	Span                 trace.Time       `json:"span"`
	Computation          trace.Time       `json:"computation"`
	ExposedCommunication trace.Time       `json:"exposed_communication"`
	ExposedCopy          trace.Time       `json:"exposed_copy"`
	Idle                 trace.Time       `json:"idle"`
	Communication        trace.Time       `json:"communication"`
	// Overlap is the part of communication that runs under computation; null without communication.
	Overlap *float64 `json:"overlap"`
}

// A GPU is one GPU over the whole selection.
type GPU struct {
	GPUTime
	Operations   int                   `json:"gpu_operations"`
	Works        int                   `json:"works"` // as gpu_operations, its name in the release before
	Unlinked     Unlinked              `json:"unlinked"`
	Utilization  *float64              `json:"utilization"`
	SMEfficiency *float64              `json:"sm_efficiency"`
	Occupancy    *float64              `json:"occupancy"`
	Causes       map[string]trace.Time `json:"idle_by_cause"`
	Drained      trace.Time            `json:"idle_after_synchronization"`
	Gaps         []Gap                 `json:"gaps"`
	Launches     Launches              `json:"launches"`
}

// Unlinked is work whose launch is not in the file.
type Unlinked struct {
	Count int        `json:"count"`
	Time  trace.Time `json:"time"`
}

// A Gap is a stretch without any work on a GPU.
type Gap struct {
	Begin  trace.Time            `json:"begin"`
	End    trace.Time            `json:"end"`
	Length trace.Time            `json:"length"`
	Cause  string                `json:"cause"`
	Causes map[string]trace.Time `json:"causes"`
	Next   string                `json:"next"`
	// Host is the region of the launching thread for half of it or more.
	Host string `json:"host"`
}

// Launches are how work was launched; times in ns.
type Launches struct {
	Count     int     `json:"count"`
	Call      Spread  `json:"call"`
	Work      Spread  `json:"work"`
	Delay     Spread  `json:"delay"`
	Short     int     `json:"shorter_than_launch"`
	QueueMean float64 `json:"queue_mean"`
	QueueMost int     `json:"queue_max"`
}

// A Spread is a distribution in short.
type Spread struct {
	Mean   float64    `json:"mean"`
	Median trace.Time `json:"q50"`
	P98    trace.Time `json:"q98"`
	Min    trace.Time `json:"min"`
	Max    trace.Time `json:"max"`
}

// Data is the "data" of the JSON output.
type Data struct {
	By   string             `json:"by"`
	Rows []Row              `json:"rows"`
	Mean map[string]float64 `json:"mean"`
	GPUs []GPU              `json:"gpus"`
	// Unlinked is that of all GPUs together.
	Unlinked Unlinked `json:"unlinked"`
	Idle     Idle     `json:"idle"`
	Verdict  Verdict  `json:"verdict"`
	Memory   []Memory `json:"memory"`
}

// Idle is the idle time of all GPUs in the steps, or of the whole selection if there are none, with the host's
// activity meanwhile.
type Idle struct {
	Time   trace.Time            `json:"time"`
	Causes map[string]trace.Time `json:"causes"`
	Shares map[string]float64    `json:"shares"`
}

// A Memory is the peak use of a device's memory.
type Memory struct {
	Location  trace.LocationID `json:"location"`
	Path      string           `json:"path"`
	Allocated float64          `json:"allocated"`
	At        trace.Time       `json:"at"`
	Reserved  *float64         `json:"reserved"`
	Limit     *int64           `json:"limit"`
}

func (r *result) Data() any {
	d := Data{By: r.job.By, Rows: []Row{}, Mean: map[string]float64{}, GPUs: []GPU{}, Idle: r.idleTime(),
		Verdict: r.verdict, Memory: []Memory{}}
	first := r.firstGPUs()
	total := 0.0
	for t := range step.Term(step.Terms) {
		d.Mean[t.String()] = r.job.Mean[t]
		total += r.job.Mean[t]
	}
	d.Mean["total"] = total
	for i := range r.job.Steps {
		s := &r.job.Steps[i]
		id := r.devices.Units[s.Unit]
		row := Row{Step: s.Name, Location: id, Path: r.tree.Path(id), Begin: s.Begin, End: s.End, Total: s.Total(),
			Kernel: s.Terms[step.Kernel], Memcpy: s.Terms[step.Memcpy], Memset: s.Terms[step.Memset],
			Communication: s.Terms[step.Communication], Runtime: s.Terms[step.Runtime], Loader: s.Terms[step.Loader],
			CPU: s.Terms[step.CPU], Other: s.Terms[step.Other], GPUs: []GPUTime{}}
		for k, t := range s.GPUs {
			row.GPUs = append(row.GPUs, r.gpuTime(first[s.Unit][k], t))
		}
		d.Rows = append(d.Rows, row)
	}
	for i := range r.job.GPUs {
		d.GPUs = append(d.GPUs, r.gpu(i))
		d.Unlinked.Count += r.job.GPUs[i].Unlinked
		d.Unlinked.Time += r.job.GPUs[i].UnlinkedTime
	}
	for _, p := range r.peaks {
		m := Memory{Location: p.Device, Path: r.tree.Path(p.Device), Allocated: p.Allocated, At: p.At,
			Reserved: known(p.Reserved)}
		if p.Limit > 0 {
			m.Limit = &p.Limit
		}
		d.Memory = append(d.Memory, m)
	}
	return d
}

// firstGPUs returns the GPUs of each unit.
func (r *result) firstGPUs() [][]int {
	out := make([][]int, len(r.devices.Units))
	for g, u := range r.devices.Owner {
		out[u] = append(out[u], g)
	}
	return out
}

func (r *result) gpuTime(g int, t step.Time) GPUTime {
	id := r.devices.GPUs[g]
	out := GPUTime{Location: id, Path: r.tree.Path(id), Span: t.Span, Computation: t.Computation,
		ExposedCommunication: t.ExposedCommunication, ExposedCopy: t.ExposedCopy, Idle: t.Idle,
		Communication: t.Communication}
	if t.Communication > 0 {
		x := float64(t.Overlapped) / float64(t.Communication)
		out.Overlap = &x
	}
	return out
}

func (r *result) gpu(i int) GPU {
	g := &r.job.GPUs[i]
	out := GPU{GPUTime: r.gpuTime(i, g.Time), Operations: g.Works, Works: g.Works,
		Unlinked:    Unlinked{g.Unlinked, g.UnlinkedTime},
		Utilization: known(g.Utilization), SMEfficiency: known(g.Efficiency), Occupancy: known(g.Occupancy),
		Causes: causes(&g.Causes), Drained: g.Drained, Gaps: []Gap{},
		Launches: Launches{g.Launch.Count, spread(g.Launch.Call), spread(g.Launch.Work), spread(g.Launch.Delay),
			g.Launch.Short, g.Launch.QueueMean, g.Launch.QueueMost}}
	regions := r.request.Store().Regions()
	for k := range g.Gaps {
		x := &g.Gaps[k]
		out.Gaps = append(out.Gaps,
			Gap{Begin: x.Begin, End: x.End, Length: x.Length(), Cause: x.Cause().String(), Causes: causes(&x.Causes),
				Next: regions[x.Next].Name, Host: r.host(x)})
	}
	return out
}

// host returns the region of the launching thread.
func (r *result) host(g *step.Gap) string {
	if g.Host == trace.NoRegion {
		return ""
	}
	return r.request.Store().Regions()[g.Host].Name
}

func causes(times *[step.Causes]trace.Time) map[string]trace.Time {
	out := map[string]trace.Time{}
	for c, t := range times {
		if t > 0 {
			out[step.Cause(c).String()] = t
		}
	}
	return out
}

func spread(s step.Spread) Spread { return Spread{s.Mean, s.Median, s.P98, s.Least, s.Most} }

// known is nil if the file does not say.
func known(x float64) *float64 {
	if x < 0 {
		return nil
	}
	return &x
}

// Table has a line for each step of each rank, or of the GPUs if there are no steps.
func (r *result) Table() *view.Table {
	t := &view.Table{Rows: [][]any{}, Locations: []trace.LocationID{}}
	column := func(name, unit string) { t.Columns = append(t.Columns, view.Column{Name: name, Unit: unit}) }
	if len(r.job.Steps) == 0 || r.idle() {
		for _, n := range []string{"path", "span", "computation", "exposed_communication", "exposed_copy", "idle",
			"communication"} {
			column(n, "ns")
		}
		t.Columns[0].Unit = ""
		for c := range step.Cause(step.Causes) {
			column("idle: "+c.Words(), "ns")
		}
		for i := range r.job.GPUs {
			g := &r.job.GPUs[i]
			row := []any{r.tree.Path(r.devices.GPUs[i]), int64(g.Span), int64(g.Computation),
				int64(g.ExposedCommunication), int64(g.ExposedCopy), int64(g.Idle), int64(g.Communication)}
			for _, c := range g.Causes {
				row = append(row, int64(c))
			}
			t.Rows = append(t.Rows, row)
			t.Locations = append(t.Locations, r.devices.GPUs[i])
		}
		return t
	}
	column("step", "")
	column("path", "")
	for _, n := range []string{"begin", "end", "total"} {
		column(n, "ns")
	}
	for k := range step.Term(step.Terms) {
		column(k.String(), "ns")
	}
	for _, n := range []string{"gpu_computation", "gpu_exposed_communication", "gpu_exposed_copy", "gpu_idle"} {
		column(n, "ns")
	}
	for i := range r.job.Steps {
		s := &r.job.Steps[i]
		id := r.devices.Units[s.Unit]
		row := []any{s.Name, r.tree.Path(id), int64(s.Begin), int64(s.End), int64(s.Total())}
		for _, x := range s.Terms {
			row = append(row, int64(x))
		}
		g := step.SumOfGPUs(s.GPUs)
		t.Rows = append(t.Rows,
			append(row, int64(g.Computation), int64(g.ExposedCommunication), int64(g.ExposedCopy), int64(g.Idle)))
		t.Locations = append(t.Locations, id)
	}
	return t
}

// idle reports whether the picture is of idle time.
func (r *result) idle() bool { return r.request.Values.Text("picture") == "idle" }
