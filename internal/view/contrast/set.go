package contrast

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A side is one of the two sets: units, each with the locations it is made of, and
// the stretches of time in which they are looked at.
type side struct {
	store   store.Reader
	tree    *store.Tree
	spans   []span
	holders []trace.LocationID // ascending
	units   []trace.LocationID // ascending
	of      []int32            // unit of each holder
	names   []string           // of units
	label   string
	counted bool // calls are
}

// A span is [begin, end).
type span struct{ begin, end trace.Time }

func (s *side) length() trace.Time {
	var n trace.Time
	for _, x := range s.spans {
		n += x.end - x.begin
	}
	return n
}

// mostUnits is how many units a side may have; of more an even sample is taken.
const mostUnits = 20_000

// choose finds the two sets. Without --a the selection is a. The locations or the time
// in --a replace that part of the selection; the other part bounds both sets.
func (r *result) choose(ctx context.Context) error {
	q := r.request
	s := q.Store()
	universe := side{store: s, tree: s.Locations(), spans: []span{{q.Selection.Begin, q.Selection.End}}}
	if s.Info().Timed() && q.Selection.Begin >= q.Selection.End {
		return view.Empty("choose a longer time", "no time is selected")
	}
	holds, err := view.Holders(ctx, s)
	if err != nil {
		return err
	}
	universe.holders = view.Chosen(universe.tree, q.Selection.Locations, holds)
	if len(universe.holders) == 0 {
		return view.Empty("choose other locations", "no location with values in the selection")
	}
	a, b := &r.sides[0], &r.sides[1]
	*a = universe
	given := q.Values.Patterns("a")
	who, when := parts(given)
	if who || len(given) == 0 {
		universe.holders = view.Chosen(universe.tree, nil, holds)
	}
	if when || len(given) == 0 {
		universe.spans = []span{{0, s.Info().End}}
	}
	if len(given) > 0 {
		*a = universe
		if err := a.narrow(given, "a"); err != nil {
			return err
		}
	}
	if len(q.Runs) > 1 {
		return r.otherRun(ctx)
	}
	given = q.Values.Patterns("b")
	*b = universe
	auto := false
	switch {
	case len(given) > 0 && !(len(given) == 1 && given[0] == "rest"):
		if err := b.narrow(given, "b"); err != nil {
			return err
		}
	case len(a.holders) < len(universe.holders):
		b.spans, b.holders = a.spans, without(universe.holders, a.holders)
	case !slices.Equal(a.spans, universe.spans):
		b.holders, b.spans = a.holders, outside(universe.spans, a.spans)
	default:
		auto = true
	}
	if err := r.units(auto); err != nil {
		return err
	}
	if auto {
		return r.mostUnlike(ctx)
	}
	r.describeSides(universe)
	return nil
}

// otherRun takes the second run as b.
func (r *result) otherRun(ctx context.Context) error {
	b := &r.sides[1]
	s := r.request.Runs[1].Store
	*b = side{store: s, tree: s.Locations(), spans: []span{{0, s.Info().End}}}
	var err error
	if b.holders, err = view.ChosenHolders(ctx, s, nil); err != nil {
		return err
	}
	if given := r.request.Values.Patterns("b"); len(given) > 0 {
		if err := b.narrow(given, "b"); err != nil {
			return err
		}
	}
	if len(b.holders) == 0 {
		return view.Empty("choose another run", "no location with values in %s", r.request.Runs[1].Name)
	}
	for i := range r.sides {
		x := &r.sides[i]
		var err error
		if x.units, x.of, err = view.Units(x.tree, x.holders, r.request.Values.Text("group")); err != nil {
			return err
		}
		r.thin(x)
		x.names = view.ShortNames(x.tree, x.units)
		x.label = r.request.Runs[i].Name
	}
	if len(r.request.Runs) > 2 {
		r.notes = append(r.notes,
			fmt.Sprintf("two runs are compared; %s of %d are left out", view.Count(len(r.request.Runs)-2, "run"),
				len(r.request.Runs)))
	}
	return nil
}

// parts tells whether a set is given by its locations, by its time, or by both.
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
func (s *side) narrow(parts []string, option string) error {
	var spec view.Spec
	var spans []span
	end := s.store.Info().End
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
	chosen, err := spec.Resolve(s.store)
	if err != nil {
		return fmt.Errorf("--%s: %w", option, err)
	}
	if spec.From != "" || spec.To != "" {
		spans = append(spans, span{chosen.Begin, chosen.End})
	}
	if len(spans) > 0 {
		if s.spans = inside(joined(spans), s.spans); len(s.spans) == 0 {
			return view.Empty("choose times inside the selection", "--%s has no time in the selection", option)
		}
	}
	if chosen.Locations != nil {
		in := map[trace.LocationID]bool{}
		for _, id := range s.tree.Expand(chosen.Locations) {
			in[id] = true
		}
		s.holders = slices.DeleteFunc(slices.Clone(s.holders), func(id trace.LocationID) bool { return !in[id] })
		if len(s.holders) == 0 {
			return view.Empty("choose other locations", "--%s has no location with values in the selection", option)
		}
	}
	return nil
}

func parseSpan(text string, whole trace.Time) (span, error) {
	from, to, ok := strings.Cut(text, "..")
	if !ok {
		return span{}, fmt.Errorf("want a begin and an end, such as time=1s..2s")
	}
	begin, err := view.ParseTime(from, whole)
	if err != nil {
		return span{}, err
	}
	end, err := view.ParseTime(to, whole)
	if err == nil && begin >= end {
		err = fmt.Errorf("the time range is empty")
	}
	return span{max(begin, 0), min(end, whole)}, err
}

// joined sorts spans and joins those that meet.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return int(min(max(a.begin-b.begin, -1), 1)) })
	out := spans[:0]
	for _, x := range spans {
		if n := len(out); n > 0 && x.begin <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, x.end)
			continue
		}
		out = append(out, x)
	}
	return out
}

// inside returns the intersection of two lists of spans, outside the part of the first that
// is not in the second.
func inside(a, b []span) []span {
	out := []span{}
	for _, x := range a {
		for _, y := range b {
			if z := (span{max(x.begin, y.begin), min(x.end, y.end)}); z.begin < z.end {
				out = append(out, z)
			}
		}
	}
	return out
}

func outside(whole, taken []span) []span {
	out := []span{}
	for _, w := range whole {
		at := w.begin
		for _, t := range taken {
			if t.begin > at {
				out = append(out, span{at, min(t.begin, w.end)})
			}
			at = max(at, t.end)
		}
		if at < w.end {
			out = append(out, span{at, w.end})
		}
	}
	return out
}

// without returns the locations of a that are not in b; both ascending.
func without(a, b []trace.LocationID) []trace.LocationID {
	return slices.DeleteFunc(slices.Clone(a), func(id trace.LocationID) bool {
		_, found := slices.BinarySearch(b, id)
		return found
	})
}
