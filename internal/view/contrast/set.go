package contrast

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/sides"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// choose finds the two sets. Without --a the selection is a. The locations or the time
// in --a replace that part of the selection; the other part bounds both sets.
func choose(ctx context.Context, q *view.Request, ask *sides.Question) error {
	s := q.Store()
	whole := sides.Side{Store: s, Tree: s.Locations(),
		Spans: []sides.Span{{Begin: q.Selection.Begin, End: q.Selection.End}}}
	var holds []bool
	var err error
	if whole.Holders, holds, err = q.Holders(ctx, "values"); err != nil {
		return err
	}
	a, b := &ask.Sides[0], &ask.Sides[1]
	*a = whole
	given := q.Values.Patterns("a")
	who, when := parts(given)
	if who || len(given) == 0 {
		whole.Holders = runfacts.Chosen(whole.Tree, nil, holds)
	}
	if when || len(given) == 0 {
		whole.Spans = []sides.Span{{Begin: 0, End: s.Info().End}}
	}
	if len(given) > 0 {
		*a = whole
		if err := narrow(a, given, "a"); err != nil {
			return err
		}
	}
	if len(q.Runs) > 1 {
		return otherRun(ctx, q, ask)
	}
	given = q.Values.Patterns("b")
	*b, ask.Whole = whole, whole
	ask.Given = len(given) > 0 && given[0] != "rest"
	switch {
	case len(given) > 0 && !(len(given) == 1 && given[0] == "rest"):
		return narrow(b, given, "b")
	case len(a.Holders) < len(whole.Holders):
		b.Spans, b.Holders = a.Spans, sides.Without(whole.Holders, a.Holders)
	case !slices.Equal(a.Spans, whole.Spans):
		b.Holders, b.Spans = a.Holders, sides.Outside(whole.Spans, a.Spans)
	default:
		ask.Auto = true
	}
	return nil
}

// otherRun takes the second run as b.
func otherRun(ctx context.Context, q *view.Request, ask *sides.Question) (err error) {
	for _, run := range q.Runs {
		ask.RunNames = append(ask.RunNames, run.Name)
	}
	s, b := q.Runs[1].Store, &ask.Sides[1]
	*b = sides.Side{Store: s, Tree: s.Locations(), Spans: []sides.Span{{Begin: 0, End: s.Info().End}}}
	if b.Holders, err = runfacts.ChosenHolders(ctx, s, nil); err != nil {
		return err
	}
	if given := q.Values.Patterns("b"); len(given) > 0 {
		if err := narrow(b, given, "b"); err != nil {
			return err
		}
	}
	if len(b.Holders) == 0 {
		return view.Empty("choose another run", "no location with values in %s", q.Runs[1].Name)
	}
	return nil
}

// parts reports whether a set is given by its locations, by its time, or by both.
func parts(given []string) (who, when bool) {
	for _, p := range given {
		switch key, _, _ := strings.Cut(p, "="); {
		case p == "all":
		case key == "from" || key == "to" || key == "time":
			when = true
		default:
			who = true
		}
	}
	return who, when
}

// narrow reads the parts of --a or --b: from=T, to=T, time=T..T, locations=PATTERN,
// "all", or a pattern of locations alone. Parts of one sort add up.
func narrow(s *sides.Side, parts []string, option string) error {
	var spec view.Spec
	var spans []sides.Span
	end := s.Store.Info().End
	for _, p := range parts {
		key, value, _ := strings.Cut(p, "=")
		switch {
		case p == "all":
		case key == "from":
			spec.From = value
		case key == "to":
			spec.To = value
		case key == "time":
			x, err := parseSpan(value, end)
			if err != nil {
				return fmt.Errorf("--%s %q: %w", option, p, err)
			}
			spans = append(spans, x)
		case key == "locations":
			spec.Locations = append(spec.Locations, value)
		default:
			spec.Locations = append(spec.Locations, p)
		}
	}
	chosen, err := spec.Resolve(s.Store)
	if err != nil {
		return fmt.Errorf("--%s: %w", option, err)
	}
	if spec.From != "" || spec.To != "" {
		spans = append(spans, sides.Span{Begin: chosen.Begin, End: chosen.End})
	}
	if len(spans) > 0 {
		if s.Spans = sides.Inside(sides.Joined(spans), s.Spans); len(s.Spans) == 0 {
			return view.Empty("choose times inside the selection", "--%s has no time in the selection", option)
		}
	}
	if chosen.Locations != nil {
		in := map[trace.LocationID]bool{}
		for _, id := range s.Tree.Expand(chosen.Locations) {
			in[id] = true
		}
		s.Holders = slices.DeleteFunc(slices.Clone(s.Holders), func(id trace.LocationID) bool { return !in[id] })
		if len(s.Holders) == 0 {
			return view.Empty("choose other locations", "--%s has no location with values in the selection", option)
		}
	}
	return nil
}

func parseSpan(text string, whole trace.Time) (sides.Span, error) {
	from, to, ok := strings.Cut(text, "..")
	if !ok {
		return sides.Span{}, fmt.Errorf("want a begin and an end, such as time=1s..2s")
	}
	begin, err := view.ParseTime(from, whole)
	if err != nil {
		return sides.Span{}, err
	}
	end, err := view.ParseTime(to, whole)
	if err == nil && begin >= end {
		err = fmt.Errorf("the time range is empty")
	}
	return sides.Span{Begin: max(begin, 0), End: min(end, whole)}, err
}
