package phases

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	edge    = 8
	barRoom = 56 // for the bars of waiting, with names under them
	// mostBlocks bounds the cells of the picture along one side.
	mostBlocks = 1024
)

// Item kinds: a cell of the map, or a phase.
const (
	ofCell = iota + 1
	ofPhase
)

// A drawing is a result that is laid out.
type drawing struct {
	*result
	frame      scene.Frame
	rows, cols int // of blocks
	bars       bool
}

// Scene draws the heat map, with bars of the waiting in each phase above it.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	w, h := float32(size.Width), float32(size.Height)
	n := max(1, min(len(r.units), mostBlocks, int(h)))
	rows := make([]scene.Row, n)
	for i := range rows {
		first, next := i*len(r.units)/n, (i+1)*len(r.units)/n
		rows[i] = scene.Row{Location: uint32(r.units[r.order[first]]), Region: scene.NoID,
			Label: r.names[r.order[first]], Count: next - first}
	}
	f := scene.Frame{Name: "main", X: scene.RowLabelWidth(rows, w*0.25) + r.Arrangement().Gutter(), Y: edge,
		YScale: scene.Scale{Kind: "rows"}}
	bottom := float32(scene.AxisHeight)
	bars := h > 200 && w > 240 && r.mostSkew() > 0
	if bars {
		f.Y += barRoom
	}
	f.W, f.H = w-f.X-edge, h-f.Y-bottom
	if f.W < 16 || f.H < 16 {
		f.X, f.Y, f.W, f.H, bars = 0, 0, max(w, 1), max(h, 1), false
	}
	for i := range rows {
		rows[i].From, rows[i].To = f.Y+f.H*float32(i)/float32(n), f.Y+f.H*float32(i+1)/float32(n)
	}
	f.YScale.Rows = rows
	s.AddFrame(f)
	d := &drawing{result: r, frame: f, rows: max(1, min(len(r.units), mostBlocks, int(f.H))),
		cols: max(1, min(len(r.phases.List), mostBlocks, int(f.W))), bars: bars}
	most := d.paint(s)
	d.marks(s)
	if f.X > 0 {
		s.RowLabels(0, r.Arrangement().Gutter())
		d.columns(s)
	}
	if bars {
		d.drawBars(s)
	}
	palette := r.request.Values.Text("palette")
	shown := map[string]string{"busy": "busy", "waiting": "waiting", "duration": "length of the phase"}[r.metric]
	s.Legend = append(s.Legend, plot.RampKey(shown, palette, "0 s", view.FormatTime(most)))
	if bars {
		s.Legend = append(s.Legend,
			plot.Key("waited for the last and for late messages", scene.RoleColour(uint8(trace.RoleCommunication))))
	}
	if len(r.verdicts) > 0 {
		s.Legend = append(s.Legend, plot.Key("holds the others up", scene.UIError))
	}
	r.Arrangement().DrawRows(s, 0, r.drawnIDs())
	r.Arrangement().Explain(s)
	s.Notes = r.Notes()
	return s
}

func (r *result) describe() string {
	text := fmt.Sprintf("%s by %s (%s).", view.Count(len(r.units), "row"), view.Count(len(r.phases.List), "phase"),
		r.phases.By)
	if len(r.verdicts) > 0 {
		text += " " + r.verdicts[0].Phase + ": " + r.verdicts[0].Why + "."
	}
	return text
}

func (r *result) mostSkew() (most trace.Time) {
	for _, t := range r.delays.Skew {
		most = max(most, t)
	}
	return most
}

// paint draws the cells; a block of many units or phases shows the largest of them,
// so that one odd rank among thousands is seen.
func (d *drawing) paint(s *scene.Scene) (most trace.Time) {
	r, f := d.result, &d.frame
	values := make([]trace.Time, d.rows*d.cols)
	for i := range values {
		values[i] = -1
	}
	for u := range r.units {
		row := int(r.row[u]) * d.rows / len(r.units)
		for k := range r.phases.List {
			if v, ok := r.value(u, k); ok {
				at := row*d.cols + k*d.cols/len(r.phases.List)
				values[at] = max(values[at], v)
				most = max(most, v)
			}
		}
	}
	ground := &scene.Rect{}
	ground.Add(f.X, f.Y, f.W, f.H, scene.UIEmpty)
	image := &scene.Image{X: f.X, Y: f.Y, W: f.W, H: f.H, Columns: d.cols, Rows: d.rows,
		Cells: make([]scene.Colour, len(values)), Of: ofCell, At: [2]int32{int32(d.cols), int32(d.rows)}}
	palette := r.request.Values.Text("palette")
	for i, v := range values {
		image.Cells[i] = scene.None
		if v >= 0 {
			image.Cells[i] = scene.Ramp(palette, float64(v)/float64(max(most, 1)))
		}
	}
	s.AddLayer("ground", 0, ground)
	s.AddLayer("cells", 0, image)
	lines := &scene.Line{Width: 1}
	if step := f.W / float32(len(r.phases.List)); step >= 8 {
		for k := 1; k < len(r.phases.List); k++ {
			lines.Add(f.X+step*float32(k), f.Y, f.X+step*float32(k), f.Y+f.H, scene.UIBackground)
		}
	}
	if step := f.H / float32(len(r.units)); step >= 8 {
		for u := 1; u < len(r.units); u++ {
			lines.Add(f.X, f.Y+step*float32(u), f.X+f.W, f.Y+step*float32(u), scene.UIBackground)
		}
	}
	s.AddLayer("lines", 0, lines)
	return most
}

// marks frames the cell of the unit that delays the others.
func (r *drawing) marks(s *scene.Scene) {
	f := &r.frame
	wide, high := f.W/float32(len(r.phases.List)), f.H/float32(len(r.units))
	lines := &scene.Line{Width: 2}
	for i := range r.verdicts {
		v := &r.verdicts[i]
		x, y := f.X+wide*float32(v.phase), f.Y+high*float32(r.row[v.unit])
		x1, y1 := x+max(wide, 3)-1, y+max(high, 3)-1
		x, y = x+1, y+1
		lines.Add(x, y, x1, y, scene.UIError)
		lines.Add(x1, y, x1, y1, scene.UIError)
		lines.Add(x1, y1, x, y1, scene.UIError)
		lines.Add(x, y1, x, y, scene.UIError)
	}
	s.AddLayer("held up by", 0, lines)
}

// columns names the phases under the map, as many as have room.
func (r *drawing) columns(s *scene.Scene) {
	f := &r.frame
	text := &scene.Text{Size: scene.TextSize}
	step := f.W / float32(len(r.phases.List))
	names := r.shortPhases()
	widest := float32(0)
	for _, n := range names {
		widest = max(widest, scene.TextWidth(n, scene.TextSize, false))
	}
	widest = min(widest, 120)
	every := scene.Thin(step, widest, 8)
	for k := 0; k < len(names); k += every {
		label := scene.Shorten(names[k], max(step*float32(every)-8, 24), scene.TextSize)
		if label != "" {
			text.Add(f.X+step*(float32(k)+0.5), f.Y+f.H+16, label, scene.UITextMuted, scene.Middle)
		}
	}
	s.AddLayer("phases", -1, text)
}

// shortPhases leaves out the common start of all names, but for the first.
func (r *result) shortPhases() []string {
	out := make([]string, len(r.phases.List))
	for i, p := range r.phases.List {
		out[i] = p.Name
		if i > 0 && strings.HasPrefix(p.Name, r.phases.By) {
			out[i] = strings.TrimSpace(strings.TrimPrefix(p.Name, r.phases.By))
		} else if i > 0 {
			out[i] = strings.TrimPrefix(p.Name, "slice ")
		}
		if out[i] == "" {
			out[i] = p.Name
		}
	}
	return out
}

// drawBars draws the waiting in each phase, and names the unit waited for.
func (r *drawing) drawBars(s *scene.Scene) {
	f := &r.frame
	most := float32(r.mostSkew())
	step := f.W / float32(len(r.phases.List))
	bars, text, muted := &scene.Rect{}, &scene.Text{Size: scene.TextSize}, &scene.Text{Size: scene.TextSize}
	const high = barRoom - 20
	aims := &scene.Rect{}
	for c := range r.cols {
		k := (2*c + 1) * len(r.phases.List) / (2 * r.cols)
		aims.AddAim(f.X+f.W*float32(c)/float32(r.cols), f.Y-barRoom, f.W/float32(r.cols), barRoom, s.Item(ofPhase, k))
	}
	for k, t := range r.delays.Skew {
		if t > 0 {
			h := max(high*float32(t)/most, 1)
			bars.Add(f.X+step*float32(k)+min(step*0.1, 2), f.Y-20-h, max(step-2*min(step*0.1, 2), 1), h,
				scene.RoleColour(uint8(trace.RoleCommunication)))
		}
	}
	named := false
	for i := range r.verdicts {
		v := &r.verdicts[i]
		name := strings.TrimPrefix(r.names[v.unit], "rank ")
		if wide := scene.TextWidth(r.names[v.unit], scene.TextSize, false); wide < step-4 {
			name = r.names[v.unit]
		}
		if scene.TextWidth(name, scene.TextSize, false) < step-2 {
			text.Add(f.X+step*(float32(v.phase)+0.5), f.Y-6, name, scene.UIText, scene.Middle)
			named = true
		}
	}
	if f.X >= 48 {
		muted.Add(f.X-8, f.Y-20-high+10, scene.Shorten(view.FormatDuration(float64(most)), f.X-12, scene.TextSize),
			scene.UITextMuted, scene.End)
		muted.Add(f.X-8, f.Y-24, scene.Shorten("waited", f.X-12, scene.TextSize), scene.UITextMuted, scene.End)
		if named {
			muted.Add(f.X-8, f.Y-6, scene.Shorten("for", f.X-12, scene.TextSize), scene.UITextMuted, scene.End)
		}
	}
	s.AddLayer("waited", -1, aims, bars, text, muted)
}

// Fact describes a cell or a phase.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	if it.Of == ofPhase {
		return r.phaseFact(int(it.A)), true
	}
	// A cell that stands for several shows the one in its middle.
	cols, rows := int(it.A), int(it.B)
	row, column := int(it.C)/cols, int(it.C)%cols
	k := (2*column + 1) * len(r.phases.List) / (2 * cols)
	u := int(r.order[(2*row+1)*len(r.units)/(2*rows)])
	p := &r.phases.List[k]
	span := r.phases.Span(u, k)
	if span.Absent() {
		return view.Fact{}, false
	}
	fact := view.Fact{Title: r.names[u] + ", " + p.Name, Locations: []trace.LocationID{r.units[u]}, Begin: &span.Begin,
		End: &span.End}
	for _, l := range []struct {
		label string
		t     trace.Time
	}{{"busy", r.busy[r.at(u, k)]}, {"waiting", r.waiting[r.at(u, k)]}, {"length", span.Length()},
		{"begins", span.Begin}} {
		fact.SayTime(l.label, l.t)
	}
	for i := range r.verdicts {
		if r.verdicts[i].phase == k {
			fact.Text = r.verdicts[i].Why + "."
		}
	}
	return fact, true
}

func (r *result) phaseFact(k int) view.Fact {
	p := &r.phases.List[k]
	begin, end := p.Begin, p.End
	fact := view.Fact{Title: p.Name, Begin: &begin, End: &end}
	for _, l := range []struct {
		label string
		t     trace.Time
	}{{"waited for others", r.delays.Skew[k]}, {"transfer", r.delays.Transfer[k]},
		{"from the first begin to the last end", end - begin}} {
		fact.SayTime(l.label, l.t)
	}
	for i := range r.verdicts {
		if r.verdicts[i].phase == k {
			fact.Text = r.verdicts[i].Why + "."
			fact.Locations = []trace.LocationID{r.verdicts[i].Location}
		}
	}
	return fact
}
