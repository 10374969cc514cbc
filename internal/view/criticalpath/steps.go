package criticalpath

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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
	length  trace.Time
	kinds   [steppath.Kinds]trace.Time
	rows    []StepRow
	shown   int // of steps: the longest
	path    []steppath.Section
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

// A stepKey identifies the sum of a row.
type stepKey struct {
	kind steppath.Kind
	path string
}

// add adds up the paths of all steps, and finds the longest.
func (r *stepResult) add(paths *steppath.Paths) {
	for i := range r.steps {
		if s := &r.steps[i]; s.End-s.Begin > r.steps[r.shown].End-r.steps[r.shown].Begin {
			r.shown = i
		}
	}
	by := r.request.Values.Text("by")
	rows := map[stepKey]*StepRow{}
	times := map[stepKey]map[int]trace.Time{} // by step
	for i := range r.steps {
		s := &r.steps[i]
		r.length += s.End - s.Begin
		for k := range s.Sections {
			x := &s.Sections[k]
			r.kinds[x.Kind] += x.End - x.Begin
			if chosen := r.request.Selection.Regions; chosen != nil && !slices.Contains(chosen, x.Region) {
				continue
			}
			key, row := r.rowOf(paths, by, x)
			if rows[key] == nil {
				rows[key], times[key] = row, map[int]trace.Time{}
			}
			times[key][i] += x.End - x.Begin
		}
	}
	r.path = r.steps[r.shown].Sections
	for key, x := range rows {
		x.fill(times[key], r.length, len(r.steps))
		r.rows = append(r.rows, *x)
	}
	slices.SortFunc(r.rows, func(a, b StepRow) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.CallPath, b.CallPath), cmp.Compare(a.Region, b.Region),
			cmp.Compare(a.Kind, b.Kind))
	})
}

// rowOf says to which row a section counts.
func (r *stepResult) rowOf(paths *steppath.Paths, by string, x *steppath.Section) (stepKey, *StepRow) {
	row := &StepRow{Kind: x.Kind.String(), kind: x.Kind, RegionID: trace.NoRegion, At: x.Location}
	if by == "service" {
		return stepKey{kind: x.Kind}, row
	}
	row.RegionID = x.Region
	if x.Region != trace.NoRegion {
		row.Region = r.regions[x.Region].Name
	}
	if by == "operation" {
		return stepKey{x.Kind, row.Region}, row
	}
	var names []string
	if x.Calls >= 0 {
		for _, id := range paths.Calls[x.Calls] {
			names = append(names, r.regions[id].Name)
		}
	}
	row.CallPath = strings.Join(names, " > ")
	return stepKey{x.Kind, row.CallPath}, row
}

func (r *stepResult) note(paths *steppath.Paths) {
	say := func(format string, args ...any) { r.notes = append(r.notes, fmt.Sprintf(format, args...)) }
	host, gpus, between := r.places()
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
