// Package treemap draws the hierarchy of locations as nested cells, aggregated where
// that hides least: the cut with the best trade-off p between information that need not
// be read (gain) and information that can no longer be read (loss).
//
// After Lamarche-Perrin, Schnorr, Vincent, Demazeau; see package entropy.
package treemap

import (
	"context"
	"fmt"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/proposal"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "treemap",
	Title:   "Treemap",
	Paper:   "Lamarche-Perrin, Schnorr, Vincent, Demazeau: Evaluating Trace Aggregation Through Entropy Measures",
	Summary: "the location hierarchy, aggregated where little information is lost, with the stated loss",
	HowToRead: "Each box is a node of the location hierarchy. Its area is its time, and its colours are the shares " +
		"of roles or regions. Positions and colours keep the order of the tree for every time range. A folded " +
		"corner marks a cell that stands for many locations, because they are similar. Its loss is the information " +
		"that this hides, in bits and as a share of all information. A frame in the warning colour marks a cell that " +
		"hides more than 1 % and whose members differ by more than 5 %; a wider frame means more loss. Locations " +
		"that differ and are too small to see are enlarged next to the picture. Move p towards 0 for more detail and " +
		"towards 1 for less: the aggregation is the optimal one for that p. Groups that stay open at high p have " +
		"members that differ. For two runs, a cell " +
		"shows the common time in grey and the difference in colours: full colours are more in the second run, " +
		"hatched ones less. Locations that changed similarly are one cell.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  2,
	Options: view.Words(view.Use("p", "gain", "scale", "values", "group=optimal", "hierarchy", "arrange", "metric",
		"paper"),
		"group: groups that are drawn as one: optimal (by --p), all, a depth, or a kind of location such as machine"),
	Report:  view.Report{Place: 6, Height: 320, AllLocations: true},
	Data:    []any{Data{}},
	Compute: view.InTime(compute),
	// the overview needs the same
	AtImport: []view.Preparer{view.AlikeOfRun(grouping.Order), view.ScoresOfRun(proposal.Groupings)},
}

// finders find groups of locations.
var finders = view.Finders{Alike: grouping.Order, Groupings: proposal.Groupings}

// A cell carries a warning above this share of the root's loss, if its members also deviate by so much from their mean:
// of locations that are alike, any cell hides much of what little there is.
const (
	warnShare     = 0.01
	warnDeviation = 0.05
)

type result struct {
	view.Arranged
	request *view.Request
	*labelled
	p        float64
	chosenBy string // of p: data or option
	cut      entropy.Cut
	inCut    []bool
	level    string // said where the cut is a fixed level
	// unarranged says why locations are not in the order asked for.
	unarranged string
}

// A labelled tree is all that does not depend on p: the slider moves over it.
type labelled struct {
	hierarchy  *view.Hierarchy
	groupings  []view.Grouping // that the hierarchy was chosen from
	tree       *entropy.Tree
	variables  []painted
	unit       float64 // how much of the values' own unit is one unit of the labels
	unitName   string  // of the values: "ns", "bytes", "count", or the source's own
	mean       bool    // a cell's value is the mean of its locations, not their sum
	labels     *entropy.Labels
	thresholds []float64 // odds, by node
	slider     entropy.Slider
	first      entropy.Choice // the p to begin with
	scale      entropy.Scale
	notes      []string
	ways10     float64 // log10 of how many cuts the tree has
	ranking    sync.Once
	between    []float64 // of each node: the loss between its children
	ranked     []int32   // groups by that
}

func (l *labelled) sizeBytes() int64 {
	return int64(l.tree.Len())*int64(64+8*len(l.variables)) + 40*int64(len(l.slider.Stretches))
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
	cache := q.Runs[0].Cache
	if len(q.Runs) > 1 {
		cache = nil // cached values are of one run
	}
	r.labelled, err = derived.Keep(cache, "treemap "+keyOf(q), (*labelled).sizeBytes, func() (*labelled, error) {
		// for the next p
		made := &result{request: q, Arranged: r.Arranged, labelled: &labelled{scale: scaleOf(q)}}
		return made.labelled, made.measure(ctx)
	})
	if err != nil {
		return nil, err
	}
	r.p, r.chosenBy = r.first.P, "data"
	if q.Values.Text("p") != "auto" {
		r.p, r.chosenBy = q.Values.Number("p"), "option"
	}
	return r, r.chooseCut()
}

func scaleOf(q *view.Request) entropy.Scale {
	if q.Values.Text("scale") == "paper" {
		return entropy.Plain
	}
	return entropy.Normalised
}

// keyOf names everything that a labelled tree depends on.
func keyOf(q *view.Request) string {
	s := q.Selection
	key := fmt.Sprint(s.Begin, s.End, s.Locations == nil, s.Locations, s.Regions == nil, s.Regions)
	for _, o := range []string{"gain", "scale", "values", "hierarchy", "arrange", "metric", "paper"} {
		key += "\x00" + q.Values.Text(o)
	}
	if g := q.Values.Text("group"); g != "optimal" && g != "all" {
		key += "\x00level" // then no groups are put into the tree
	}
	return key
}

// hierarchyOf arranges the locations of a request that have values.
func hierarchyOf(ctx context.Context, q *view.Request, by view.Arranged) (view.Grouped, error) {
	holds, err := runfacts.Holders(ctx, q.Store())
	if err != nil {
		return view.Grouped{}, err
	}
	return q.Hierarchy(ctx, by, finders, holds)
}

// measure reads the values and measures every node: O(nodes log nodes).
func (r *result) measure(ctx context.Context) (err error) {
	q := r.request
	grouped, err := hierarchyOf(ctx, q, r.Arranged)
	if err != nil {
		return err
	}
	r.hierarchy, r.groupings = grouped.Hierarchy, grouped.Groupings
	if grouped.Note != "" {
		r.notes = append(r.notes, grouped.Note)
	}
	r.tree = &entropy.Tree{Parent: r.hierarchy.Parent, Last: r.hierarchy.Last}
	if r.hierarchy.Leaves == 0 {
		return view.Empty("choose other locations", "no location with values in the selection")
	}
	var values [][]float64
	if len(q.Runs) > 1 {
		values, err = r.difference(ctx)
	} else {
		values, err = r.values(ctx, q.Values.Text("values"))
	}
	if err != nil {
		return err
	}
	gain := entropy.GainValues
	if q.Values.Text("gain") == "entropy" {
		gain = entropy.GainEntropy
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.labels = entropy.Label(r.tree, values, gain)
	r.ways10 = r.tree.Count()
	r.slide()
	return nil
}

// slide finds all stretches of p, and the one to begin with.
func (l *labelled) slide() {
	var significant []float64
	l.thresholds, significant = l.labels.Thresholds()
	s := &l.slider
	s.Axis, s.Spread, s.Complete = l.labels.Axis(l.scale), l.labels.Spread(), true
	s.Stretches = l.labels.Stretches(l.thresholds, significant)
	s.Finest.Parts = int(l.labels.Leaves[0])
	k, why := entropy.First(s.Stretches, s.Spread, l.labels.Loss[0])
	l.first = entropy.Choose(s.Stretches[k], why, s.Spread, s.Axis)
}

// chooseCut takes the best aggregation for p, or a fixed level of the tree.
func (r *result) chooseCut() error {
	switch group := r.request.Values.Text("group"); {
	case group == "optimal" && r.p >= 1:
		r.cut = r.labels.Level(0) // ties are coarse at the end of the slider
	case group == "optimal":
		r.cut = r.labels.Best(r.thresholds, r.labels.Odds(r.p, r.scale))
	default:
		depth, err := r.hierarchy.LevelNamed(group)
		if err != nil {
			return err
		}
		r.cut = r.labels.Level(depth)
		r.level = fmt.Sprintf("drawn at a fixed level (%s), not at the best cut", group)
	}
	r.inCut = make([]bool, r.tree.Len())
	for _, i := range r.cut.Parts {
		r.inCut[i] = true
	}
	return nil
}

// threshold is a node's threshold in the scale of p; nil if it is never drawn as one.
func (r *result) threshold(i int32) *float64 {
	p := r.labels.P(r.thresholds[i], r.scale)
	if p >= 1 {
		return nil
	}
	return &p
}

// share is a loss as a share of all there is to lose.
func (r *result) share(loss float64) float64 {
	if r.labels.Loss[0] <= 0 {
		return 0
	}
	return loss / r.labels.Loss[0]
}

func (r *result) Notes() []string {
	out := append([]string{}, r.notes...)
	if r.chosenBy == "data" && r.level == "" {
		out = append(out, r.first.String())
	}
	if r.level != "" {
		out = append(out, r.level)
	}
	if r.unarranged != "" {
		out = append(out, r.unarranged)
	}
	if text := r.advice(); text != "" {
		out = append(out, text)
	}
	return r.Arrangement().AddNote(out)
}

// advice reports whether aggregated cells may be trusted.
func (r *result) advice() string {
	many, hide, worst := 0, 0, int32(0)
	alike := 0.0 // the largest deviation in cells that hide much of little
	for _, i := range r.cut.Parts {
		if r.aggregated(i) {
			many++
			if !r.warns(i) && r.hidesMuch(i) {
				alike = max(alike, r.deviation(i))
			}
			if r.warns(i) {
				if hide++; hide == 1 || r.labels.Loss[i] > r.labels.Loss[worst] {
					worst = i
				}
			}
		}
	}
	switch {
	case many == 0:
		return ""
	case hide == 0 && alike > 0:
		return "safe: in no cell that is drawn as one members deviate by more than " + view.FormatShare(alike) +
			" from their mean"
	case hide == 0:
		return "safe: no cell that is drawn as one hides more than 1 % of how locations differ"
	}
	most := fmt.Sprintf("%s hides %s, its members deviate by %s from their mean", r.name(worst),
		view.FormatShare(r.share(r.labels.Loss[worst])), view.FormatShare(r.deviation(worst)))
	way := "; a " + r.finer() + " opens "
	if hide == 1 {
		return "1 cell hides more than 1 % of how locations differ: " + most + way + "it"
	}
	return fmt.Sprintf("%s hide more than 1 %% each of how locations differ: %s", view.Count(hide, "cell"), most) +
		way + "them"
}

// finer names the option that shows more of a cell. At a fixed level p has no effect.
func (r *result) finer() string {
	if r.level != "" {
		return "deeper --group"
	}
	return "smaller p"
}

// deviation is the share of their mean by which the locations of a node differ, all
// variables together.
func (r *result) deviation(i int32) float64 {
	total := 0.0
	for _, x := range r.labels.Sum {
		total += x[i]
	}
	return entropy.Deviation(r.labels.Loss[i], total)
}

// ways is log10 of the number of cuts that the best one was chosen from.
func (r *result) ways() float64 { return r.ways10 }

// overlay reports whether a variable is instants that are drawn beside states.
func (r *result) overlay(x int) bool { return r.variables[x].Instant && !r.variables[0].Instant }

// aggregated reports whether a part stands for more than one location.
func (r *result) aggregated(i int32) bool { return r.labels.Leaves[i] > 1 }

// location of a node; NoLocation of a root that the source does not have.
func (r *result) location(i int32) trace.LocationID { return r.hierarchy.Location[i] }
