package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// drawSteps draws the steps of each run, a dot each, with their median.
func (r *result) drawSteps(s *scene.Scene, top float32) {
	if slices.ContainsFunc(r.Prints, func(p *fingerprint.Print) bool { return len(p.Steps) == 0 }) {
		drawWhyEmpty(s, top, "not all runs have steps (ProfilerStep#n, train 3, iteration 7)")
		return
	}
	w, h := float32(s.Width), float32(s.Height)
	order := slices.Concat(r.Runs[0], r.Runs[1])
	room := max(h-top-scene.AxisHeight-4, 20)
	n, pitch := plot.Fit(len(order), room, 12, 60)
	rows := plot.NewRows(n, top, pitch, func(i int, row *scene.Row) {
		row.Label = [2]string{"A ", "B "}[r.side[order[i]]] + r.names[order[i]]
	})
	most := 0.0
	for _, run := range order[:n] {
		for k := range r.Prints[run].Steps {
			most = max(most, r.Prints[run].Steps[k].Total)
		}
	}
	left := rows.LabelWidth(w * 0.3)
	f := rows.Frame("steps", left, max(w-left-edge-4, 1),
		scene.Scale{Kind: "linear", End: max(most*1.03, 1), Label: "length of a step"})
	frame := s.AddFrame(f)
	s.XAxis(frame, scene.Axis{Unit: "ns"})
	dots, medians := &scene.Point{}, &scene.Line{Width: 2}
	for i, row := range rows.List {
		p := r.Prints[order[i]]
		colour := [2]scene.Colour{colourA, colourB}[r.side[order[i]]]
		var all []float64
		for k := range p.Steps {
			all = append(all, p.Steps[k].Total)
			// Steps in order from the top of the row down: a trend is seen.
			y := row.From + pitch*(0.15+0.7*(float32(k)+0.5)/float32(len(p.Steps)))
			dots.Add(f.XPixel(p.Steps[k].Total), y, min(pitch*0.1, 3), colour)
			dots.SetItem(s.Item(itemStep, order[i], k))
		}
		m := f.XPixel(orderstat.Median(all))
		medians.Add(m, row.From+pitch*0.1, m, row.To-pitch*0.1, scene.UIText)
	}
	s.AddLayer("steps", frame, medians, dots)
	s.RowLabels(frame, 0)
	s.Legend = append(s.Legend, plot.Key("a step of A", colourA), plot.Key("a step of B", colourB),
		plot.Key("median", scene.UIText))
}

// A rankPair is the useful time of one rank on both sides, the mean over runs.
type rankPair struct {
	name string
	a, b float64
}

// ranks pairs locations by rank where the sizes are equal, else by their place among all,
// from the least useful time to the most.
func (r *result) ranks() []rankPair {
	var sides [2][]rankPair // a alone is used
	equal := true
	for s, side := range r.Runs {
		for _, i := range side {
			units := slices.Clone(r.Prints[i].Units)
			if len(units) == 0 {
				return nil
			}
			if sides[s] == nil {
				sides[s] = make([]rankPair, len(units))
			}
			if equal = equal && len(units) == len(r.Prints[r.Runs[0][0]].Units); !equal {
				break
			}
			for k, u := range units {
				sides[s][k].name = unitName(u.Name, u.Rank)
				sides[s][k].a += u.Useful / float64(len(side))
			}
		}
	}
	if equal {
		for k := range sides[0] {
			sides[0][k].b = sides[1][k].a
		}
		return sides[0]
	}
	const quantiles = 101
	out := make([]rankPair, quantiles)
	for s, side := range r.Runs {
		for _, i := range side {
			useful := make([]float64, len(r.Prints[i].Units))
			for k := range useful {
				useful[k] = r.Prints[i].Units[k].Useful
			}
			slices.Sort(useful)
			for k := range out {
				out[k].name = fmt.Sprintf("%d %% of locations have less", k)
				v := useful[min(k*len(useful)/(quantiles-1), len(useful)-1)] / float64(len(side))
				if s == 0 {
					out[k].a += v
				} else {
					out[k].b += v
				}
			}
		}
	}
	return out
}

func unitName(name string, rank int32) string {
	if rank != trace.NoRank {
		return fmt.Sprintf("rank %d", rank)
	}
	return name
}

// drawRanks draws each rank by its useful time in A and in B; on the line nothing changed.
func (r *result) drawRanks(s *scene.Scene, top float32) {
	list := r.ranks()
	if len(list) == 0 {
		drawWhyEmpty(s, top, "the runs have no ranks that are alike: of GPU jobs the steps tell more (--picture steps)")
		return
	}
	w, h := float32(s.Width), float32(s.Height)
	lo, hi := math.Inf(1), 0.0
	for _, x := range list {
		lo, hi = min(lo, x.a, x.b), max(hi, x.a, x.b)
	}
	pad := max((hi-lo)*0.06, hi*0.002, 1)
	lo, hi = max(lo-pad, 0), hi+pad
	scale := scene.Scale{Kind: "linear", Begin: lo, End: hi}
	side := max(min(w-120, h-top-topRoom-scene.AxisHeight-8), 40)
	left := scene.YAxisWidth(scale, side, scene.Axis{Unit: r.axisUnit()}) + edge
	f := scene.Frame{Name: "ranks", X: left, Y: top + topRoom, W: side, H: side, XScale: scale, YScale: scale}
	f.XScale.Label, f.YScale.Label = "useful time in A", "useful time in B"
	frame := s.AddFrame(f)
	s.XAxis(frame, scene.Axis{Unit: r.axisUnit()})
	s.YAxis(frame, scene.Axis{Unit: r.axisUnit()})
	line, dots := &scene.Line{Width: 1}, &scene.Point{}
	line.Add(f.XPixel(lo), f.YPixel(lo), f.XPixel(hi), f.YPixel(hi), scene.UIAxis)
	for i, x := range list {
		dots.Add(f.XPixel(x.a), f.YPixel(x.b), 3.5, plot.Change(x.b-x.a))
		dots.SetItem(s.Item(itemRank, i))
	}
	s.AddLayer("ranks", frame, line, dots)
	s.Legend = append(s.Legend, plot.Key("more useful time in B", plot.More),
		plot.Key("less", plot.Less))
}
