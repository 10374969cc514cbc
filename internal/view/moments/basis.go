package moments

import (
	"context"
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

// fewCoefficients is how many another basis has unless --bins says otherwise.
const fewCoefficients = 16

// A projection is utilization on another basis than moments.
type projection struct {
	basis moment.Basis
	of    [][]float64 // coefficients by row of the selection
	rows  [][]float64 // and of the drawn rows
}

// project finds the coefficients of all rows where --basis asks for them. They are
// linear, so those of a group are the mean of its members'.
func (k *sketches) project(ctx context.Context, rows []row, v view.Values) (p *projection, note string, err error) {
	name := v.Text("basis")
	if name == "moments" {
		return nil, "", nil
	}
	if k.axis.counter != "" || k.Recorded != nil {
		return nil, "another basis needs intervals over time: moments are shown", nil
	}
	n := v.Integer("bins")
	if n < 0 || n > moment.MostCoefficients {
		return nil, "", fmt.Errorf("--bins %d: want up to %d coefficients", n, moment.MostCoefficients)
	}
	if n == 0 {
		n = fewCoefficients
	}
	p = &projection{basis: moment.Basis(name), rows: make([][]float64, len(rows))}
	n = p.basis.Size(n)
	if p.of, err = k.Project(ctx, k.busy, p.basis, n); err != nil {
		return nil, "", err
	}
	for j := range rows {
		sum := make([]float64, n)
		for _, i := range rows[j].members {
			for at, c := range p.of[i] {
				sum[at] += c / float64(len(rows[j].members))
			}
		}
		p.rows[j] = sum
	}
	return p, fmt.Sprintf("utilization by %d coefficients of the basis %s", n, name), nil
}

// drawProjection draws the utilization that the coefficients make: as a height, or in
// thin rows as a colour.
func drawProjection(s *scene.Scene, d *drawing, frame int, p *projection, bar scene.Colour) {
	f := &s.Frames[frame]
	cells := len(p.rows[0])
	if p.basis == moment.Cosine {
		cells = max(min(int(f.W/3), 8*cells), 1)
	}
	rects, areas := &scene.Rect{}, &scene.Polygon{}
	for k, c := range p.rows {
		y, h := d.edge(k), d.edge(k+1)-d.edge(k)
		value := func(i int) float64 {
			return min(max(p.basis.At(c, (float64(i)+0.5)/float64(cells)), 0), 1)
		}
		if d.height >= full {
			y, h = y+1, h-2
		}
		if p.basis == moment.Cosine && d.height >= thin {
			xs, ys := []float32{f.X}, []float32{y + h}
			for i := range cells {
				xs, ys = append(xs, f.X+f.W*(float32(i)+0.5)/float32(cells)), append(ys, y+h*float32(1-value(i)))
			}
			areas.Add(append(xs, f.X+f.W), append(ys, y+h), bar)
			continue
		}
		for i := 0; i < cells; {
			next, v := i+1, value(i)
			for next < cells && math.Abs(value(next)-v) < 1./256 {
				next++
			}
			x, w := f.X+f.W*float32(i)/float32(cells), f.W*float32(next-i)/float32(cells)
			switch {
			case d.height < thin && v < 0.01: // idle time looks empty
			case d.height < thin:
				rects.Add(x, y, w, h, scene.Ramp(projectionRamp, v))
			case v > 0:
				rects.Add(x, y+h*float32(1-v), w, h*float32(v), bar)
			}
			i = next
		}
	}
	s.AddLayer("projection", frame, rects, areas)
}

const projectionRamp = "cividis"

// legend explains the marks of another basis.
func (p *projection) legend(d *drawing, bar scene.Colour) []scene.LegendEntry {
	e := plot.Key(fmt.Sprintf("busy share, as %d coefficients give it", len(p.rows[0])), bar)
	if d.height < thin {
		e.Colour, e.RampEnd, e.RampLow, e.RampHigh = scene.Ramp(projectionRamp, 0), scene.Ramp(projectionRamp, 1),
			"0 %", "100 %"
	}
	return []scene.LegendEntry{e}
}

// say adds the first coefficients of a row to a fact.
func (p *projection) say(f *view.Fact, row int) {
	if p == nil {
		return
	}
	for j, c := range p.rows[row][:min(8, len(p.rows[row]))] {
		f.Say(fmt.Sprintf("c%d %s", j, p.basis), fmt.Sprintf("%.3g", c), fmt.Sprintf("%.17g", c))
	}
}
