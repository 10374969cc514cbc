package timeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/runpath"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	criticalColour = scene.UIText // no region has it
	// criticalHigh is the height of the path in a row that is high enough.
	criticalHigh = 4
)

// A critical is the critical path as far as the window shows it.
type critical struct {
	*runpath.Path
	list []criticalStretch // in order of time
	why  error             // there is none
}

// A criticalStretch is a stretch with the row that shows it; -1: none does.
type criticalStretch struct {
	*runpath.Stretch
	row int32
}

// partIn is how long a stretch is inside a window.
func partIn(s *runpath.Stretch, window trace.Selection) trace.Time {
	return min(s.End, window.End) - max(s.Begin, window.Begin)
}

// drawn lists the stretches; a path that was not asked for has none.
func (c *critical) drawn() []criticalStretch {
	if c == nil {
		return nil
	}
	return c.list
}

// readCritical reads the critical path, where it is asked for.
func readCritical(ctx context.Context, in *input, rowOf []int32) (*critical, error) {
	if !in.opt.critical {
		return nil, nil
	}
	all, err := runpath.Of(ctx, &in.run, in.window(in.selection.Locations))
	switch {
	case errors.Is(err, runpath.ErrNoPath), err != nil && ctx.Err() == nil && all == nil:
		return &critical{why: err}, nil
	case err != nil:
		return nil, err
	}
	c := &critical{Path: all}
	for i := range all.Stretches {
		s := &all.Stretches[i]
		if partIn(s, in.selection) <= 0 {
			continue
		}
		row := int32(-1)
		if s.Location != trace.NoLocation {
			row = rowOf[s.Location]
		}
		c.list = append(c.list, criticalStretch{s, row})
	}
	if len(c.list) == 0 {
		c.why = fmt.Errorf("no %s in the selection", all.What)
	}
	return c, nil
}

// notes describes the path, and its parts that are not drawn.
func (c *critical) notes(window trace.Selection) (out notes) {
	if c.why != nil {
		out.add("no critical path is drawn: %v", c.why)
		return out
	}
	of := map[int32]bool{}
	length, hidden := trace.Time(0), trace.Time(0)
	for _, s := range c.list {
		of[s.Of] = true
		if part := partIn(s.Stretch, window); s.Location != trace.NoLocation {
			if length += part; s.row < 0 {
				hidden += part
			}
		}
	}
	name := view.Count(len(of), c.What)
	if len(of) == 1 {
		name = c.What + " " + c.Names[c.list[0].Of]
		if c.What == "request" {
			name += ", the one that takes longest"
		}
	}
	out.add("the line from row to row is the critical path of %s; it is thin where no location works", name)
	if hidden > 0 {
		out.add("%s of the path is on rows that are not shown", view.FormatShare(float64(hidden)/float64(length)))
	}
	return out
}

// criticalBand is the place of the path in a row: its upper edge and its height.
func (d *drawing) criticalBand(row int32) (y, h float32) {
	b := d.rows[row]
	bottom := b.to - float32(len(b.counters)*counterHeight)
	h = min(max((bottom-b.from)/4, 2), criticalHigh)
	return bottom - h, h
}

// A criticalRun is a part of the path that is drawn as one.
type criticalRun struct {
	row    int32
	x0, x1 float32
	thin   bool
	count  uint32
	// The first and the last of the stretches; of those between, the ones on the row.
	from, to int
}

// criticalRuns joins stretches of a row that lie closer than a part of a pixel, coarser until there are few enough.
func criticalRuns(d *drawing, list []criticalStretch) (out []criticalRun) {
	for apart := float32(0.5); ; apart *= 2 {
		out = out[:0]
		last := map[int32]int{}
		for i, s := range list {
			if s.row < 0 {
				continue
			}
			x0, x1 := d.x(max(s.Begin, d.begin)), d.x(min(s.End, d.end))
			if k, ok := last[s.row]; ok && x0-out[k].x1 < apart && (out[k].thin == s.Waits || x1-x0 < apart) {
				out[k].x1 = max(out[k].x1, x1)
				out[k].count++
				out[k].to = i
				continue
			}
			last[s.row] = len(out)
			out = append(out, criticalRun{s.row, x0, x1, s.Waits, 1, i, i})
		}
		if len(out) <= mostRects/4 {
			return out
		}
	}
}

// drawCritical draws the path along the lower edge of rows, and upright lines where it goes from one to another.
func drawCritical(s *scene.Scene, d *drawing, list []criticalStretch) {
	if len(list) == 0 {
		return
	}
	casing, path, steps := &scene.Rect{}, &scene.Rect{}, &scene.Line{Width: 1}
	for _, x := range criticalRuns(d, list) {
		y, h := d.criticalBand(x.row)
		w := max(x.x1-x.x0, 0.5)
		casing.Add(x.x0, y-1, w, h+1, scene.UIBackground)
		casing.SetItem(s.Item(ofStretch, x.from, x.to))
		if x.thin {
			y, h = y+h/2, 1
		}
		path.Add(x.x0, y, w, h, criticalColour)
		if x.count > 1 {
			path.SetCount(x.count)
		}
	}
	criticalTurns(d, list, steps)
	s.AddLayer("critical path", 0, casing, path, steps)
}

// criticalTurns draws where the path changes its row; turns of one pixel and the same rows are one.
func criticalTurns(d *drawing, list []criticalStretch, lines *scene.Line) {
	type turn struct {
		x        int
		from, to int32
	}
	seen := map[turn]bool{}
	before := map[int32]int32{} // by path: the row it was on
	for _, s := range list {
		if s.row < 0 {
			continue
		}
		from, ok := before[s.Of]
		before[s.Of] = s.row
		if !ok || from == s.row || s.Begin < d.begin {
			continue
		}
		x := d.x(s.Begin)
		k := turn{int(x), min(from, s.row), max(from, s.row)}
		if seen[k] || len(seen) >= mostRects/8 {
			continue
		}
		seen[k] = true
		y0, h0 := d.criticalBand(from)
		y1, h1 := d.criticalBand(s.row)
		lines.Add(x, y0+h0/2, x, y1+h1/2, criticalColour)
	}
}

// stretchFact returns the facts of the parts of the path that are drawn as one.
func stretchFact(regions []trace.Region, c *critical, from, to int) view.Fact {
	s := c.list[from]
	begin, end := s.Begin, s.End
	n := int64(0)
	for _, x := range c.list[from : to+1] {
		if x.row == s.row {
			n++
			end = max(end, x.End)
		}
	}
	f := view.Fact{Title: "critical path",
		Text: fmt.Sprintf("What %s %s waited for.", c.What, c.Names[s.Of]), Begin: &begin, End: &end,
		Locations: []trace.LocationID{s.Location}}
	if n > 1 {
		f.Count = n
		f.Say("stretches", view.Thousands(n), "")
		f.SayTime("begin", begin)
		f.SayTime("end", end)
		return f
	}
	f.Say("spent with", s.Kind, "")
	f.SayTime("begin", begin)
	f.SayTime("duration", end-begin)
	if s.Region != trace.NoRegion {
		f.Say("region", regions[s.Region].Name, "")
		f.Regions = []trace.RegionID{s.Region}
	}
	return f
}

// A dataStretch is a stretch of the critical path that meets the selection, whole.
type dataStretch struct {
	Of       string            `json:"of"`
	Location *trace.LocationID `json:"location"`
	Path     string            `json:"path"`
	Region   string            `json:"region"`
	Kind     string            `json:"kind"`
	Begin    trace.Time        `json:"begin"`
	End      trace.Time        `json:"end"`
}

func (r *result) dataCritical() (out []dataStretch) {
	for _, s := range r.critical.drawn() {
		x := dataStretch{Of: r.critical.Names[s.Of], Kind: s.Kind, Begin: s.Begin, End: s.End}
		if s.Location != trace.NoLocation {
			at := s.Location
			x.Location, x.Path = &at, r.reader.Locations().Path(at)
		}
		if s.Region != trace.NoRegion {
			x.Region = r.regions[s.Region].Name
		}
		out = append(out, x)
	}
	return out
}
