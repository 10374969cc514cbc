package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	gutter      = 18 // left of the labels, for numbers of groups
	strip       = 3  // next to the frame, in the colour of the group
	leastNumber = 11 // height of a group whose number is written
	mostNamed   = 12 // groups in the legend, each with a hue
)

// GroupColour is the colour of a group. Those past the last hue have one together, which legends call by OtherGroups.
func GroupColour(group int) scene.Colour {
	switch {
	case group < 0:
		return scene.UIEmpty
	case group >= mostNamed:
		return scene.UITextMuted
	}
	return scene.LocationColour(group)
}

// OtherGroups is the entry of a legend for the groups that have one colour together; false if all have their own.
// members is how many locations each has.
func OtherGroups(members []int) (scene.LegendEntry, bool) {
	n, locations := len(members)-mostNamed, 0
	if n <= 0 {
		return scene.LegendEntry{}, false
	}
	for _, m := range members[mostNamed:] {
		locations += m
	}
	return scene.LegendEntry{Label: fmt.Sprintf("others: %s, %s", Count(n, "group"), Count(locations, "location")),
		Colour: GroupColour(mostNamed), Region: scene.NoID, Parent: scene.NoID}, true
}

// Gutter is the room that numbers of groups take left of the labels of rows.
func (a *Arrangement) Gutter() float32 {
	if a == nil {
		return 0
	}
	return gutter
}

// A band is locations of one group that follow each other, in pixels.
type band struct {
	group    int
	from, to float32
}

// bands cuts a length into the part of each run of locations of one group.
func (a *Arrangement) bands(ids []trace.LocationID, from, length float32) (out []band) {
	step := length / float32(max(len(ids), 1))
	for i, id := range ids {
		g := a.Group(id)
		if n := len(out); n > 0 && out[n-1].group == g {
			out[n-1].to = from + step*float32(i+1)
			continue
		}
		out = append(out, band{g, from + step*float32(i), from + step*float32(i+1)})
	}
	return out
}

// DrawRows separates the groups of rows of equal height that fill a frame: a line
// across, a strip in the group's colour next to the frame, its number in the gutter.
func (a *Arrangement) DrawRows(s *scene.Scene, frame int, ids []trace.LocationID) {
	if a != nil {
		f := &s.Frames[frame]
		a.drawRows(s, frame, a.bands(ids, f.Y, f.H))
	}
}

// DrawScaleRows does so for rows of any height, as the frame's scale has them; each
// has a location.
func (a *Arrangement) DrawScaleRows(s *scene.Scene, frame int) {
	if a == nil {
		return
	}
	var bands []band
	for _, row := range s.Frames[frame].YScale.Rows {
		g := a.Group(trace.LocationID(row.Location))
		if n := len(bands); n > 0 && bands[n-1].group == g {
			bands[n-1].to = row.To
			continue
		}
		bands = append(bands, band{g, row.From, row.To})
	}
	a.drawRows(s, frame, bands)
}

func (a *Arrangement) drawRows(s *scene.Scene, frame int, bands []band) {
	f := &s.Frames[frame]
	ground, lines, strips, text := &scene.Line{Width: 3}, &scene.Line{Width: 1}, &scene.Rect{},
		&scene.Text{Size: scene.TextSize}
	for i, b := range bands {
		if f.X >= strip+1 {
			strips.Add(f.X-strip-1, b.from+0.5, strip, max(b.to-b.from-1, 0.5), GroupColour(b.group))
		}
		if i > 0 {
			ground.Add(f.X, b.from, f.X+f.W, b.from, scene.UIBackground)
			lines.Add(max(f.X-strip-1, 0), b.from, f.X+f.W, b.from, scene.UIText)
		}
		if f.X > 2*gutter && b.group >= 0 && b.to-b.from >= leastNumber {
			text.Add(2, (b.from+b.to)/2+scene.TextAscent(scene.TextSize)/2, strconv.Itoa(b.group+1), scene.UIText,
				scene.Start)
			if i > 0 {
				lines.Add(0, b.from, gutter-4, b.from, scene.UIText)
			}
		}
	}
	s.AddLayer("groups of rows", -1, ground, strips, lines, text)
}

// DrawColumns separates the groups of columns of equal width that fill a frame: a
// line down, and a strip in the group's colour over it.
func (a *Arrangement) DrawColumns(s *scene.Scene, frame int, ids []trace.LocationID) {
	if a == nil {
		return
	}
	f := &s.Frames[frame]
	ground, lines, strips := &scene.Line{Width: 3}, &scene.Line{Width: 1}, &scene.Rect{}
	top := max(f.Y-strip-1, 0)
	for i, b := range a.bands(ids, f.X, f.W) {
		if f.Y > strip {
			strips.Add(b.from+0.5, top, max(b.to-b.from-1, 0.5), strip, GroupColour(b.group))
		}
		if i > 0 {
			ground.Add(b.from, f.Y, b.from, f.Y+f.H, scene.UIBackground)
			lines.Add(b.from, top, b.from, f.Y+f.H, scene.UIText)
		}
	}
	s.AddLayer("groups of columns", -1, ground, strips, lines)
}

// Label names a group with its members, in short.
func (a *Arrangement) Label(group int) string {
	if group >= len(a.Groups) {
		return "in no group"
	}
	return a.Groups[group].Name + ": " + a.Groups[group].names
}

// Labels names all groups in a line, for pictures in which they have no colours.
func (a *Arrangement) Labels() string {
	var out []string
	for k := range a.Groups[:min(len(a.Groups), mostNamed)] {
		out = append(out, a.Label(k))
	}
	if n := len(a.Groups) - mostNamed; n > 0 {
		out = append(out, "and "+Count(n, "more group"))
	}
	return strings.Join(out, "; ")
}

// Explain adds the groups to the legend.
func (a *Arrangement) Explain(s *scene.Scene) {
	if a == nil {
		return
	}
	members := make([]int, len(a.Groups))
	for k := range a.Groups {
		members[k] = len(a.Groups[k].Members)
		if k < mostNamed {
			s.Legend = append(s.Legend,
				scene.LegendEntry{Label: a.Label(k), Colour: GroupColour(k), Region: scene.NoID, Parent: scene.NoID})
		}
	}
	if e, ok := OtherGroups(members); ok {
		s.Legend = append(s.Legend, e)
	}
}
