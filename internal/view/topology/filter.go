package topology

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// limit reads a limit of the range filter: a number, or a share of the range.
func (r *result) limit(text string, otherwise float64) (float64, error) {
	if text == "" {
		return otherwise, nil
	}
	number, isShare := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(v) {
		return 0, fmt.Errorf("%q: want a number, or a share of the range such as 20%%", text)
	}
	if isShare {
		return r.lo + v/100*(r.hi-r.lo), nil
	}
	return v, nil
}

// parseSlice reads "x=3,y=2:0.5": axes with a value and how wide the slice is.
func parseSlice(text string, f *scene.SpaceFilter) error {
	if text == "" {
		return nil
	}
	for _, part := range strings.Split(text, ",") {
		axis, number, has := strings.Cut(strings.TrimSpace(part), "=")
		at, wide, isWide := strings.Cut(number, ":")
		if !isWide {
			wide = "1"
		}
		a := strings.Index("xyz", strings.ToLower(axis))
		v, bad := strconv.ParseFloat(at, 64)
		w, worse := strconv.ParseFloat(wide, 64)
		if !has || len(axis) != 1 || a < 0 || bad != nil || worse != nil || !(w > 0) || math.IsNaN(v) {
			return fmt.Errorf("--slice %q: want axis=value[:width], joined by commas, such as x=3,y=2", text)
		}
		f.Slice[a], f.At[a], f.Width[a] = true, v, w
	}
	return nil
}

// parseRange reads "low,high".
func parseRange(text string) (lo, hi float64, err error) {
	a, b, ok := strings.Cut(text, ",")
	lo, bad := strconv.ParseFloat(strings.TrimSpace(a), 64)
	hi, worse := strconv.ParseFloat(strings.TrimSpace(b), 64)
	if !ok || bad != nil || worse != nil || !(lo <= hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return 0, 0, fmt.Errorf("--range %q: want low,high", text)
	}
	return lo, hi, nil
}

// readFilter finds the range of colours and of shown locations.
func (r *result) readFilter() error {
	r.lo, r.hi = math.Inf(1), math.Inf(-1)
	for k := range r.points {
		for i, c := range r.points[k].Color {
			if r.placed[k][i] && !math.IsNaN(c) && !math.IsInf(c, 0) {
				r.lo, r.hi = min(r.lo, c), max(r.hi, c)
			}
		}
	}
	if r.lo > r.hi {
		r.lo, r.hi = 0, 0
	}
	var err error
	if r.option("range") != "" {
		if r.lo, r.hi, err = parseRange(r.option("range")); err != nil {
			return err
		}
	}
	if r.shown.Min, err = r.limit(r.option("min"), r.lo); err != nil {
		return fmt.Errorf("--min %w", err)
	}
	if r.shown.Max, err = r.limit(r.option("max"), r.hi); err != nil {
		return fmt.Errorf("--max %w", err)
	}
	r.shown.Ranged = r.option("min") != "" || r.option("max") != ""
	if r.shown.Ranged && r.option("min") == "" {
		r.shown.Min = -math.MaxFloat64
	}
	if r.shown.Ranged && r.option("max") == "" {
		r.shown.Max = math.MaxFloat64
	}
	return parseSlice(r.option("slice"), &r.shown)
}

// filter decides which locations are shown, and finds the mean of the slice.
func (r *result) filter() error {
	if err := r.readFilter(); err != nil {
		return err
	}
	sum := 0.0
	r.visible = make([][]bool, len(r.points))
	for k := range r.points {
		p := &r.points[k]
		r.visible[k] = make([]bool, len(r.location))
		for i := range r.location {
			if !r.placed[k][i] {
				r.unplaced++
				continue
			}
			at := [3]float64{p.X[i], p.Y[i], p.Z[i]}
			if !r.shown.Holds(at) {
				continue
			}
			c := p.Color[i]
			if !math.IsNaN(c) && !math.IsInf(c, 0) {
				r.inSlice++
				sum += c
			}
			r.visible[k][i] = r.shown.Shows(c, at)
		}
	}
	r.mean = sum / float64(r.inSlice)
	r.say()
	return nil
}

// things names the drawn items: locations, or points if a layout gives several to each.
func (r *result) things(n int) string {
	if len(r.points) > 1 {
		return view.Count(n, "point")
	}
	return view.Count(n, "location")
}

func (r *result) say() {
	var out []string
	r.before = slices.Clip(r.notes)
	heading := r.heading
	if heading == "" {
		heading = "layout " + r.layout
	}
	out = append(out, fmt.Sprintf("%s, %s", heading, view.Count(len(r.location), "location")))
	if len(r.points) > 1 {
		out[0] += fmt.Sprintf(" of %d points each", len(r.points))
	}
	if r.explains != "" {
		out[0] += "; " + r.explains
	}
	if r.shown.Slice != [3]bool{} {
		out = append(out, fmt.Sprintf("the slice holds %s, mean %s", r.things(r.inSlice), r.colour().format(r.mean)))
	}
	if r.unplaced > 0 {
		out = append(out, fmt.Sprintf("%s without a finite place, not drawn", r.things(r.unplaced)))
	}
	r.notes = slices.Concat(out, view.RowNotes(r.request.Store()), r.notes)
}
