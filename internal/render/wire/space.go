package wire

import "github.com/parallax-hpc/parallax/internal/scene"

// space describes a plot in three dimensions. Its places and values are keyed.
func (e *encoder) space(m *scene.Space) spaceMark {
	ramp := scene.RampSection(m.Ramp)
	out := spaceMark{
		Kind: m.Kind(), X: finite(m.X), Y: finite(m.Y), W: finite(m.W), H: finite(m.H), Form: uint8(m.Form),
		PX: e.keyed(m.PX), PY: e.keyed(m.PY), PZ: e.keyed(m.PZ), Value: e.keyed(m.Value),
		Low: finite(m.Low), High: finite(m.High), Unit: m.Unit, Ramp: [2]int{ramp.Start, ramp.Length},
		Radius: finite(m.Radius), Half: [2]float64{finite(m.Half[0]), finite(m.Half[1])}, Tall: finite(m.Tall),
		Base:  finite(m.Base),
		Least: finite(m.Least), Detail: m.Detail, Bare: m.Bare, LinkWidth: finite(m.Links.Width),
		Columns: m.Columns, Gap: finite(m.Gap), Camera: cameraOf(m.Camera), Filter: filterOf(&m.Filter),
	}
	out.FirstItem = e.firstItem(m)
	if len(m.Fill) > 0 {
		out.Fill = u16(e, m.Fill)
	}
	if len(m.Runs) > 0 {
		first, location, step := make([]uint32, len(m.Runs)), make([]uint32, len(m.Runs)), make([]uint32, len(m.Runs))
		for i, r := range m.Runs {
			first[i], location[i], step[i] = r.First, r.Location, r.Step
		}
		out.RunFirst, out.RunLocation, out.RunStep = e.u32(first), e.u32(location), e.u32(step)
	}
	if len(m.Links.From) > 0 {
		out.LinkFrom, out.LinkTo, out.LinkFill = e.u32(m.Links.From), e.u32(m.Links.To), u16(e, m.Links.Fill)
		if m.Links.Part != nil {
			out.LinkPart = e.f32(m.Links.Part)
		}
	}
	for _, l := range m.Labels {
		text := scene.Visible(l.Text)
		out.Labels = append(out.Labels, spaceLabel{l.Thing, text, finite(scene.TextWidth(text, scene.TextSize, false))})
	}
	for a := range m.Axes {
		x := &m.Axes[a]
		axis := spaceAxis{
			Label: scene.Visible(x.Label),
			Width: finite(scene.TextWidth(scene.Visible(x.Label), scene.TextSize, false)),
			Begin: finite(x.Begin), End: finite(x.End), Stretch: finite(x.Stretch), Ticks: []spaceTick{},
		}
		if axis.Stretch == 0 {
			axis.Stretch = 1
		}
		for _, t := range x.Ticks {
			label := scene.Visible(t.Label)
			axis.Ticks = append(axis.Ticks,
				spaceTick{finite(t.At), label, finite(scene.TextWidth(label, scene.TextSize, false))})
		}
		out.Axes[a] = axis
	}
	return out
}

func cameraOf(c scene.Camera) camera {
	return camera{finite(c.Azimuth), finite(c.Elevation), finite(c.Zoom), finite(c.PanX), finite(c.PanY)}
}

func filterOf(f *scene.SpaceFilter) spaceFilter {
	out := spaceFilter{Ranged: f.Ranged, Min: finite(f.Min), Max: finite(f.Max), Slice: f.Slice}
	for a := range 3 {
		out.At[a], out.Width[a] = finite(f.At[a]), finite(f.Width[a])
	}
	return out
}

// A spaceMark is a plot in three dimensions, which the page turns by itself; see internal/scene/space.go.
type spaceMark struct {
	Kind    string       `json:"kind"`
	X       float64      `json:"x"`
	Y       float64      `json:"y"`
	W       float64      `json:"w"`
	H       float64      `json:"h"`
	Form    uint8        `json:"form"` // dots, balls, bars, mesh
	PX      *column      `json:"px"`   // places in units of the axes
	PY      *column      `json:"py"`
	PZ      *column      `json:"pz"`
	Value   *column      `json:"value"` // decides the colour from low to high, and the height of a bar; NaN: not drawn
	Low     float64      `json:"low"`
	High    float64      `json:"high"`
	Unit    string       `json:"unit"` // of the values: "ns", "bytes", "count", "share" or ""
	Ramp    [2]int       `json:"ramp"` // start and length in the palette
	Fill    *column      `json:"fill,omitempty"`
	Radius  float64      `json:"radius"`
	Least   float64      `json:"least"`  // radius of dots in pixels
	Detail  int          `json:"detail"` // steps of light on balls; 0: 3
	Bare    bool         `json:"bare"`   // without box, ticks and names
	Half    [2]float64   `json:"half"`
	Tall    float64      `json:"tall"`
	Base    float64      `json:"base"`
	Columns int          `json:"columns"`
	Gap     float64      `json:"gap"`
	Axes    [3]spaceAxis `json:"axes"`
	Camera  camera       `json:"camera"`
	Filter  spaceFilter  `json:"filter"`
	// Locations of the things: up to the next run, that of thing i is location + (i - first) × step. Null: unknown.
	RunFirst    *column `json:"runFirst,omitempty"`
	RunLocation *column `json:"runLocation,omitempty"`
	RunStep     *column `json:"runStep,omitempty"`
	// Lines between things, by their index.
	LinkFrom *column `json:"linkFrom,omitempty"`
	LinkTo   *column `json:"linkTo,omitempty"`
	LinkFill *column `json:"linkFill,omitempty"`
	// How far each runs of the way, 1 all of it; null: all do.
	LinkPart  *column `json:"linkPart,omitempty"`
	LinkWidth float64 `json:"linkWidth"`
	// Names of things, the most important first.
	Labels []spaceLabel `json:"labels,omitempty"`
	// FirstItem is the number of the first thing's item, where things are items.
	FirstItem *int `json:"firstItem,omitempty"`
}

type spaceLabel struct {
	Thing uint32  `json:"thing"`
	Text  string  `json:"text"`
	Width float64 `json:"width"`
}

type spaceAxis struct {
	Label   string      `json:"label"`
	Width   float64     `json:"width"` // of the label in pixels
	Begin   float64     `json:"begin"`
	End     float64     `json:"end"`
	Stretch float64     `json:"stretch"`
	Ticks   []spaceTick `json:"ticks"`
}

type spaceTick struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
	Width float64 `json:"width"`
}

// A camera has angles in degrees; zoom 1 shows all; pan is in shares of the smaller side.
type camera struct {
	Azimuth   float64 `json:"azimuth"`
	Elevation float64 `json:"elevation"`
	Zoom      float64 `json:"zoom"`
	PanX      float64 `json:"panX"`
	PanY      float64 `json:"panY"`
}

// A spaceFilter shows things with min ≤ value ≤ max, or if min > max those outside that range; and only those in the
// slice.
type spaceFilter struct {
	Ranged bool       `json:"ranged"`
	Min    float64    `json:"min"`
	Max    float64    `json:"max"`
	Slice  [3]bool    `json:"slice"`
	At     [3]float64 `json:"at"`
	Width  [3]float64 `json:"width"`
}
