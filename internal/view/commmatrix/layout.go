package commmatrix

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	topRoom = 24
	edge    = 8
	sumRoom = 72 // for the sums of rows and columns
	// mostBlocks bounds the cells of the picture along one side.
	mostBlocks = 512
)

// Item kinds: a cell of blocks along one side, or a thing in space.
const (
	ofCell = iota + 1
	ofSolid
)

// A drawing is a result that is laid out.
type drawing struct {
	*result
	frame  scene.Frame
	blocks int             // along one side
	values map[int]float64 // of the blocks that are not empty
}

// leastLabelled is the side of the smallest matrix with names at its rows and columns.
const leastLabelled = 100

// Scene draws the matrix as a square with the sums of its rows next to it.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	if r.request.Values.Text("space") != "flat" {
		(&drawing{result: r}).solid(s)
		return s
	}
	w, h := float32(size.Width), float32(size.Height)
	n := max(1, min(len(r.members), mostBlocks, int(h))) // rows: a picture has no more
	rows := make([]scene.Row, n)
	for i := range rows {
		first, next := i*len(r.members)/n, (i+1)*len(r.members)/n
		id := r.members[first]
		rows[i] = scene.Row{Location: uint32(id), Region: scene.NoID, Label: r.tree.Name[id], Count: next - first}
	}
	left, bottom := scene.RowLabelWidth(rows, w*0.25)+r.Arrangement().Gutter(), float32(scene.AxisHeight+4)
	sums := float32(sumRoom)
	if w < 360 || h < 160 {
		sums = 0
		if min(w-left-edge, h-topRoom-bottom) < leastLabelled {
			left, bottom = edge, edge
		}
	}
	side := min(w-left-edge-sums, h-topRoom-bottom)
	if side < 1 {
		side = max(min(w, h), 1)
		left, bottom = 0, 0
	}
	from, _ := r.ends()
	f := scene.Frame{Name: "main", X: left, Y: topRoom, W: side, H: side,
		YScale: scene.Scale{Kind: "rows", Label: from}}
	if bottom == 0 {
		f.Y = 0
	}
	for i := range rows {
		rows[i].From, rows[i].To = f.Y+side*float32(i)/float32(n), f.Y+side*float32(i+1)/float32(n)
	}
	f.YScale.Rows = rows
	s.AddFrame(f)
	d := &drawing{result: r, frame: f, blocks: max(1, min(len(r.members), mostBlocks, int(side)))}
	most, least := d.gather()
	log := most > 1000*least && least > 0
	d.paint(s, most, least, log)
	if left > edge {
		s.RowLabels(0, r.Arrangement().Gutter())
		d.receivers(s)
	}
	if sums > 0 {
		d.sums(s, f.X+f.W+edge, sums-edge)
	}
	d.explain(s, most, least, log)
	r.Arrangement().DrawRows(s, 0, r.members)
	r.Arrangement().DrawColumns(s, 0, r.members)
	r.Arrangement().Explain(s)
	return s
}

// sent names the value of the sums next to the rows.
func (r *result) sent() string {
	if row, _ := r.ends(); row == "sender" {
		return "sent"
	}
	return r.what
}

func (r *result) describe() string {
	text := fmt.Sprintf("Communication of %s locations: %s pairs, %s %s", view.Thousands(int64(len(r.members))),
		view.Thousands(int64(len(r.cells))), view.Thousands(r.total.count), r.what)
	if r.total.sized {
		text += ", " + view.FormatBytes(float64(r.total.bytes))
	}
	return text + "."
}

// block returns the place of a member among the blocks of a side.
func (r *result) block(id trace.LocationID, blocks int) int {
	return int(r.index[id]) * blocks / len(r.members)
}

// gather adds cells up to blocks.
func (r *drawing) gather() (most, least float64) {
	r.values = map[int]float64{}
	for i := range r.cells {
		c := &r.cells[i]
		r.values[r.block(c.from, r.blocks)*r.blocks+r.block(c.to, r.blocks)] += r.value(c)
	}
	least = math.Inf(1)
	for _, v := range r.values {
		most = max(most, v)
		if v > 0 {
			least = min(least, v)
		}
	}
	return most, least
}

// shade returns the place of a value between nothing and the most.
func shade(v, most, least float64, log bool) float64 {
	switch {
	case most <= 0:
		return 0
	case log:
		return 0.05 + 0.95*math.Log(max(v, least)/least)/math.Log(most/least)
	}
	return v / most
}

func (d *drawing) paint(s *scene.Scene, most, least float64, log bool) {
	r := d.result
	palette := r.request.Values.Text("palette")
	f := &d.frame
	ground := &scene.Rect{}
	ground.Add(f.X, f.Y, f.W, f.H, scene.UIEmpty)
	image := &scene.Image{X: f.X, Y: f.Y, W: f.W, H: f.H, Columns: d.blocks, Rows: d.blocks,
		Cells: make([]scene.Colour, d.blocks*d.blocks), Of: ofCell, At: [2]int32{int32(d.blocks), 0}}
	for i := range image.Cells {
		image.Cells[i] = scene.None
	}
	for at, v := range d.values {
		image.Cells[at] = scene.Ramp(palette, shade(v, most, least, log))
	}
	s.AddLayer("ground", 0, ground)
	s.AddLayer("cells", 0, image)
	if step := f.W / float32(len(r.members)); step >= 8 {
		lines := &scene.Line{Width: 1}
		for i := range len(r.members) + 1 {
			at := step * float32(i)
			lines.Add(f.X+at, f.Y, f.X+at, f.Y+f.H, scene.UIBackground)
			lines.Add(f.X, f.Y+at, f.X+f.W, f.Y+at, scene.UIBackground)
		}
		s.AddLayer("lines", 0, lines)
	}
}

// receivers writes names under the columns, as many as have room.
func (r *drawing) receivers(s *scene.Scene) {
	f := &r.frame
	text := &scene.Text{Size: scene.TextSize}
	step := f.W / float32(len(r.members))
	widest := float32(0)
	short := func(id trace.LocationID) string {
		if rank := r.tree.Rank[id]; rank != trace.NoRank && r.tree.Name[id] == fmt.Sprintf("rank %d", rank) {
			return fmt.Sprint(rank)
		}
		return scene.Shorten(r.tree.Name[id], 90, scene.TextSize)
	}
	for i := len(r.members) - 1; i >= 0; i -= max(len(r.members)/500, 1) {
		widest = max(widest, scene.TextWidth(short(r.members[i]), scene.TextSize, false))
	}
	every := scene.Thin(step, widest, 8)
	for i := 0; i < len(r.members); i += every {
		text.Add(f.X+step*(float32(i)+0.5), f.Y+f.H+15, short(r.members[i]), scene.UITextMuted, scene.Middle)
	}
	row, column := r.ends()
	text.Add(f.X, f.Y-8, row+" ↓   "+column+" →", scene.UIText, scene.Start)
	s.AddLayer("receivers", -1, text)
}

// sums draws a bar for all that each sender sends.
func (r *drawing) sums(s *scene.Scene, x, width float32) {
	f := &r.frame
	sent := make([]float64, r.blocks)
	for at, v := range r.values {
		sent[at/r.blocks] += v
	}
	most := slices.Max(sent)
	if most <= 0 {
		return
	}
	bars, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	step := f.H / float32(r.blocks)
	gap := min(step/8, 2)
	for i, v := range sent {
		if v > 0 {
			bars.Add(x, f.Y+step*float32(i)+gap, width*float32(v/most), max(step-2*gap, 0.5), scene.UIDataSoft)
		}
	}
	text.Add(x, f.Y-8, scene.Shorten(r.sent(), width, scene.TextSize), scene.UITextMuted, scene.Start)
	s.AddLayer("sums", -1, bars, text)
}

func (r *drawing) explain(s *scene.Scene, most, least float64, log bool) {
	palette := r.request.Values.Text("palette")
	e := plot.RampKey(r.shown(), palette, "0", r.format(most))
	if log {
		e.Label, e.RampLow = r.shown()+" (logarithmic)", r.format(least)
	}
	s.Legend = append(s.Legend, e)
	note := fmt.Sprintf("%s pairs, %s %s", view.Thousands(int64(len(r.cells))), view.Thousands(r.total.count), r.what)
	if r.total.sized {
		note += ", " + view.FormatBytes(float64(r.total.bytes))
	}
	s.Notes = append(s.Notes, note)
	if r.blocks < len(r.members) {
		s.Notes = append(s.Notes,
			fmt.Sprintf("a cell stands for a block of about %.0f × %.0f locations",
				math.Ceil(float64(len(r.members))/float64(r.blocks)),
				math.Ceil(float64(len(r.members))/float64(r.blocks))))
	}
	s.Notes = append(s.Notes, r.notes...)
}

// Fact returns the links of a cell, also if there are none.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	if it.Of == ofCell {
		return r.fact(int(it.C/it.A), int(it.C%it.A), int(it.A)), true
	}
	d := &drawing{result: r}
	at := d.things()
	if it.A < 0 || int(it.A) >= len(at) {
		return view.Fact{}, false
	}
	return r.fact(at[it.A]/d.blocks, at[it.A]%d.blocks, d.blocks), true
}

// fact returns the facts of the links from one block to another.
func (r *result) fact(from, to, blocks int) view.Fact {
	sum := cell{}
	pairs := 0
	for i := range r.cells {
		if c := &r.cells[i]; r.block(c.from, blocks) == from && r.block(c.to, blocks) == to {
			pairs++
			sum.count += c.count
			sum.bytes += c.bytes
			sum.time = int64(trace.AddUp(trace.Time(sum.time), trace.Time(c.time)))
		}
	}
	fact := view.Fact{Title: r.names(from, blocks) + " → " + r.names(to, blocks)}
	fact.SayCount(r.what, sum.count)
	if r.total.sized {
		fact.SayBytes("bytes", sum.bytes)
	}
	if r.total.timed && sum.count > 0 {
		fact.SayTime("time", trace.Time(sum.time))
		fact.Say("mean time", view.FormatDuration(float64(sum.time)/float64(sum.count)), "")
	}
	if pairs > 1 {
		fact.Count = int64(pairs)
	}
	for i, id := range r.members {
		if b := i * blocks / len(r.members); b == from || b == to {
			fact.Locations = append(fact.Locations, id)
		}
	}
	return fact
}

// names lists the members of a block.
func (r *result) names(block, b int) string {
	n := len(r.members)
	first, last := (block*n+b-1)/b, ((block+1)*n+b-1)/b-1
	if first >= last {
		return r.tree.Name[r.members[first]]
	}
	return r.tree.Name[r.members[first]] + " … " + r.tree.Name[r.members[last]]
}
