package overview

import (
	"context"
	"errors"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A start is the data of a run that a picture needs: the nodes of its hierarchy that are distinguished, and their
// times in slices.
type start struct {
	Leaves       int // of the hierarchy that nodes are of
	Nodes        int
	Node         []int32
	Parent, Last []int32 // of the reduced tree
	Count        []float64
	Slices       int
	States       []int // their numbers
	Cells        *entropy.Cells
	Notes        []string
	// First is the stretch of p to begin with, and Why it was chosen; set in what is kept.
	First entropy.Stretch
	Why   entropy.Why
}

var errNoStart = errors.New("its parts do not fit together")

func (s *start) check(store.Reader) error {
	n := len(s.Node)
	if n == 0 || len(s.Parent) != n || len(s.Last) != n || len(s.Count) != n || s.Slices < 1 || s.Cells == nil ||
		len(s.States) == 0 || len(s.Cells.Sum) != len(s.States) || len(s.Cells.Info) != len(s.States) {
		return errNoStart
	}
	for x := range s.States {
		if len(s.Cells.Sum[x]) != n*s.Slices || len(s.Cells.Info[x]) != n*s.Slices {
			return errNoStart
		}
	}
	for i, node := range s.Node {
		if node < 0 || int(node) >= s.Nodes || int(s.Last[i]) < i || int(s.Last[i]) >= n || int(s.Parent[i]) >= i {
			return errNoStart
		}
	}
	s.Cells.Count = s.Count
	return nil
}

// manyIntervals is how many a run has from which on its start is kept next to the store.
var manyIntervals int64 = 1 << 22 // a test takes less

// startOfRun is the start of the whole run as it is first drawn.
var startOfRun = derived.Derived[*start]{Name: "overview", Version: 2, Restore: (*start).check,
	Keeps: func(r store.Reader) bool { return view.HasMany(r) || r.Info().Intervals >= manyIntervals },
	Make: func(ctx context.Context, run *view.Run) (*start, error) {
		values, err := view.NewValues(&view.View{Name: "overview", Options: options}, nil)
		if err != nil {
			return nil, err
		}
		q := &view.Request{Runs: []view.Run{*run}, Values: values}
		if q.Selection, err = (view.Spec{}).Resolve(run.Store); err != nil {
			return nil, err
		}
		g, err := settle(func(slices int) (*gatherer, error) {
			g := &gatherer{request: q, prepared: &prepared{}, wanted: slices}
			if err := g.open(ctx, view.Arranged{}); err != nil {
				return nil, err
			}
			if g.start, err = g.read(ctx); err != nil {
				return nil, err
			}
			return g, errors.Join(g.take(ctx, g.start), g.begin(ctx))
		})
		if err != nil {
			return nil, err
		}
		out := g.start
		if g.coarser != "" {
			out.Notes = append(out.Notes, g.coarser)
		}
		out.First, out.Why = g.stretch, g.why
		return out, nil
	}}

// isFirst reports whether a picture is that of startOfRun.
func (g *gatherer) isFirst(a view.Arranged) bool {
	v, rule := g.request.Values, g.request.Values.Text("hierarchy")
	return startOfRun.Keeps(g.request.Store()) && g.other == nil && a.Arrangement() == nil &&
		g.request.Window().Whole(g.request.Store()) && v.Integer("bins") <= 0 && (rule == "" || rule == "auto") &&
		v.Text("gain") == "values"
}
