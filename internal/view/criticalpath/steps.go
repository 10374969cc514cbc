package criticalpath

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/fingerprint"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A stepResult is the critical paths of steps.
type stepResult struct {
	request *view.Request
	tree    *store.Tree
	regions []trace.Region
	steps   []steppath.Step
	length  trace.Time
	kinds   [steppath.Kinds]trace.Time
	rows    []StepRow
	shown   int // of steps: the longest
	path    []steppath.Section
	ranks   bool
	notes   []string
}

func computeSteps(ctx context.Context, q *view.Request) (view.Result, error) {
	d := view.FindDevices(q.Store().Locations(), q.Selection.Locations)
	w := q.Window()
	w.Locations = d.Rows
	if len(d.GPUs) == 0 {
		return nil, view.Empty("choose other locations", "no work of a GPU in the selection")
	}
	if n := q.Store().Count(w); n > steppath.MostRows {
		return nil, view.Empty("choose some steps or some ranks", "the selection has %s, and a path is walked in memory: at most %s", view.Count(int(n), "interval"), view.Thousands(steppath.MostRows))
	}
	source := fingerprint.JobOf(ctx, q.Store(), q.Window(), d)
	job, err := source.Analyse()
	if err != nil {
		return nil, err
	}
	r := &stepResult{request: q, tree: q.Store().Locations(), regions: q.Store().Regions(), ranks: len(d.Units) > 1}
	graph, err := steppath.Gather(source)
	if err != nil {
		return nil, err
	}
	r.steps = graph.StepsOf(job, q.Selection.Begin, q.Selection.End)
	if words := q.Values.Patterns("request"); len(words) > 0 {
		if r.steps, err = namedSteps(r.steps, words); err != nil {
			return nil, err
		}
	}
	if len(r.steps) == 0 {
		return nil, view.Empty("choose more of the run", "no step and no work of a GPU in the selection")
	}
	r.walk(graph)
	r.note(job, graph)
	return r, ctx.Err()
}

func namedSteps(list []steppath.Step, words []string) ([]steppath.Step, error) {
	var out []steppath.Step
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

// A stepKey is what is added up in a row.
type stepKey struct {
	kind steppath.Kind
	path string
}

// walk walks all steps, and keeps the path of the longest.
func (r *stepResult) walk(g *steppath.Graph) {
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
		g.Walk(s.Unit, s.Begin, s.End, func(x steppath.Section) {
			r.kinds[x.Kind] += x.End - x.Begin
			if i == r.shown {
				r.path = append(r.path, x)
			}
			if chosen := r.request.Selection.Regions; chosen != nil && !slices.Contains(chosen, x.Region) {
				return
			}
			key, row := r.rowOf(g, by, &x)
			if rows[key] == nil {
				rows[key], times[key] = row, map[int]trace.Time{}
			}
			times[key][i] += x.End - x.Begin
		})
	}
	slices.Reverse(r.path)
	for key, x := range rows {
		x.fill(times[key], r.length, len(r.steps))
		r.rows = append(r.rows, *x)
	}
	slices.SortFunc(r.rows, func(a, b StepRow) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.CallPath, b.CallPath), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Kind, b.Kind))
	})
}

// rowOf says to which row a section counts.
func (r *stepResult) rowOf(g *steppath.Graph, by string, x *steppath.Section) (stepKey, *StepRow) {
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
	for _, id := range g.Around(x) {
		names = append(names, r.regions[id].Name)
	}
	row.CallPath = strings.Join(names, " > ")
	return stepKey{x.Kind, row.CallPath}, row
}

func (r *stepResult) note(job *step.Job, g *steppath.Graph) {
	say := func(format string, args ...any) { r.notes = append(r.notes, fmt.Sprintf(format, args...)) }
	host, gpus, between := r.places()
	say("of the time of %s the path is on threads of the host for %s, on GPUs for %s, and between them for %s", view.Count(len(r.steps), "step"), view.FormatShare(host), view.FormatShare(gpus), view.FormatShare(between))
	if len(r.rows) > 0 {
		x := &r.rows[0]
		say("most of it: %s, %s; to make it free would save that at most", x.label(), view.FormatShare(x.Share))
	}
	if job.By != "" {
		say("steps: %s", job.By)
	}
	if r.ranks && g.Matched > 0 {
		say("across ranks: %s have their members on other ranks, and the path goes to the one that came last", view.Count(g.Matched, "collective"))
	}
}

func (r *stepResult) Notes() []string { return append([]string{}, r.notes...) }
