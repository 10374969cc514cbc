// Package overview draws the best aggregation of locations × time on the axes of the timeline: one box wherever a
// group of locations did the same over a time range, many where they differ.
//
// After the future work of Lamarche-Perrin, Schnorr, Vincent, Demazeau, carried
// out by Dosimont and others; see package entropy for the programme.
package overview

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/proposal"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:  "overview",
	Title: "Overview",
	Paper: "Lamarche-Perrin, Schnorr, Vincent, Demazeau: Evaluating Trace Aggregation Through Entropy Measures " +
		"(future work)",
	Summary: "the optimal aggregation of locations × time on the axes of the timeline, with the stated information " +
		"loss",
	HowToRead: "Time runs to the right, and locations downwards in the order of their hierarchy. A box is a group " +
		"of locations and a time range that are drawn as one, because their behaviour is nearly equal. Its colours " +
		"are the shares of roles; empty space at the top is time without open intervals. A folded corner marks a " +
		"box for more than one location and time slice. A frame in the warning colour marks a box that hides more " +
		"than 1 % of all information; a wider frame means more loss. Large boxes are regular behaviour. Small " +
		"boxes are changes over time or locations that differ. Move p towards 0 for more detail and towards 1 for " +
		"less; the notes state the loss. Two runs are drawn one below the other, with the same axis and the same p. " +
		"As a difference, a box shows the time that both have in grey and the rest in colours: full colours are more " +
		"in the second run, hatched ones less, and locations and times that changed similarly are one box.",
	Needs:    view.Needs{Intervals: true, Rows: true},
	Options:  options,
	Report:   view.Report{AllLocations: true},
	Runs:     2,
	Data:     []any{Data{}, PairData{}},
	Compute:  view.InTime(computeRuns),
	AtImport: []view.Preparer{startOfRun},
}

var options = view.Words(view.Use("p", "gain", "scale", "bins", "hierarchy", "arrange", "picture=beside", "rows=auto"),
	"picture: picture of two runs: one below the other (beside), or one of what the second has more and less "+
		"[beside difference]",
	"rows: what a row is: all locations with intervals, processors (as in moments), threads, or auto: all, but "+
		"processors of a Go program, whose goroutines are many and short [auto processors threads all]")

var computeBeside = view.SideBySide(true, view.InTime(compute), func(a, b Data) any { return PairData{a, b} })

// computeRuns takes one run, or two: one below the other, or as a difference.
func computeRuns(ctx context.Context, q *view.Request) (view.Result, error) {
	if wantsDifference(q) {
		return compute(ctx, q)
	}
	return computeBeside(ctx, q)
}

// finders find groups of locations.
var finders = view.Finders{Alike: grouping.Order, Groupings: proposal.Groupings}

// warnShare is the share of the whole loss above which a box carries a warning.
const warnShare = 0.01

type result struct {
	view.Arranged
	request *view.Request
	*prepared
	parts []entropy.Part
	gain  float64 // of the parts, in the scale of p
	loss  float64
	pic   float64
	p     float64
	// chosenBy is the source of p: data or option.
	chosenBy string
	said     string
	// unarranged says why locations are not in the order asked for.
	unarranged string
	// length is that of the time axis: of two runs that of the longer one.
	length trace.Time
}

// Settle implements view.Chooser: two runs are cut by one p, in as many slices.
func (r *result) Settle(second *view.Request) {
	second.Values = second.Values.With("p", strconv.FormatFloat(r.p, 'g', -1, 64))
	if r.slices() < usualSlices {
		second.Values = second.Values.With("bins", strconv.Itoa(r.slices()))
	}
}

// ShareScale implements view.Scaled.
func (r *result) ShareScale(second view.Result) {
	other := second.(*result)
	r.length = max(r.length, other.length)
	other.length = r.length
}

// The prepared data does not depend on p.
type prepared struct {
	hierarchy *view.Hierarchy
	groupings []view.Grouping // that the hierarchy was chosen from
	tree      *entropy.Tree
	node      []int32      // of the hierarchy, for each node of the reduced tree
	count     []float64    // of each node: how many locations it stands for
	edges     []trace.Time // of the slices
	states    []state
	end       trace.Time // of the last slice
	programme *entropy.SpaceTime
	scale     entropy.Scale
	notes     []string
	envelope  *entropy.Envelope
	stretch   entropy.Stretch // to begin with
	why       entropy.Why
	first     entropy.Choice // its p
	once      sync.Once
	slider    entropy.Slider // see slide
}

func (p *prepared) slices() int { return len(p.edges) - 1 }

func (p *prepared) sizeBytes() int64 {
	n := int64(p.slices())
	return int64(p.tree.Len())*n*(16*n+8*int64(len(p.states))) + 40*int64(p.hierarchy.Len())
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var err error
	if r.Arranged, r.unarranged, err = q.ArrangeHierarchy(ctx, grouping.Order); err != nil {
		return nil, err
	}
	s := q.Selection
	key := fmt.Sprint(s.Begin, s.End, s.Locations == nil, s.Locations, q.Values.Text("gain"), q.Values.Text("scale"),
		q.Values.Integer("bins"), q.Values.Text("hierarchy"), q.Values.Text("arrange"))
	cache := q.Runs[0].Cache
	if wantsDifference(q) {
		cache = nil // cached values are of one run
	}
	r.prepared, err = derived.Keep(cache, "overview "+key, (*prepared).sizeBytes, func() (*prepared, error) {
		// for the next p
		g, err := settle(func(slices int) (*gatherer, error) {
			g := &gatherer{request: q, prepared: &prepared{}, wanted: slices}
			if q.Values.Text("scale") == "paper" {
				g.scale = entropy.Plain
			}
			if err := g.prepare(ctx, r.Arranged); err != nil {
				return nil, err
			}
			return g, g.begin(ctx)
		})
		if err != nil {
			return nil, err
		}
		if g.coarser != "" {
			g.notes = append(g.notes, g.coarser)
		}
		return g.prepared, nil
	})
	if err != nil {
		return nil, err
	}
	r.p, r.chosenBy, r.length = r.first.P, "data", r.end-s.Begin
	if q.Values.Text("p") != "auto" {
		r.p, r.chosenBy = q.Values.Number("p"), "option"
	}
	return r, r.solve(ctx)
}

func (r *result) solve(ctx context.Context) error {
	gain, loss := r.programme.Whole()
	if r.p >= 1 { // ties are coarse at the end of the slider
		r.parts = []entropy.Part{r.programme.Root()}
	} else {
		var err error
		if r.parts, _, err = r.programme.Best(ctx, r.programme.Weights(r.p, r.scale)); err != nil {
			return err
		}
	}
	for _, p := range r.parts {
		r.gain += p.Gain
		r.loss += p.Loss
	}
	gained, lost := share(r.gain, gain), r.lossShare(r.loss)
	if r.scale == entropy.Normalised {
		r.gain, r.loss = share(r.gain, gain), share(r.loss, loss)
	}
	r.pic = r.p*r.gain - (1-r.p)*r.loss
	r.said = fmt.Sprintf("p = %s: %s for %s cells, gain %s, loss %s", entropy.FormatP(r.p), boxes(len(r.parts)),
		view.Thousands(int64(r.count[0])*int64(r.slices())), view.FormatShare(gained), view.FormatShare(lost))
	return nil
}

func boxes(n int) string {
	if n == 1 {
		return "1 box"
	}
	return view.Thousands(int64(n)) + " boxes"
}

func share(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// lossShare is a loss as a share of all there is to lose.
func (r *result) lossShare(loss float64) float64 {
	_, whole := r.programme.Whole()
	return share(loss, whole)
}

// aggregated reports whether a part stands for more than one location in one slice.
func (r *result) aggregated(p entropy.Part) bool {
	return r.count[p.Node] > 1 || p.Last > p.First
}

func (r *result) Notes() []string {
	notes := []string{r.said}
	if r.chosenBy == "data" {
		notes = append(notes, r.first.String())
	}
	notes = append(append(notes, view.RowNotes(r.request.Store())...), r.notes...)
	if r.unarranged != "" {
		notes = append(notes, r.unarranged)
	}
	return r.Arrangement().AddNote(notes)
}

// rows is the number of leaves of the reduced tree.
func (r *result) rows() int {
	n := 0
	for i := range r.tree.Len() {
		if r.tree.Leaf(i) {
			n++
		}
	}
	return n
}

// span of a part in time.
func (r *result) span(p entropy.Part) (begin, end trace.Time) {
	return r.edges[p.First], r.edges[p.Last+1]
}
