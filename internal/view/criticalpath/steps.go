package criticalpath

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A stepResult is the critical paths of steps.
type stepResult struct {
	request *view.Request
	tree    *store.Tree
	regions []trace.Region
	steps   []steppath.Path
	sums    steppath.Sums
	rows    []StepRow
	path    []steppath.Section // of the longest step
	ranks   bool
	notes   []string
}

func computeSteps(ctx context.Context, q *view.Request) (view.Result, error) {
	d := runfacts.FindDevices(q.Store().Locations(), q.Selection.Locations)
	if len(d.GPUs) == 0 {
		return nil, view.Empty("choose other locations", "no work of a GPU in the selection")
	}
	paths, err := steppath.In(ctx, &q.Runs[0], q.Window(), d)
	if err != nil {
		return nil, err
	}
	r := &stepResult{request: q, tree: q.Store().Locations(), regions: q.Store().Regions(), ranks: len(d.Units) > 1,
		steps: paths.Steps}
	if words := q.Values.Patterns("request"); len(words) > 0 {
		if r.steps, err = namedSteps(r.steps, words); err != nil {
			return nil, err
		}
	}
	if len(r.steps) == 0 {
		return nil, view.Empty("choose more of the run", "no step and no work of a GPU in the selection")
	}
	r.add(paths)
	r.note(paths)
	return r, ctx.Err()
}

func namedSteps(list []steppath.Path, words []string) ([]steppath.Path, error) {
	var out []steppath.Path
	for _, word := range words {
		match, err := view.ParsePattern(word)
		if err != nil {
			return nil, fmt.Errorf("--request: %w", err)
		}
		before := len(out)
		for _, s := range list {
			if match(s.Name) {
				out = append(out, s)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("--request %q: no step has this name; the first is %q", word, list[0].Name)
		}
	}
	return out, nil
}

// add adds up the paths of all steps.
func (r *stepResult) add(paths *steppath.Paths) {
	r.sums = paths.Sum(r.steps, r.regions, r.request.Values.Text("by"), r.request.Selection.Regions)
	r.path = r.steps[r.sums.Longest].Sections
	for i := range r.sums.Parts {
		r.rows = append(r.rows, r.rowOf(&r.sums.Parts[i]))
	}
}

func (r *stepResult) rowOf(x *steppath.Part) StepRow {
	steps := float64(len(r.steps))
	return StepRow{Region: x.Name, Kind: x.Kind.String(), CallPath: x.CallPath, Time: x.Time,
		Share: share(x.Time, r.sums.Length), Mean: float64(x.Time) / float64(x.Steps), P50: x.P50, P95: x.P95,
		P99: x.P99, Steps: x.Steps, StepShare: float64(x.Steps) / steps, Half: float64(x.Time) / 2 / steps,
		RegionID: x.Region, At: x.At, kind: x.Kind}
}

func (r *stepResult) note(paths *steppath.Paths) {
	say := func(format string, args ...any) { r.notes = append(r.notes, fmt.Sprintf(format, args...)) }
	host, gpus, between := r.sums.Places()
	say("of the time of %s the path is on threads of the host for %s, on GPUs for %s, and between them for %s",
		view.Count(len(r.steps), "step"), view.FormatShare(host), view.FormatShare(gpus), view.FormatShare(between))
	if len(r.rows) > 0 {
		x := &r.rows[0]
		say("most of it: %s, %s; to make it free would save that at most", x.label(), view.FormatShare(x.Share))
	}
	if paths.By != "" {
		say("steps: %s", paths.By)
	}
	if r.ranks && paths.Matched > 0 {
		say("across ranks: %s have their members on other ranks, and the path goes to the one that came last",
			view.Count(paths.Matched, "collective"))
	}
}

func (r *stepResult) Notes() []string { return append([]string{}, r.notes...) }
