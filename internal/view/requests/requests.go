// Package requests shows requests of services: how long each took and when, the tree of one, and
// the differences between some of them and the rest.
//
//	data.go        the twins
//	plot.go        duration over time, as points or as a heat map
//	differ.go      differences of the chosen requests
//	fold.go        the rows of one request; waterfall.go their picture
package requests

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/requests"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:  "requests",
	Title: "Requests",
	Summary: "requests of services: duration over time, the tree of one request, and the differences between slow " +
		"requests and the rest",
	HowToRead: "Each point is a request: its begin and its duration, on a logarithmic scale. Requests with a failed " +
		"call have their own colour. If there are too many points, a darker cell means more requests. Lines are " +
		"p50, p95 and p99 over time. Double-click a point, or set --request ID, to open a request: its calls in the " +
		"order of the tree, one bar each, coloured by service, with a dark critical path. Repeated calls of one " +
		"caller share a row with a count. Draw a box around points, or set --request slow, errors, >200ms or " +
		"KEY=VALUE, to choose requests and see how they differ from the rest. Parallax tests each attribute, " +
		"location, operation and pair of attributes. The largest effect comes first; differences that chance " +
		"explains are only in the table.",
	Needs: view.Needs{Intervals: true, Spans: true},
	Data:  []any{Data{}},
	Options: view.Words(view.Use("request", "expand", "scroll"),
		"expand: operations whose repeated calls in a request are drawn one by one",
		"scroll: first row of a request shown; 0: the longest calls, as many as fit"),
	Compute: view.InTime(compute),
}

type result struct {
	request  *view.Request
	tree     *store.Tree
	forest   *request.Forest
	kept     *requests.Overview // where the forest is its outline
	all      []int32            // requests of the selection, by begin
	chosen   []int32            // of them, where some are chosen; nil: none
	differs  []request.Difference
	tests    int
	services map[trace.LocationID]trace.Time // the self time of their calls
	colours  *view.Colours
	self     []Self

	one   int32 // the request that is drawn as a tree; -1
	fold  *fold
	notes []string
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, tree: q.Store().Locations(), one: -1}
	var err error
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	words := q.Values.Patterns("request")
	if len(words) == 0 {
		r.kept = requests.FindOverviewIn(&q.Runs[0], q.Window())
	}
	var source *runfacts.SpanSource
	if r.kept != nil {
		r.forest = r.kept.Forest()
	} else {
		var err error
		if r.forest, source, err = requests.Of(ctx, &q.Runs[0], q.Selection.Begin, q.Selection.End, words); err != nil {
			return nil, err
		}
	}
	if q.Selection.Locations != nil && len(q.Selection.Locations) == 0 {
		return nil, view.Empty("choose some", "no locations are selected")
	}
	if r.one = r.named(words); r.one >= 0 {
		r.all = []int32{r.one} // whatever the window: it may be a part of it
	} else {
		r.all = requests.In(r.forest, &q.Runs[0], q.Window())
	}
	if len(r.all) == 0 {
		return nil, view.Empty("choose a longer time or more locations", "no request begins in the selection")
	}
	if len(r.all) == 1 && len(words) == 0 {
		r.one = r.all[0]
	}
	if len(words) > 0 && r.one < 0 {
		if err := r.choose(source, words); err != nil {
			return nil, err
		}
	}
	r.sumSelf()
	if r.one >= 0 {
		if err := r.keepFold(); err != nil {
			return nil, err
		}
	}
	r.note()
	return r, ctx.Err()
}

// named finds the one request that is asked for by its id; -1 for none.
func (r *result) named(words []string) int32 {
	if len(words) != 1 {
		return -1
	}
	return int32(slices.IndexFunc(r.forest.Requests,
		func(x request.Request) bool { return x.ID == strings.TrimSpace(words[0]) }))
}

// choose takes some of the requests, and finds the differences from the others.
func (r *result) choose(source *runfacts.SpanSource, words []string) error {
	var err error
	if r.chosen, err = r.forest.Choose(source, r.all, words); err != nil {
		return fmt.Errorf("--request %w", err)
	}
	if len(r.chosen) == 0 {
		return view.Empty("choose others, or a longer time", "none of %s is as --request says",
			view.Count(len(r.all), "request"))
	}
	if len(r.chosen) == 1 {
		r.one = r.chosen[0]
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(r.all), func(k int32) bool {
		_, in := slices.BinarySearch(r.chosen, k)
		return in
	})
	if len(rest) == 0 {
		return nil
	}
	r.differs, r.tests, err = r.forest.Differ(source, r.chosen, rest)
	return err
}

// certain are the differences that chance does not explain.
func (r *result) certain() []request.Difference {
	n := 0
	for n < len(r.differs) && r.differs[n].Q <= contrast.Level {
		n++
	}
	return r.differs[:n]
}

func (r *result) note() {
	say := func(format string, args ...any) { r.notes = append(r.notes, fmt.Sprintf(format, args...)) }
	switch {
	case r.one >= 0:
		r.noteOne(say)
	case r.chosen != nil:
		if r.tests > 0 {
			say("%s against the rest: of %s %s find more than chance (Benjamini and Hochberg, q ≤ %g)",
				view.Count(len(r.chosen), "chosen request"),
				view.Count(r.tests, "test"), view.Thousands(int64(len(r.certain()))), contrast.Level)
		} else {
			say("all requests are chosen: there is nothing to hold them against")
		}
	}
	if r.one < 0 {
		r.noteFew(say)
		if n := requests.AsynchronousNote(r.forest, r.all); n != "" {
			say("%s", n)
		}
	}
	c := &r.forest.Counts
	fitted, late := r.request.Runs[0].Store.Info().Properties["clock alignment"],
		"that would begin before the caller: clocks disagree"
	if fitted == "" {
		late += " (--align messages fits them, and so does the menu of the run)"
	}
	for _, x := range []struct {
		n          int
		noun, rest string
	}{{c.Missing, "request", "of which no root is in the source, lasting from the first call to the last"},
		{c.Several, "request", "with more than one root, of which the first counts"},
		{c.Orphans, "call", "whose caller is not in the source, or the call itself: taken for a root"},
		{c.Cut, "call", "in a circle of callers, which is cut there"}, {c.Late, "call", late}} {
		if x.n > 0 {
			say("%s %s", view.Count(x.n, x.noun), x.rest)
		}
	}
	if fitted != "" {
		say("clocks were fitted %s", fitted)
	}
	if n := r.colours.ServiceNote(); n != "" {
		say("%s", n)
	}
}

// noteFew says which percentiles are not drawn.
func (r *result) noteFew(say func(string, ...any)) {
	var missing []string
	for _, p := range percentiles {
		if !request.Enough(len(r.all), p.q) {
			missing = append(missing, p.name)
		}
	}
	if len(missing) > 0 && len(r.all) > 0 {
		say("%s: too few for a line of %s, beyond which at least five must lie", view.Count(len(r.all), "request"),
			strings.Join(missing, ", "))
	}
}

// noteOne lists in a sentence the parts of the request's critical path.
func (r *result) noteOne(say func(string, ...any)) {
	q := &r.forest.Requests[r.one]
	parts := r.critical(r.one)
	if len(parts) == 0 || q.Duration() == 0 {
		return
	}
	var words []string
	for _, p := range parts[:min(len(parts), 3)] {
		words = append(words,
			fmt.Sprintf("%s: %s for %s (%s)", p.Service, p.Region, view.FormatTime(p.Time), view.FormatShare(p.Share)))
	}
	say("critical path: of %s the request waited most for %s", view.FormatTime(q.Duration()), strings.Join(words, ", "))
	if after := q.After(); after > 0 {
		say("asynchronous: calls go on for %s after the root has ended, which took %s; the critical path is that of "+
			"the root", view.FormatTime(after), view.FormatTime(q.Duration()))
	}
}

// critical adds up the critical path of a request by operation, most first.
func (r *result) critical(k int32) []Critical {
	length := max(r.forest.Requests[k].Duration(), 1)
	parts := r.forest.Parts(k)
	out := make([]Critical, 0, len(parts))
	for _, p := range parts {
		out = append(out,
			Critical{r.tree.Name[p.Service], r.forest.Regions[p.Region].Name, p.Time,
				float64(p.Time) / float64(length)})
	}
	slices.SortFunc(out, compareCritical)
	return out
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
