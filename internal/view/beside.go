package view

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Beside is one view of two runs: one next to the other, or one above the other where Above
// is set. Each half is the view of that run alone.
type Beside struct {
	Halves [2]Result
	Names  [2]string
	Above  bool
	// Join makes the data of both from that of each.
	Join func(first, second any) any
	// Extra are notes on both.
	Extra []string
}

// besideTitle is the height of the names of runs.
const besideTitle = scene.TextSize + 6

// Half is the size of the picture that each run has.
func (b *Beside) Half(size scene.Size) scene.Size {
	if b.Above {
		return scene.Size{Width: size.Width, Height: max(size.Height/2-besideTitle, 1)}
	}
	return scene.Size{Width: max(size.Width/2, 1), Height: max(size.Height-besideTitle, 1)}
}

// Compute fills both halves, the second with the request of Second.
func (b *Beside) Compute(ctx context.Context, q *Request, compute Compute) error {
	first, second := q.First(), q.Second()
	first.Size, second.Size = b.Half(q.Size), b.Half(q.Size)
	for k, one := range []*Request{first, second} {
		b.Names[k] = q.Runs[k].Name
		r, err := compute(ctx, one)
		if err != nil {
			return &BesideError{b.Names[k], err}
		}
		b.Halves[k] = r
		if c, ok := r.(Chooser); ok && k == 0 {
			c.Settle(second)
		}
	}
	if s, ok := b.Halves[0].(Scaled); ok {
		s.ShareScale(b.Halves[1])
	}
	return nil
}

// A Chooser is a result that chose values that the request leaves open, such as the region that
// differs most.
type Chooser interface {
	// Settle sets the choices of the first run in the request of the second.
	Settle(second *Request)
}

// A Scaled is a result whose picture has a scale of its own.
type Scaled interface {
	// ShareScale sets one scale for it and the result of the second run: equal values are drawn
	// equally large.
	ShareScale(second Result)
}

// SideBySide makes a view of one run one of two: a request for two runs becomes one for each, see First and Second, and
// their pictures are drawn on one scale side by side, or above each other. Join makes the data of both.
func SideBySide[D any](above bool, compute Compute, join func(first, second D) any) Compute {
	return func(ctx context.Context, q *Request) (Result, error) {
		if len(q.Runs) < 2 {
			return compute(ctx, q)
		}
		b := &Beside{Above: above, Join: func(first, second any) any { return join(first.(D), second.(D)) }}
		if err := b.Compute(ctx, q, compute); err != nil {
			return nil, err
		}
		return b, nil
	}
}

// RegionsNamed are the regions of a run that have one of some names.
func RegionsNamed(regions []trace.Region, names ...string) []trace.RegionID {
	out := []trace.RegionID{}
	for id := range regions {
		if slices.Contains(names, regions[id].Name) {
			out = append(out, trace.RegionID(id))
		}
	}
	return out
}

// A BesideError says of which run a view cannot be made.
type BesideError struct {
	Run string
	Err error
}

func (e *BesideError) Error() string { return "run " + e.Run + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *BesideError) Unwrap() error { return e.Err }

// Data implements Result.
func (b *Beside) Data() any { return b.Join(b.Halves[0].Data(), b.Halves[1].Data()) }

// Failed implements Late.
func (b *Beside) Failed() error { return cmp.Or(Failed(b.Halves[0]), Failed(b.Halves[1])) }

// Table holds the rows of both, the run in the first column.
func (b *Beside) Table() *Table {
	out := &Table{Columns: []Column{{Name: "run"}}}
	for k, half := range b.Halves {
		t := half.Table()
		if k == 0 {
			out.Columns = append(out.Columns, t.Columns...)
		}
		for i, row := range t.Rows {
			if len(row)+1 != len(out.Columns) {
				continue // a column that the other run does not have cannot be distinguished
			}
			out.Rows = append(out.Rows, append([]any{b.Names[k]}, row...))
			if t.Locations != nil {
				id := t.Locations[i]
				if k == 1 {
					id = trace.NoLocation
				}
				out.Locations = append(out.Locations, id)
			}
			if t.Regions != nil {
				id := t.Regions[i]
				if k == 1 {
					id = trace.NoRegion
				}
				out.Regions = append(out.Regions, id)
			}
		}
	}
	return out
}

// Notes implements Result.
func (b *Beside) Notes() []string {
	out := append([]string{}, b.Extra...)
	for k, r := range b.Halves {
		for _, n := range r.Notes() {
			out = append(out, b.Names[k]+": "+n)
		}
	}
	return out
}

// ofSecond marks the kinds of items of the second run.
const ofSecond = 0x80

// Scene draws both halves with the names of their runs over them.
func (b *Beside) Scene(size scene.Size) *scene.Scene {
	half := b.Half(size)
	first, second := b.Halves[0].Scene(half), b.Halves[1].Scene(half)
	s := scene.New(size, "", b.Names[0]+": "+first.Description+" "+b.Names[1]+": "+second.Description)
	first.Translate(0, besideTitle)
	x, y := float32(half.Width), float32(0)
	if b.Above {
		x, y = 0, float32(half.Height+besideTitle)
	}
	second.Translate(x, y+besideTitle)
	join(s, first, 0)
	join(s, second, ofSecond)
	text := &scene.Text{Size: scene.TextSize, Bold: true}
	for k, at := range [2][2]float32{{0, 0}, {x, y}} {
		name := scene.ShortenBold(b.Names[k], float32(half.Width)-12, scene.TextSize)
		text.Add(at[0]+6, at[1]+scene.TextSize+1, name, scene.UIText, scene.Start)
	}
	s.AddLayer("runs", -1, text)
	s.Legend, s.Terms, s.Notes = b.joinLegends(first.Legend, second.Legend), first.Terms, b.Notes()
	return s
}

// join adds one scene to another.
func join(s, part *scene.Scene, of uint8) {
	frames, items := len(s.Frames), uint32(len(s.Items))
	s.Frames = append(s.Frames, part.Frames...)
	for _, it := range part.Items {
		it.Of |= of
		s.Items = append(s.Items, it)
	}
	shifted := map[scene.Mark]bool{}
	for _, l := range part.Layers {
		if l.Frame >= 0 {
			l.Frame += frames
		}
		for _, m := range l.Marks {
			if !shifted[m] {
				shifted[m] = true
				scene.ShiftItems(m, items, of)
			}
		}
		s.Layers = append(s.Layers, l)
	}
}

// joinLegends has each label once, names the run of those that the second alone has, and chooses nothing that the first
// run does not have.
func (b *Beside) joinLegends(first, second []scene.LegendEntry) []scene.LegendEntry {
	out := append([]scene.LegendEntry{}, first...)
	seen := map[string]bool{}
	for _, e := range first {
		seen[e.Label] = true
	}
	for _, e := range second {
		if !seen[e.Label] && !strings.HasPrefix(e.Label, "+ ") { // how many more there are is said once
			seen[e.Label] = true
			e.Label = b.Names[1] + ": " + e.Label // its colour may mean something else in the first
			e.Region, e.Parent = scene.NoID, scene.NoID
			out = append(out, e)
		}
	}
	return out
}

// half returns the result that an item is of, and the item as that knows it.
func (b *Beside) half(it scene.Item) (int, scene.Item) {
	if it.Of&ofSecond == 0 {
		return 0, it
	}
	it.Of &^= ofSecond
	return 1, it
}

// Fact implements Facts where the halves do.
func (b *Beside) Fact(it scene.Item) (Fact, bool) {
	k, it := b.half(it)
	f, ok := b.Halves[k].(Facts)
	if !ok {
		return Fact{}, false
	}
	fact, ok := f.Fact(it)
	return b.own(k, fact), ok
}

// Brief implements Briefer where the halves do.
func (b *Beside) Brief(it scene.Item) (Brief, bool) {
	k, it := b.half(it)
	brief, ok := briefOf(b.Halves[k], it)
	brief.Title = b.title(k, brief.Title)
	if k == 1 {
		brief.Region = trace.NoRegion
	}
	return brief, ok
}

// Detail implements Detailed where the halves do.
func (b *Beside) Detail(it scene.Item, f *Fact) error {
	k, it := b.half(it)
	d, ok := b.Halves[k].(Detailed)
	if !ok {
		return nil
	}
	held, _ := heldFact(b.Halves[k], it)
	err := d.Detail(it, &held)
	*f = b.own(k, held)
	return err
}

func (b *Beside) title(k int, title string) string { return title + ", " + b.Names[k] }

// own returns the run of a fact; ids of the second choose nothing in the first.
func (b *Beside) own(k int, f Fact) Fact {
	f.Title = b.title(k, f.Title)
	if k == 1 {
		f.Locations, f.Regions, f.Begin, f.End, f.Row, f.Open = nil, nil, nil, nil, nil, nil
	}
	return f
}
