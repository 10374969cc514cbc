// Package requests reads the requests of a run: all of them, those of a part of the time, or one. A run with many
// spans has a stored overview with the times of its requests.
//
//	overview.go  the overview of all requests
package requests

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// All are the requests of a run, read once for all views.
var All = derived.Derived[*request.Forest]{
	Name: "forest", Keeps: func(store.Reader) bool { return false },
	Make: func(ctx context.Context, run *derived.Run) (*request.Forest, error) {
		return request.Gather(runfacts.SpanSourceOf(ctx, run.Store))
	},
}

// Of returns the requests that a view looks at: at least those that begin in the time selected, or the one that words
// name, with all their calls; and the source of these calls' attributes. For a large run it reads only the time range
// that holds them, as far as the overview knows it.
func Of(ctx context.Context, run *derived.Run, begin, end trace.Time, words []string) (*request.Forest,
	*runfacts.SpanSource, error) {
	all := runfacts.SpanSourceOf(ctx, run.Store)
	named := false
	if len(words) == 1 {
		id := strings.TrimSpace(words[0])
		if f, err := One(ctx, run, id); f != nil || err != nil {
			return f, all, err
		}
		kept := FindOverview(run)
		named = kept != nil && kept.find(id) >= 0 // it may begin at another time
	}
	if !named {
		if p, err := within(ctx, run, begin, end); p != nil || err != nil {
			return p.forestOf(), p.sourceOf(ctx, run), err
		}
	}
	f, err := All.Of(ctx, run)
	return f, all, err
}

// A Choice is some requests of a run.
type Choice struct {
	Forest *request.Forest
	Source *runfacts.SpanSource // where attributes of their calls are to be read
	List   []int32              // of the forest
}

// Choose returns the requests that begin in a window, have a call at one of its locations, and are as words say.
func Choose(ctx context.Context, run *derived.Run, w store.Window, words []string) (*Choice, error) {
	forest, source, err := Of(ctx, run, w.Begin, w.End, words)
	if err != nil {
		return nil, err
	}
	c := &Choice{Forest: forest, Source: source, List: In(forest, run, w)}
	if len(words) > 0 {
		if c.List, err = forest.Choose(source, c.List, words); err != nil {
			return nil, fmt.Errorf("--request %w", err)
		}
	}
	return c, nil
}

// In returns the requests of a forest that begin in a window and have a call at one of its locations.
func In(f *request.Forest, run *derived.Run, w store.Window) []int32 {
	if w.End == run.Store.Info().End {
		w.End++ // an empty request at the very end belongs to the whole
	}
	return f.Within(w.Begin, w.End, runfacts.LocationSet(run.Store.Locations(), w.Locations))
}

// AsynchronousNote describes how many of some requests go on after their root, and how far the worst does; ""
// for none.
func AsynchronousNote(f *request.Forest, list []int32) string {
	n, worst := 0, int32(-1)
	for _, k := range list {
		if t := f.Requests[k].After(); t > 0 {
			if n++; worst < 0 || t > f.Requests[worst].After() {
				worst = k
			}
		}
	}
	if n == 0 {
		return ""
	}
	x := &f.Requests[worst]
	return fmt.Sprintf("%s of %s %s asynchronous: calls go on after the root has ended, for up to %s after a root of "+
		"%s; durations and critical paths are those of roots", words.Thousands(int64(n)),
		words.Count(len(list), "request"), words.Plural(n, "is", "are"), words.FormatTime(x.After()),
		words.FormatTime(x.Duration()))
}

// A partRead is requests of a part of the time, and the part that holds their calls.
type partRead struct {
	forest     *request.Forest
	begin, end trace.Time
}

func (p *partRead) forestOf() *request.Forest {
	if p == nil {
		return nil
	}
	return p.forest
}

// first is the first of them.
func (p *partRead) first() *request.Request {
	if p == nil {
		return nil
	}
	return &p.forest.Requests[0]
}

func (p *partRead) sourceOf(ctx context.Context, run *derived.Run) *runfacts.SpanSource {
	all := runfacts.SpanSourceOf(ctx, run.Store)
	if p == nil {
		return all
	}
	return all.Within(p.begin, p.end)
}

func (p *partRead) sizeBytes() int64 {
	if p == nil {
		return 64
	}
	return p.forest.SizeBytes()
}

// within returns the requests that begin in a part of the time; nil where all spans have to be read, or were.
func within(ctx context.Context, run *derived.Run, begin, end trace.Time) (*partRead, error) {
	last := run.Store.Info().End
	if begin <= 0 && end >= last || run.Cache.Holds(All.Name) {
		return nil, nil
	}
	kept := FindOverview(run)
	if kept == nil {
		return nil, nil
	}
	if end == last {
		end++ // an empty request at the very end belongs to the whole
	}
	return derived.Keep(run.Cache, fmt.Sprint("requests within ", begin, " ", end), (*partRead).sizeBytes,
		func() (*partRead, error) {
			return readSome(ctx, run, kept, kept.forest.Within(begin, end, nil), mostPart)
		})
}

// One returns the request of an id as a forest of its own, without reading all spans: the overview of the run says
// when it was, and how many calls it has. It is nil where none is kept, or has no such request.
func One(ctx context.Context, run *derived.Run, id string) (*request.Forest, error) {
	kept := FindOverview(run)
	if kept == nil || id == "" {
		return nil, nil
	}
	k := kept.find(id)
	if k < 0 {
		return nil, nil
	}
	p, err := derived.Keep(run.Cache, "request "+id, (*partRead).sizeBytes, func() (*partRead, error) {
		return readSome(ctx, run, kept, []int32{k}, mostOne)
	})
	return p.forestOf(), err
}

// find returns the request of an id; -1 for none.
func (o *Overview) find(id string) int32 {
	return int32(slices.IndexFunc(o.forest.Requests, func(r request.Request) bool { return r.ID == id }))
}

// readSome looks around some requests until all their calls are found: some begin before their request, where clocks
// disagree, and some when it has ended. It is nil where more than a share of all spans would be read.
func readSome(ctx context.Context, run *derived.Run, kept *Overview, want []int32, most float64) (*partRead, error) {
	if len(want) == 0 {
		return &partRead{forest: kept.forest}, nil // none of them is there
	}
	first, last, longest := trace.Time(0), trace.Time(0), trace.Time(1)
	for i, k := range want {
		r := &kept.forest.Requests[k]
		if i == 0 {
			first, last = r.Begin, r.End
		}
		first, last, longest = min(first, r.Begin), max(last, r.End), max(longest, r.Duration())
	}
	all := runfacts.SpanSourceOf(ctx, run.Store)
	for margin := longest; ; margin *= wider {
		begin, end := first-margin, last+margin
		n, err := run.Store.Count(store.Window{Begin: max(begin, 0), End: min(end, run.Store.Info().End)})
		if err != nil || float64(n) > most*float64(run.Store.Info().Intervals) {
			return nil, err
		}
		f, err := request.GatherSome(all.Within(begin, end), kept.forest, want)
		if err != nil {
			return nil, err
		}
		if f != nil {
			f.Counts = kept.forest.Counts
			return &partRead{f, begin, end}, nil
		}
	}
}

const (
	wider    = 8      // how much more is looked at where that was not all
	mostOne  = 1. / 8 // of all spans, for one request
	mostPart = 1. / 2 // and for those of a part of the time: more is read once, for every further part
)

// Slowest returns the request of a window that takes longest, nil for none, without reading all spans where
// the overview tells which one it is.
func Slowest(ctx context.Context, run *derived.Run, w store.Window) (*request.Forest, *request.Request, error) {
	if kept := FindOverview(run); kept != nil && w.Locations == nil {
		k := kept.forest.Slowest(In(kept.forest, run, w))
		if k < 0 {
			return kept.forest, nil, nil
		}
		if p, err := readSome(ctx, run, kept, []int32{k}, mostOne); p != nil || err != nil {
			return p.forestOf(), p.first(), err
		}
	}
	forest, err := All.Of(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	k := forest.Slowest(In(forest, run, w))
	if k < 0 {
		return forest, nil, nil
	}
	return forest, &forest.Requests[k], nil
}
