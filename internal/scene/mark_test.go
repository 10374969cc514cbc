package scene

import (
	"math"
	"reflect"
	"testing"
)

// one has one thing of every kind, with all optional columns.
func one() map[string]Mark {
	r := &Rect{}
	r.Add(1, 2, 3, 4, UIData)
	r.SetFlags(Dimmed)
	r.SetCount(9)
	l := &Line{Width: 1}
	l.Add(1, 2, 3, 4, UIData)
	l.SetFlags(Arrow)
	p := &Path{}
	p.Add([]float32{1, 2}, []float32{3, 4}, UIData)
	g := &Polygon{}
	g.Add([]float32{1, 2, 3}, []float32{3, 4, 5}, UIData)
	g.SetFlags(Hatched)
	pt := &Point{}
	pt.Add(1, 2, 3, UIData)
	pt.SetShape(Burst)
	pt.SetCount(7)
	t := &Text{}
	t.Add(1, 2, "a", UIText, Middle)
	i := &Image{X: 1, Y: 2, W: 3, H: 4, Columns: 1, Rows: 1, Cells: []Colour{UIData}}
	v := &Space{X: 1, Y: 2, W: 3, H: 4, Fill: []Colour{UIData}}
	v.Add(1, 2, 3, 4)
	out := map[string]Mark{}
	for _, m := range []Mark{r, l, p, g, pt, t, i, v} {
		out[m.Kind()] = m
	}
	return out
}

func TestEveryKindOfMarkIsKnown(t *testing.T) {
	marks := one()
	if len(marks) != len(MarkKinds) {
		t.Errorf("%d kinds of marks, MarkKinds lists %d", len(marks), len(MarkKinds))
	}
	for _, kind := range MarkKinds {
		m, ok := marks[kind]
		if !ok {
			t.Errorf("no mark of kind %s", kind)
			continue
		}
		if m.Len() != 1 {
			t.Errorf("%s: %d things, want 1", kind, m.Len())
		}
		if err := checkMark(m); err != nil {
			t.Error(err)
		}
		if !translateMark(m, 1, 1) {
			t.Errorf("%s cannot be moved", kind)
		}
	}
}

func TestOptionalColumnsStayInStep(t *testing.T) {
	r := &Rect{}
	r.Add(0, 0, 1, 1, 1)
	r.Add(0, 0, 1, 1, 1)
	r.SetFlags(Dimmed)
	r.SetCount(5)
	r.Add(0, 0, 1, 1, 1)
	if !reflect.DeepEqual(r.Flags, []Flag{0, Dimmed, 0}) || !reflect.DeepEqual(r.Count, []uint32{1, 5, 1}) {
		t.Errorf("flags %v, counts %v", r.Flags, r.Count)
	}
	p := &Point{}
	p.SetShape(Burst) // of nothing
	p.Add(1, 1, 1, 1)
	p.SetShape(Square)
	p.Add(1, 1, 1, 1)
	if !reflect.DeepEqual(p.Shape, []Shape{Square, Disc}) || p.Count != nil {
		t.Errorf("shapes %v, counts %v", p.Shape, p.Count)
	}
}

func TestTranslateMovesEverythingOnce(t *testing.T) {
	r := &Rect{}
	r.Add(1, 2, 3, 4, UIData)
	s := &Scene{
		Width: 10, Height: 10,
		Frames: []Frame{{X: 1, Y: 2, W: 3, H: 4, YScale: Scale{Rows: []Row{{From: 2, To: 6}}}}},
		Layers: []Layer{{Frame: 0, Marks: []Mark{r}}, {Frame: -1, Marks: []Mark{r}}},
	}
	s.Translate(10, 20)
	if r.X[0] != 11 || r.Y[0] != 22 || r.W[0] != 3 {
		t.Errorf("the rectangle is at %v, %v", r.X[0], r.Y[0])
	}
	if f := s.Frames[0]; f.X != 11 || f.Y != 22 || f.YScale.Rows[0].From != 22 || f.YScale.Rows[0].To != 26 {
		t.Errorf("the frame is %v", f)
	}
}

func TestCheckFindsWhatCannotBeDrawn(t *testing.T) {
	with := func(m Mark) *Scene {
		return &Scene{Width: 9, Height: 9, Layers: []Layer{{Frame: -1, Marks: []Mark{m}}}}
	}
	for name, s := range map[string]*Scene{
		"rect":      with(&Rect{X: []float32{1}}),
		"flags":     with(&Rect{X: []float32{1, 2}, Y: []float32{1, 2}, W: []float32{1, 2}, H: []float32{1, 2}, Fill: []Colour{1, 2}, Flags: []Flag{1}}),
		"path":      with(&Path{Offsets: []uint32{0, 5}, X: []float32{1}, Y: []float32{1}, Stroke: []Colour{1, 2}}),
		"image":     with(&Image{Columns: 3, Rows: 2, Cells: make([]Colour, 5)}),
		"minus":     with(&Image{Columns: -1, Rows: -1, Cells: make([]Colour, 1)}),
		"nil":       with(nil),
		"too large": {Width: 30000, Height: 30000},
		"no size":   {Width: 0.5, Height: 10},
		"frame":     {Width: 9, Height: 9, Layers: []Layer{{Frame: 0}}},
	} {
		if s.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := (&Scene{Width: 9, Height: 9}).Check(); err != nil {
		t.Error(err)
	}
	// Offsets that point nowhere draw nothing.
	p := &Path{Offsets: []uint32{0, 9, 2}, X: []float32{1}, Y: []float32{1}, Stroke: []Colour{1, 2}}
	for i := range 3 {
		if xs, _ := p.Points(i); xs != nil {
			t.Errorf("path %d has points", i)
		}
	}
}

func TestArrowHeadsPointAlongTheirLine(t *testing.T) {
	head, x, y, ok := ArrowHead(0, 10, 100, 10, 1)
	if !ok || head[0] != [2]float32{100, 10} || y != 10 || x != 93 {
		t.Errorf("head %v, line ends at %v, %v", head, x, y)
	}
	if head[1][0] != head[2][0] || math.Abs(float64(head[1][1]+head[2][1]-20)) > 1e-4 {
		t.Errorf("head %v is not even", head)
	}
	if _, _, _, ok := ArrowHead(5, 5, 6, 5, 1); ok {
		t.Error("a line of one pixel has a head")
	}
}

func TestImagesBecomeRectangles(t *testing.T) {
	m := &Image{X: 10, Y: 20, W: 6, H: 4, Columns: 3, Rows: 2, Cells: []Colour{1, 1, 2, None, 3, 3}}
	r := m.Rects()
	if !reflect.DeepEqual(r.X, []float32{10, 14, 12}) || !reflect.DeepEqual(r.W, []float32{4, 2, 4}) || !reflect.DeepEqual(r.Y, []float32{20, 20, 22}) {
		t.Errorf("rectangles at %v, %v wide %v", r.X, r.Y, r.W)
	}
	if n := (&Image{Columns: 2, Rows: 2, Cells: []Colour{1}}).Rects().Len(); n != 0 {
		t.Errorf("an image without its cells has %d rectangles", n)
	}
}

// TestJoinedPolygonsAreThoseOfBoth: in their order, with their flags and items.
func TestJoinedPolygonsAreThoseOfBoth(t *testing.T) {
	want, parts := &Polygon{}, [3]*Polygon{{}, {}, {}}
	for i := range 7 {
		xs, ys := []float32{float32(i), 2, 3, float32(i)}[:3+i%2], []float32{4, 5, 6, 7}[:3+i%2]
		for _, m := range []*Polygon{want, parts[i/3]} {
			m.Add(xs, ys, UIData)
			if i%3 == 1 {
				m.SetFlags(Dimmed)
			}
			if i == 4 {
				m.SetItem(9)
			}
		}
	}
	got := &Polygon{}
	for _, m := range parts {
		got.Join(m)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
