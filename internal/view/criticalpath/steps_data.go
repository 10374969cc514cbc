package criticalpath

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A StepRow is the time of a call path on the critical paths of steps. Mean and percentiles are over the steps that
// have it there.
type StepRow struct {
	Region    string     `json:"region" unit:""`
	Kind      string     `json:"kind" unit:""`
	CallPath  string     `json:"callpath" unit:""`
	Time      trace.Time `json:"time" unit:"ns"`
	Share     float64    `json:"share" unit:"share"`
	Mean      float64    `json:"mean" unit:"ns"`
	P50       trace.Time `json:"p50" unit:"ns"`
	P95       trace.Time `json:"p95" unit:"ns"`
	P99       trace.Time `json:"p99" unit:"ns"`
	Steps     int        `json:"steps" unit:"count"`
	StepShare float64    `json:"step_share" unit:"share"`
	// Half is the most that a step would gain on average if this took half the time.
	Half     float64          `json:"gain_if_halved" unit:"ns"`
	RegionID trace.RegionID   `json:"-" about:"region"`
	At       trace.LocationID `json:"-" about:"location"`

	kind steppath.Kind
}

// A StepSection is a stretch of the path of one step.
type StepSection struct {
	Location *trace.LocationID `json:"location"`
	Path     string            `json:"path"`
	Region   string            `json:"region"`
	Begin    trace.Time        `json:"begin"`
	End      trace.Time        `json:"end"`
	Kind     string            `json:"kind"`
}

// A KindTime is the time of a kind on all paths.
type KindTime struct {
	Kind  string     `json:"kind"`
	Time  trace.Time `json:"time"`
	Share float64    `json:"share"`
}

// A ShownStep is the longest step, whose path is given.
type ShownStep struct {
	Name  string     `json:"name"`
	Begin trace.Time `json:"begin"`
	End   trace.Time `json:"end"`
}

// StepData is the "data" of the JSON output of a GPU job. Length is of all steps together; path is that of the step
// shown.
type StepData struct {
	Length trace.Time    `json:"length"`
	Steps  int           `json:"steps"`
	Shown  ShownStep     `json:"shown"`
	Path   []StepSection `json:"path"`
	By     []StepRow     `json:"by"`
	Kinds  []KindTime    `json:"kinds"`
	// Shares of the length: on threads, on GPUs, and between them, from launch or other work to begin.
	OnHost  float64 `json:"on_host"`
	OnGPUs  float64 `json:"on_gpus"`
	Between float64 `json:"between"`
}

func (r *stepResult) Data() any {
	d := StepData{Length: r.sums.Length, Steps: len(r.steps),
		Shown: ShownStep{r.steps[r.sums.Longest].Name, r.steps[r.sums.Longest].Begin, r.steps[r.sums.Longest].End},
		Path:  []StepSection{},
		By:    append([]StepRow{}, r.rows...), Kinds: []KindTime{}}
	d.OnHost, d.OnGPUs, d.Between = r.sums.Places()
	for i := range r.path {
		x := &r.path[i]
		s := StepSection{Begin: x.Begin, End: x.End, Kind: x.Kind.String()}
		if x.Location != trace.NoLocation {
			at := x.Location
			s.Location, s.Path = &at, r.tree.Path(at)
		}
		if x.Region != trace.NoRegion {
			s.Region = r.regions[x.Region].Name
		}
		d.Path = append(d.Path, s)
	}
	for k, t := range r.sums.Kinds {
		d.Kinds = append(d.Kinds, KindTime{steppath.Kind(k).String(), t, share(t, r.sums.Length)})
	}
	return d
}

func (r *stepResult) Table() *view.Table { return view.TableOf(r.rows, nil, nil) }

func (x *StepRow) label() string {
	switch {
	case x.Region == "":
		return x.Kind
	case x.kind == steppath.Host || x.kind == steppath.Call || x.kind.OnGPU():
		return x.Region
	}
	return x.Kind + ": " + x.Region
}

// stepColours are by kind.
var stepColours = [steppath.Kinds]scene.Colour{
	steppath.Host:          scene.RoleColour(uint8(trace.RoleAnnotation)),
	steppath.Call:          scene.RoleColour(uint8(trace.RoleOverhead)),
	steppath.Return:        scene.RoleColour(uint8(trace.RoleSynchronization)),
	steppath.Nothing:       scene.RoleColour(uint8(trace.RoleIdle)),
	steppath.Kernel:        scene.RoleColour(uint8(trace.RoleCompute)),
	steppath.Copy:          scene.RoleColour(uint8(trace.RoleCopy)),
	steppath.Communication: scene.RoleColour(uint8(trace.RoleCommunication)),
	steppath.Launch:        scene.RoleColour(uint8(trace.RoleIO)),
	steppath.Queue:         scene.Shade(uint8(trace.RoleSynchronization), 1),
}

// kindWords describe the kinds in the legend.
var kindWords = [steppath.Kinds]string{"on the host", "call of the GPU's library", "return of a call that waited",
	"nothing recorded", "kernel", "copy", "communication", "from launch to begin", "wait for work before"}

// Scene draws the path of one step, and one bar per row.
func (r *stepResult) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	s.Notes = r.Notes()
	w, h := float32(size.Width), float32(size.Height)
	y := float32(headRoom)
	if h >= 160 {
		x := &r.steps[r.sums.Longest]
		list := make([]stretch, len(r.path))
		for i := range r.path {
			p := &r.path[i]
			list[i] = stretch{p.Begin, p.End, p.Kind.String(), stepColours[p.Kind]}
			if p.Region != trace.NoRegion {
				list[i].name = r.regions[p.Region].Name
			}
		}
		head := fmt.Sprintf("%s: %s", x.Name, view.FormatTime(x.End-x.Begin))
		if len(r.steps) > 1 {
			head = "the longest step, " + head
		}
		drawStrip(s, w, y, x.Begin, x.End-x.Begin, head, list)
		y += stripHigh + scene.AxisHeight + headRoom + 4
	}
	bars := make([]bar, len(r.rows))
	for i := range r.rows {
		x := &r.rows[i]
		bars[i] = bar{label: x.label(), region: x.RegionID, mean: x.Mean, fill: stepColours[x.kind],
			words: func(room float32) string { return shareWords(x.Share, len(r.steps), x.StepShare, room) }}
		if x.Steps > 1 {
			bars[i].marks = []trace.Time{x.P50, x.P95, x.P99}
		}
	}
	what := map[string]string{"callpath": "call paths", "operation": "operations",
		"service": "kinds"}[r.request.Values.Text("by")]
	if len(bars) > 0 {
		drawBars(s, w, y, h-y-scene.AxisHeight-4, r.request.Values.Integer("top"), bars,
			what+", by time on the critical paths of "+view.Count(len(r.steps), "step"))
	}
	for k, t := range r.sums.Kinds {
		if t > 0 {
			s.Legend = append(s.Legend, plot.Key(kindWords[k], stepColours[k]))
		}
	}
	return s
}

func (r *stepResult) describe() string {
	t := fmt.Sprintf("Critical path of %s, %s in all", view.Count(len(r.steps), "step"), view.FormatTime(r.sums.Length))
	if len(r.rows) > 0 {
		t += fmt.Sprintf("; most of it: %s, %s", r.rows[0].label(), view.FormatShare(r.rows[0].Share))
	}
	return t + "."
}

// Fact returns the facts of a row or a section.
func (r *stepResult) Fact(it scene.Item) (view.Fact, bool) {
	switch {
	case it.Of == ofRow && int(it.A) < len(r.rows):
		x := &r.rows[it.A]
		f := view.Fact{Title: x.label(), Text: x.CallPath}
		if x.At != trace.NoLocation {
			f.Locations = []trace.LocationID{x.At}
		}
		if x.RegionID != trace.NoRegion {
			f.Regions = []trace.RegionID{x.RegionID}
		}
		f.Say("spent with", kindWords[x.kind], "")
		f.SayTime("time", x.Time)
		f.Say("share", view.FormatShare(x.Share), "")
		f.SayCount("steps", int64(x.Steps))
		f.Say("mean", view.FormatDuration(x.Mean), "")
		f.SayTime("p50", x.P50)
		f.SayTime("p95", x.P95)
		f.SayTime("p99", x.P99)
		f.Say("half the time would give a step at most", view.FormatDuration(x.Half), "")
		return f, true
	case it.Of == ofSection && int(it.A) < len(r.path):
		x := &r.path[it.A]
		begin, end := x.Begin, x.End
		f := view.Fact{Title: x.Kind.String(), Begin: &begin, End: &end}
		if x.Region != trace.NoRegion {
			f.Title, f.Regions = r.regions[x.Region].Name, []trace.RegionID{x.Region}
		}
		if x.Location != trace.NoLocation {
			f.Locations = []trace.LocationID{x.Location}
			f.Say("on", r.tree.Path(x.Location), "")
		}
		if x.Row >= 0 {
			f.Row = &store.Row{Location: x.Location, Lane: x.Lane, Row: x.Row}
		}
		f.Say("spent with", kindWords[x.Kind], "")
		f.SayTime("on the path", x.End-x.Begin)
		f.SayTime("begin", x.Begin)
		f.SayTime("end", x.End)
		return f, true
	}
	return view.Fact{}, false
}
