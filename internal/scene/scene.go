// Package scene defines pictures: marks as columns, axes, legends, palettes. A scene is plain data, sized by its
// pixels and not by its trace; the headless renderers and the browser draw the same one.
//
// Coordinates are pixels from the top left as float32. Colours are indices into
// one palette table (palette.json, read by Go and TypeScript alike), so light and
// dark differ only in how an index is looked up.
package scene

import "fmt"

// A Size is the size of a picture in pixels.
type Size struct{ Width, Height int }

// A Scene is one picture.
type Scene struct {
	Width, Height float64
	// Zoom is how many pixels of a file one of the scene's is; 0: one. See AddTitleAndLegend.
	Zoom float64
	// Print is how many millimetres of paper one of the scene's pixels is; 0: it is for screens.
	Print float64
	Title string
	// Description describes the picture in a sentence; it becomes the aria-label, the SVG's <desc> and the PNG's text
	// chunk.
	Description string
	Frames      []Frame
	Layers      []Layer
	// Title, Legend and Notes are data and not drawn by views: the page shows them in
	// places of its own, AddTitleAndLegend draws them for files.
	Legend []LegendEntry
	// Notes list clipped, capped, aggregated and guessed data.
	Notes []string
	// Items are the objects that marks show, by the index that marks carry; see Item.
	Items []Item
	// Terms are names that the user gives a meaning to, with the meaning they have.
	Terms []Term
}

// A Term is a name and its meaning in this picture, such as an event of a layout.
type Term struct {
	Name  string
	Text  string // as the user would write it
	Label string // for people
	By    string `ts:"'user' | 'layout' | ''"` // who says so: "user", "layout", or "" where it was chosen for them
}

// A Frame is a plot area. The page pans and zooms its contents before the exact new scene arrives, and turns a brush
// in it into a selection.
type Frame struct {
	Name       string
	X, Y, W, H float32
	XScale     Scale
	YScale     Scale
	// Places are the areas of locations that are no rows, such as the cells of a treemap: the page marks those that
	// are chosen. An inner place comes after the one around it. They travel as x, y, w, h and location of each.
	Places []Spot `wire:"optional" ts:"readonly number[]"`
}

// MostPlaces is the number of places that a frame may have; a view gives the largest.
const MostPlaces = 4000

// A Spot is where a location is drawn.
type Spot struct {
	X, Y, W, H float32
	Location   uint32
}

// A Scale gives the meaning of a direction of a frame.
type Scale struct {
	// Kind is "time" (Begin, End in ns), "rows" (Rows, in order from the top),
	// "linear", "log" or "" for no meaning.
	Kind       string `ts:"'time' | 'rows' | 'linear' | 'log' | ''"`
	Begin, End float64
	Label      string
	// Rows of a "rows" scale.
	Rows []Row
}

// A Row is a stretch of a "rows" scale.
type Row struct {
	From, To float32 // pixels, absolute
	// Locations that the row stands for: the subtree of Location, or NoID.
	Location uint32
	Region   uint32
	Label    string
	Count    int // how many locations it stands for
	Level    int // of the tree, for indenting
	// Open is set where the row can be collapsed, Folded where it can be expanded.
	Open, Folded bool
}

// NoID stands for no location or region.
const NoID = ^uint32(0)

// A Layer is a list of marks, drawn in order. Marks of a layer with a frame move
// with it and are clipped to it.
type Layer struct {
	Name  string
	Frame int // index into Frames, -1: the picture itself
	Marks []Mark
}

// A Mark is one kind of thing drawn many times, as columns of equal length.
// Every mark lives in a file of its own, and every renderer has a case for it.
type Mark interface {
	// Kind names the mark on the wire and in the browser.
	Kind() string
	// Len is the number of things drawn.
	Len() int
}

// A LegendEntry explains one colour or symbol.
type LegendEntry struct {
	Label  string
	Colour Colour
	// Ramp shows a run of colours from Colour to RampEnd, labelled at its ends.
	RampEnd        Colour
	RampLow        string
	RampHigh       string
	Region, Parent uint32 // NoID, or the selection of a chosen entry
	// Flags of the things it explains: a hatched sample for hatched things.
	Flags Flag
}

// Zoomed returns Zoom, or 1 if it is not set.
func (s *Scene) Zoomed() float64 {
	if s.Zoom > 0 {
		return s.Zoom
	}
	return 1
}

// Marks counts the things drawn.
func (s *Scene) Marks() int {
	n := 0
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			n += m.Len()
		}
	}
	return n
}

// New starts a picture.
func New(size Size, title, description string) *Scene {
	return &Scene{Width: float64(size.Width), Height: float64(size.Height), Title: title, Description: description}
}

// AddFrame appends a plot area and gives its index.
func (s *Scene) AddFrame(f Frame) int {
	s.Frames = append(s.Frames, f)
	return len(s.Frames) - 1
}

// AddLayer appends marks that belong to a frame, -1 for none. Empty marks are left out.
func (s *Scene) AddLayer(name string, frame int, marks ...Mark) {
	l := Layer{Name: name, Frame: frame}
	for _, m := range marks {
		if m != nil && m.Len() > 0 {
			l.Marks = append(l.Marks, m)
		}
	}
	if len(l.Marks) > 0 {
		s.Layers = append(s.Layers, l)
	}
}

// Check reports errors that no renderer can draw: sizes without meaning, columns of different length, layers of frames
// that are not there. Single coordinates are never an error: marks that are not finite are not drawn.
func (s *Scene) Check() error {
	if !(s.Width >= 1 && s.Width <= maxSide && s.Height >= 1 && s.Height <= maxSide && s.Width*s.Height <= maxPixels) {
		return fmt.Errorf("scene: a picture of %g × %g pixels cannot be drawn; sides go up to %d", s.Width, s.Height,
			maxSide)
	}
	for _, l := range s.Layers {
		if l.Frame >= len(s.Frames) {
			return fmt.Errorf("scene: layer %q is in frame %d of %d", l.Name, l.Frame, len(s.Frames))
		}
		for _, m := range l.Marks {
			if err := checkMark(m); err != nil {
				return fmt.Errorf("scene: layer %q: %w", l.Name, err)
			}
		}
	}
	return nil
}
