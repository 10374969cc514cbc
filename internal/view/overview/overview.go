// Package overview draws the best aggregation of locations × time on the axes of
// the timeline: one box wherever a group of locations did the same over a stretch
// of time, many where they differ.
//
// After the future work of Lamarche-Perrin, Schnorr, Vincent, Demazeau, carried
// out by Dosimont and others; see package entropy for the programme.
package overview

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "overview",
	Title:   "Overview",
	Paper:   "Lamarche-Perrin, Schnorr, Vincent, Demazeau: Evaluating Trace Aggregation Through Entropy Measures (future work)",
	Summary: "the best aggregation of locations × time, on the timeline's axes, with the loss stated",
	HowToRead: "Time runs to the right, locations downwards in the order of their hierarchy. A box is a group of locations over a stretch of time that is drawn as one, " +
		"because its members did nearly the same there; its colours are the shares of roles inside. Large boxes are regular behaviour, small ones are where something changes " +
		"or somebody differs. Move p towards 0 for more detail and towards 1 for less; the notes say what is lost.",
	Needs:   view.Needs{Intervals: true},
	Options: view.Use("p=0.1", "gain", "scale", "bins", "hierarchy", "arrange"),
	Compute: compute,
}

const (
	// mostNodes and mostSlices bound the programme, which grows with nodes × slices³.
	mostNodes  = 480
	mostSlices = 100
)

type result struct {
	view.Arranged
	request *view.Request
	*prepared
	parts []entropy.Part
	gain  float64 // of the parts, in the scale of p
	loss  float64
	pic   float64
	p     float64
	said  string
	// unarranged says why locations are not in the order asked for.
	unarranged string
	drawn      drawing
}

// What is prepared does not depend on p.
type prepared struct {
	hierarchy *view.Hierarchy
	tree      *entropy.Tree
	node      []int32 // of the hierarchy, for each node of the reduced tree
	begin     trace.Time
	level     int // slices are 2^level ns wide
	slices    int
	roles     []trace.Role
	programme *entropy.SpaceTime
	notes     []string
}

func (p *prepared) sizeBytes() int64 {
	return int64(p.tree.Len())*int64(p.slices)*int64(16*p.slices+8*len(p.roles)) + 40*int64(p.hierarchy.Len())
}

// kept holds what is prepared for the next p.
var kept = view.NewKeep(512<<20, (*prepared).sizeBytes)

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, p: q.Values.Number("p")}
	if q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose a longer time", "no time is selected")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var err error
	if r.Arranged, r.unarranged, err = q.ArrangeHierarchy(ctx, grouping.Order); err != nil {
		return nil, err
	}
	s := q.Selection
	key := fmt.Sprint(s.Begin, s.End, s.Locations == nil, s.Locations, q.Values.Text("gain"), q.Values.Integer("bins"), q.Values.Text("hierarchy"), q.Values.Text("arrange"))
	r.prepared, err = kept.Get(q.Store(), key, func() (*prepared, error) {
		made := &result{request: q, Arranged: r.Arranged, prepared: &prepared{}}
		return made.prepared, made.prepare(ctx)
	})
	if err != nil {
		return nil, err
	}
	return r, r.solve(ctx)
}

// prepare reads the slices and measures every node over every stretch of them.
func (r *result) prepare(ctx context.Context) (err error) {
	q := r.request
	s := q.Store()
	if r.hierarchy, err = view.HierarchyOf(r.Arrangement(), q.Values.Text("hierarchy"), s.Locations(), q.Selection.Locations, s.Locations().Holds); err != nil {
		return err
	}
	if r.hierarchy.Leaves == 0 {
		return view.Empty("choose other locations", "no location with intervals in the selection")
	}
	r.reduce()
	r.slice(q.Values.Integer("bins"))
	values, err := r.values(ctx, s)
	if err != nil {
		return err
	}
	gain := entropy.GainValues
	if q.Values.Text("gain") == "entropy" {
		gain = entropy.GainEntropy
	}
	r.programme, err = entropy.NewSpaceTime(ctx, r.tree, r.slices, values, gain)
	return err
}

// reduce cuts the hierarchy at the deepest level that keeps it small enough.
func (r *result) reduce() {
	h := r.hierarchy
	at := []int{} // nodes by depth
	for i := range h.Len() {
		for len(at) <= int(h.Depth[i]) {
			at = append(at, 0)
		}
		at[h.Depth[i]]++
	}
	depth, nodes := 0, 0
	for d := range at {
		if nodes+at[d] > mostNodes && d > 0 {
			break
		}
		nodes += at[d]
		depth = d
	}
	place := make([]int32, h.Len())
	r.tree = &entropy.Tree{}
	hidden := 0
	for i := range h.Len() {
		if int(h.Depth[i]) > depth {
			hidden++
			continue
		}
		parent := int32(-1)
		if p := h.Parent[i]; p >= 0 {
			parent = place[p]
		}
		place[i] = int32(len(r.node))
		r.node = append(r.node, int32(i))
		r.tree.Parent = append(r.tree.Parent, parent)
		r.tree.Last = append(r.tree.Last, place[i])
	}
	for i := r.tree.Len() - 1; i > 0; i-- {
		p := r.tree.Parent[i]
		r.tree.Last[p] = max(r.tree.Last[p], r.tree.Last[i])
	}
	if hidden > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%s locations and groups below level %d were added up before", view.Thousands(int64(hidden)), depth))
	}
}

// slice chooses aligned slices of 2^level ns: as many as asked for at most.
func (r *result) slice(most int) {
	if most <= 0 || most > mostSlices {
		most = mostSlices
	}
	sel := r.request.Selection
	width := max((sel.End-sel.Begin)/trace.Time(most), 1)
	r.level = bits.Len64(uint64(width - 1))
	for {
		r.begin = sel.Begin >> r.level << r.level
		r.slices = int((sel.End - r.begin + 1<<r.level - 1) >> r.level)
		if r.slices <= most || r.level >= 62 {
			break
		}
		r.level++
	}
	r.notes = append(r.notes, fmt.Sprintf("%d slices of %s", r.slices, view.FormatTime(1<<r.level)))
}

// values gives role × leaf × slice in seconds, from the store's kept bins.
func (r *result) values(ctx context.Context, s store.Reader) ([][][]float64, error) {
	asked, of := r.questions(s.Locations())
	g, err := s.Groups(ctx, asked, r.begin, r.begin+trace.Time(r.slices)<<r.level, r.level)
	if err != nil {
		return nil, err
	}
	var total [trace.RoleCount]trace.Time
	for k, t := range g.Time {
		total[k%trace.RoleCount] += t
	}
	for role := 1; role < trace.RoleCount; role++ {
		if total[role] > 0 {
			r.roles = append(r.roles, trace.Role(role))
		}
	}
	if len(r.roles) == 0 {
		return nil, view.Empty("choose a longer time", "nothing happens in the selection")
	}
	out := make([][][]float64, len(r.roles))
	for x, role := range r.roles {
		out[x] = make([][]float64, r.tree.Len())
		for k, leaf := range of {
			row := out[x][leaf]
			if row == nil {
				row = make([]float64, r.slices)
				out[x][leaf] = row
			}
			for b := range row {
				row[b] += float64(g.Time[(k*g.Bins+b)*trace.RoleCount+int(role)]) / 1e9
			}
		}
		r.withoutOthers(out[x])
	}
	return out, nil
}

// questions lists the locations to ask the store for, and the leaf of the reduced
// tree that each is for. A leaf that is a group is asked for as a whole where it is
// one of the source's and all of it is selected, else member by member.
func (r *result) questions(t *store.Tree) (asked []trace.LocationID, of []int32) {
	h := r.hierarchy
	for i := range r.tree.Len() {
		if !r.tree.Leaf(i) {
			continue
		}
		node := r.node[i]
		id := h.Location[node]
		if h.Last[node] == node || id != trace.NoLocation && r.wall(int32(i)) == holding(t, id) {
			asked, of = append(asked, id), append(of, int32(i))
			continue
		}
		for k := node; k <= h.Last[node]; k++ {
			if h.Last[k] == k {
				asked, of = append(asked, h.Location[k]), append(of, int32(i))
			}
		}
	}
	return asked, of
}

// holding counts the locations with intervals in a subtree.
func holding(t *store.Tree, id trace.LocationID) (n float64) {
	for k := id; k <= t.Last[id]; k++ {
		if t.Holds[k] {
			n++
		}
	}
	return n
}

// withoutOthers takes what lies beside it away from the leaf of a location that
// has others below it: the store's answer for that location holds them too.
func (r *result) withoutOthers(values [][]float64) {
	for i := range r.tree.Len() {
		if !r.tree.Leaf(i) || !r.hierarchy.Self[r.node[i]] {
			continue
		}
		parent := int(r.tree.Parent[i])
		for k := parent + 1; k <= int(r.tree.Last[parent]); k++ {
			if k == i || values[k] == nil {
				continue
			}
			for b := range values[i] {
				values[i][b] = max(values[i][b]-values[k][b], 0)
			}
		}
	}
}

func (r *result) solve(ctx context.Context) error {
	gain, loss := r.programme.Whole()
	plain := r.p
	if r.request.Values.Text("scale") == "normalised" && gain > 0 && loss > 0 {
		plain = r.p * loss / (r.p*loss + (1-r.p)*gain)
	}
	var err error
	if r.parts, r.pic, err = r.programme.Best(ctx, plain); err != nil {
		return err
	}
	for _, p := range r.parts {
		r.gain += p.Gain
		r.loss += p.Loss
	}
	if r.request.Values.Text("scale") == "normalised" {
		r.gain, r.loss = share(r.gain, gain), share(r.loss, loss)
		r.pic = r.p*r.gain - (1-r.p)*r.loss
	}
	r.said = fmt.Sprintf("p = %.4g: %s boxes for %s cells, loss %s", r.p, view.Thousands(int64(len(r.parts))),
		view.Thousands(int64(r.rows()*r.slices)), view.FormatShare(r.lossShare(r.totalLoss())))
	return nil
}

func share(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func (r *result) totalLoss() (sum float64) {
	for _, p := range r.parts {
		sum += p.Loss
	}
	return sum
}

// lossShare is a loss as a share of all there is to lose.
func (r *result) lossShare(loss float64) float64 {
	_, whole := r.programme.Whole()
	return share(loss, whole)
}

func (r *result) Notes() []string {
	notes := append([]string{r.said}, r.notes...)
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

// span of a part in time, clipped to the selection.
func (r *result) span(p entropy.Part) (begin, end trace.Time) {
	begin = r.begin + trace.Time(p.First)<<r.level
	end = r.begin + trace.Time(p.Last+1)<<r.level
	return max(begin, r.request.Selection.Begin), min(end, r.request.Selection.End)
}
