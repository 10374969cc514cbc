package moments

import (
	"context"
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/utilization"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// stripCells is the number of signs that a strip has.
const stripCells = 40

// Fact describes a row: its numbers and their reading in words.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	w, state := &r.rows[it.A], int(it.B)
	m := w.moments[state]
	length := r.axis.length()
	f := view.Fact{Title: w.label, Text: moment.Reading(m, length, view.FormatShare),
		Locations: r.locationsOf(w)}
	if len(w.members) > 1 {
		f.Count = int64(len(w.members))
		f.Text = fmt.Sprintf("The mean utilization of %s. ", view.Count(len(w.members), "location")) + f.Text
	}
	if len(r.states) > 1 {
		f.Say("state", r.states[state].State.Name, "")
	}
	add := func(label string, x float64) {
		f.Say(label, r.axis.quantity(x), r.axis.exact(x))
	}
	f.Say("m0 busy time", r.axis.quantity(m.M0)+", "+view.FormatShare(m.M0/length), r.axis.exact(m.M0))
	if m.Empty() {
		return f, true
	}
	add("m1 mean time", m.M1)
	add("m2 deviation", m.M2)
	add("m3 skew", m.M3)
	if w.higher != nil && r.states[state] == r.busy {
		for k := 4; k <= r.opt.orders; k++ {
			add(fmt.Sprintf("m%d", k), w.higher.M(k))
		}
	}
	if w.group() && state == 0 {
		s := w.spread
		f.Say("m1 of members", r.axis.quantity(s.Q10)+" to "+r.axis.quantity(s.Q90)+" (middle 80 %)",
			fmt.Sprintf("min %.17g, median %.17g, max %.17g %s", s.Min, s.Median, s.Max, r.axis.unit))
	}
	if w.outlier.StandsOut() {
		f.Say("stands out", r.axis.why(&w.outlier),
			fmt.Sprintf("%.3g robust standard deviations", w.outlier.Score))
	}
	r.projection.say(&f, int(it.A))
	f.More = true
	return f, true
}

// Detail adds the two bars that have the same four numbers, and the true busy time for
// comparison.
func (r *result) Detail(it scene.Item, f *view.Fact) error {
	return r.sayStrips(f, &r.rows[it.A], int(it.B))
}

// locationsOf returns the locations that choosing a row selects.
func (r *result) locationsOf(w *row) []trace.LocationID {
	if w.node != trace.NoLocation {
		return []trace.LocationID{w.node}
	}
	const most = 256 // of patterns in a request
	if len(w.members) > most {
		return nil
	}
	out := make([]trace.LocationID, len(w.members))
	for k, i := range w.members {
		out[k] = r.IDs[i]
	}
	return utilization.Sorted(out)
}

// sayStrips draws the inverse and the truth with signs, on the same scale.
func (r *result) sayStrips(f *view.Fact, w *row, state int) error {
	m := w.moments[state]
	bins := make([]float32, stripCells)
	c := &utilization.Coverage{Width: r.axis.length() / stripCells}
	label, words := "as two bars", ""
	left, right, ok := moment.TwoBars(m.M0, m.M1, m.Mu2(), m.Mu3())
	if !ok {
		label, left = "as one bar", [2]float64{m.M1 - m.M0/2, m.M1 + m.M0/2}
	}
	add := func(bar [2]float64) {
		c.Add(bins, trace.Time(bar[0]), trace.Time(bar[1]), 1)
		words += fmt.Sprintf("%s to %s, ", r.axis.quantity(bar[0]), r.axis.quantity(bar[1]))
	}
	add(left)
	if ok {
		add(right)
	}
	for i := range bins {
		bins[i] = min(bins[i]/float32(c.Width), 1)
	}
	f.Say(label, strip(bins), strings.TrimSuffix(words, ", "))
	if r.axis.counter != "" {
		return nil
	}
	truth, err := r.Shares(context.Background(), r.states[state], r.sampled([]row{*w}), stripCells)
	if err != nil {
		return err
	}
	exact := "share busy in each fortieth of the window"
	if n := len(w.members); n > chartMembers {
		exact = fmt.Sprintf("%s, of %d of %d members", exact, chartMembers, n)
	}
	f.Say("true busy time", strip(truth[0]), exact)
	return nil
}

// blocks are the signs of a strip from empty to full, all of one width.
var blocks = []rune("░▁▂▃▄▅▆▇█")

// strip writes shares as a line of signs, for a fact: a picture in words.
func strip(shares []float32) string {
	out := make([]rune, len(shares))
	for i, x := range shares {
		k := int(x*float32(len(blocks)-1) + 0.5)
		if k == 0 && x > 0 {
			k = 1
		}
		out[i] = blocks[min(max(k, 0), len(blocks)-1)]
	}
	return string(out)
}
