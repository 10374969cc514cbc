package timeline

import (
	"context"
	"fmt"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// PairData is the "data" of two runs.
type PairData struct {
	data
	With data `json:"with"`
	// Aligned is the phase that begins at the same place in both, and when it does.
	Aligned *Aligned `json:"aligned"`
}

// Aligned is the phase by which two timelines are aligned, with its begin in each.
type Aligned struct {
	Phase  string     `json:"phase"`
	First  trace.Time `json:"first"`
	Second trace.Time `json:"second"`
}

// A stacked is two timelines, one above the other: a nanosecond is as wide in both.
type stacked struct {
	*view.Beside
	aligned *Aligned
	begins  [2][]trace.Time // of the phases that both have
}

// stack draws two runs one above the other, on one scale, laid over each other where a phase
// begins.
func (how reading) stack(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &stacked{}
	b := &view.Beside{Above: true, Names: [2]string{q.Runs[0].Name, q.Runs[1].Name}}
	r.Beside = b
	sides := [2]*view.Request{q.First(), q.Second()}
	if err := r.align(ctx, q); err != nil {
		return nil, err
	}
	if a := r.aligned; a != nil && q.Selection.Begin == 0 && q.Selection.End == q.Store().Info().End {
		lead := min(a.First, a.Second) // before it one of them has nothing
		sides[0].Selection.Begin, sides[1].Selection.Begin = a.First-lead, a.Second-lead
		for k, one := range sides {
			if from := one.Selection.Begin; from > 0 {
				b.Extra = append(b.Extra,
					fmt.Sprintf("the first %s of %s lie to the left of what is drawn, so that %s begins at the same "+
						"place in both; --at-phase none draws both from their beginning", view.FormatTime(from),
						b.Names[k], a.Phase))
			}
		}
	}
	length := trace.Time(0)
	for _, one := range sides {
		length = max(length, one.Selection.End-one.Selection.Begin)
	}
	var halves [2]*result
	for k, one := range sides {
		one.Size = b.Half(q.Size)
		var err error
		if halves[k], err = how.one(ctx, one, one.Selection.Begin+length); err != nil {
			return nil, &view.BesideError{Run: b.Names[k], Err: err}
		}
	}
	// Labels have as much room in both, so that a nanosecond is as wide.
	width := max(halves[0].labelWidth, halves[1].labelWidth)
	for k, half := range halves {
		half.labelWidth = width
		b.Halves[k] = half
	}
	b.Join = func(first, second any) any { return PairData{*first.(*data), *second.(*data), r.aligned} }
	return r, nil
}

// align reads --at-phase: a phase that both runs have, by name or number.
func (r *stacked) align(ctx context.Context, q *view.Request) error {
	text := q.Values.Text("at-phase")
	if text == "none" {
		return nil
	}
	var of [2]*phase.Phases
	for k := range of {
		var err error
		if of[k], err = phase.OfRun(ctx, q.Runs[k].Store); err != nil {
			return err
		}
	}
	n := 0
	if of[0] != nil && of[1] != nil && of[0].Step == of[1].Step {
		n = min(len(of[0].List), len(of[1].List))
	}
	for k, p := range of {
		for i := range n {
			r.begins[k] = append(r.begins[k], p.List[i].Begin)
		}
	}
	at := 0
	if text != "auto" {
		number, err := strconv.Atoi(text)
		if at = number - 1; err != nil {
			for at = 0; at < n && of[0].List[at].Name != text; at++ {
			}
		}
		if at < 0 || at >= n {
			return fmt.Errorf("--at-phase %q: want auto, none, or a phase that both runs have, by its name or "+
				"number; they have %s", text, view.Count(n, "such phase"))
		}
	}
	if n > 0 {
		r.aligned = &Aligned{of[0].List[at].Name, r.begins[0][at], r.begins[1][at]}
	}
	return nil
}

// mostTies is the number of phases that are tied together by lines.
const mostTies = 64

// Scene draws both, with lines between the beginnings of the same phase.
func (r *stacked) Scene(size scene.Size) *scene.Scene {
	s := r.Beside.Scene(size)
	var frames [2]*scene.Frame
	edge := float32(size.Height) / 2
	for i := range s.Frames {
		f := &s.Frames[i]
		if f.XScale.Kind != "time" {
			continue
		}
		if k := 0; f.Y >= edge {
			if k = 1; frames[k] == nil {
				frames[k] = f
			}
		} else {
			frames[k] = f // the lowest of the first run
		}
	}
	if frames[0] == nil || frames[1] == nil || len(r.begins[0]) > mostTies {
		return s
	}
	lines := &scene.Line{Width: 1}
	for i := range r.begins[0] {
		x0, x1 := frames[0].XPixel(float64(r.begins[0][i])), frames[1].XPixel(float64(r.begins[1][i]))
		if min(x0, x1) >= frames[0].X && max(x0, x1) <= frames[0].X+frames[0].W {
			lines.Add(x0, frames[0].Y+frames[0].H, x1, frames[1].Y, scene.UIAccent)
		}
	}
	s.AddLayer("phases", -1, lines)
	return s
}
