package runfacts

import (
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A SpanSource is a run of spans or a part of it, as package request asks it.
type SpanSource struct {
	ctx  context.Context
	r    store.Reader
	tree *store.Tree
	all  store.Window
}

// HasSpans reports whether a run holds spans of services: importers of such say of each
// which trace it belongs to.
func HasSpans(r store.Reader) bool {
	names := r.Attributes()
	return r.Info().Timed() && slices.Contains(names, "trace") && slices.Contains(names, "span") &&
		slices.Contains(r.Locations().Kind, KindService)
}

// KindService is the kind of a location that is a service.
const KindService trace.Kind = "service"

// SpanSourceOf returns the spans of a run.
func SpanSourceOf(ctx context.Context, r store.Reader) *SpanSource {
	return &SpanSource{ctx: ctx, r: r, tree: r.Locations(), all: store.Window{End: r.Info().End}}
}

// Within returns the spans that begin in a part of the time.
func (s *SpanSource) Within(begin, end trace.Time) *SpanSource {
	part := *s
	part.all = store.Window{Begin: max(begin, 0), End: min(end, s.all.End)}
	return &part
}

func (s *SpanSource) Regions() []trace.Region { return s.r.Regions() }
func (s *SpanSource) Lanes() []uint32         { return s.r.Lanes() }

// Service is the nearest location above that is a service, else the location itself.
func (s *SpanSource) Service(id trace.LocationID) trace.LocationID {
	for at := id; at != trace.NoLocation; at = s.tree.Parent[at] {
		if s.tree.Kind[at] == KindService {
			return at
		}
	}
	return id
}

// Path names a location from the top.
func (s *SpanSource) Path(id trace.LocationID) string { return s.tree.Path(id) }

// AttributeNames lists the attributes of spans.
func (s *SpanSource) AttributeNames() []string { return s.r.Attributes() }

// LocationFacts lists the attributes of a location and of all above it, the nearest first of each name, without values
// that are the name of one of them.
func (s *SpanSource) LocationFacts(id trace.LocationID) (out []trace.Attribute) {
	names := []string{}
	for at := id; at != trace.NoLocation; at = s.tree.Parent[at] {
		names = append(names, s.tree.Name[at])
		for _, a := range s.tree.Attributes[at] {
			if !slices.ContainsFunc(out, func(x trace.Attribute) bool { return x.Key == a.Key }) {
				out = append(out, a)
			}
		}
	}
	return slices.DeleteFunc(out, func(a trace.Attribute) bool { return slices.Contains(names, a.Value.String()) })
}

// Scan yields all intervals.
func (s *SpanSource) Scan(f func(*trace.Columns) error) error { return s.r.Intervals(s.ctx, s.all, f) }

// Parents yields who called whom, as columns.
func (s *SpanSource) Parents(f func(from []trace.LocationID, fromLane, fromRow []int32, to []trace.LocationID,
	toLane, toRow []int32)) error {
	var mu sync.Mutex
	return s.r.Links(s.ctx, s.all, func(l *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := 0; i < len(l.Kind); { // a stretch of spawns at a time
			n := i
			for n < len(l.Kind) && l.Kind[n] == trace.LinkSpawn {
				n++
			}
			if n > i {
				f(l.FromLocation[i:n], l.FromLane[i:n], l.FromRow[i:n], l.ToLocation[i:n], l.ToLane[i:n], l.ToRow[i:n])
			}
			i = n + 1
		}
		return nil
	})
}

// Facts returns all attributes of one span, if the store is at hand: one that keeps derived data.
func (s *SpanSource) Facts(location trace.LocationID, lane, row int) (list []trace.Attribute, here bool, err error) {
	if _, here := s.r.(store.Keeper); !here {
		return nil, false, nil
	}
	list, err = s.r.IntervalAttributes(store.Row{Location: location, Lane: lane, Row: row})
	return list, true, err
}

// Attribute yields the values of an attribute.
func (s *SpanSource) Attribute(name string, add func(trace.LocationID, int, []int32, []trace.Value)) error {
	return AttributeNamed(s.ctx, s.r, s.all, name, func(c *store.AttributeColumns) error {
		add(c.Location, c.Lane, c.Row, c.Value)
		return nil
	})
}

// LocationSet reports whether a location is one of a selection, or is below one; nil for all.
func LocationSet(tree *store.Tree, chosen []trace.LocationID) func(trace.LocationID) bool {
	if chosen == nil {
		return nil
	}
	in := make([]bool, tree.Len())
	for _, id := range chosen {
		for k := id; k <= tree.Last[id]; k++ {
			in[k] = true
		}
	}
	return func(id trace.LocationID) bool { return in[id] }
}
