package fingerprint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// RequestsOf gives the requests that a view looks at: at least those that begin in the time selected, or the one that
// words name, with all their calls; and where attributes of these calls are to be read. Of a large run only the part of
// the time that holds them is read, as far as what is kept of it says where they are.
func RequestsOf(ctx context.Context, q *view.Request, words []string) (*request.Forest, *view.SpanSource, error) {
	run, all := q.Runs[0], view.SpanSourceOf(ctx, q.Store())
	named := false
	if len(words) == 1 {
		id := strings.TrimSpace(words[0])
		if f, err := OneRequest(ctx, run, id); f != nil || err != nil {
			return f, all, err
		}
		kept := keptRequestsOf(ctx, run)
		named = kept != nil && kept.find(id) >= 0 // it may begin at another time
	}
	if !named {
		if p, err := requestsWithin(ctx, run, q.Selection.Begin, q.Selection.End); p != nil || err != nil {
			return p.forestOf(), p.sourceOf(ctx, run), err
		}
	}
	f, err := Forest(ctx, run)
	return f, all, err
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

func (p *partRead) sourceOf(ctx context.Context, run view.Run) *view.SpanSource {
	all := view.SpanSourceOf(ctx, run.Store)
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

// requestsWithin gives the requests that begin in a part of the time; nil where all spans have to be read, or were.
func requestsWithin(ctx context.Context, run view.Run, begin, end trace.Time) (*partRead, error) {
	last := run.Store.Info().End
	if begin <= 0 && end >= last || run.Cache.Holds(forestName) {
		return nil, nil
	}
	kept := keptRequestsOf(ctx, run)
	if kept == nil {
		return nil, nil
	}
	if end == last {
		end++ // an empty request at the very end belongs to the whole
	}
	return derived.Keep(run.Cache, fmt.Sprint("requests within ", begin, " ", end), (*partRead).sizeBytes,
		func() (*partRead, error) {
			return readSome(ctx, run, kept, kept.Forest.Within(begin, end, nil), mostPart)
		})
}

// OneRequest gives the request of an id as a forest of its own, without reading all spans: what is kept of the run says
// when it was, and how many calls it has. It is nil where nothing is kept, or has no such request.
func OneRequest(ctx context.Context, run view.Run, id string) (*request.Forest, error) {
	kept := keptRequestsOf(ctx, run)
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

// find gives the request of an id; -1 for none.
func (x *Requests) find(id string) int32 {
	return int32(slices.IndexFunc(x.Forest.Requests, func(r request.Request) bool { return r.ID == id }))
}

// readSome looks around some requests until all their calls are found: some begin before their request, where clocks
// disagree, and some when it has ended. It is nil where more than a share of all spans would be read.
func readSome(ctx context.Context, run view.Run, kept *Requests, want []int32, most float64) (*partRead, error) {
	if len(want) == 0 {
		return &partRead{forest: kept.Forest}, nil // none of them is there
	}
	first, last, longest := trace.Time(0), trace.Time(0), trace.Time(1)
	for i, k := range want {
		r := &kept.Forest.Requests[k]
		if i == 0 {
			first, last = r.Begin, r.End
		}
		first, last, longest = min(first, r.Begin), max(last, r.End), max(longest, r.Duration())
	}
	all := view.SpanSourceOf(ctx, run.Store)
	for margin := longest; ; margin *= wider {
		begin, end := first-margin, last+margin
		if n := run.Store.Count(store.Window{Begin: max(begin, 0),
			End: min(end, run.Store.Info().End)}); float64(n) > most*float64(run.Store.Info().Intervals) {
			return nil, nil
		}
		f, err := request.GatherSome(all.Within(begin, end), kept.Forest, want)
		if err != nil {
			return nil, err
		}
		if f != nil {
			f.Counts = kept.Forest.Counts
			return &partRead{f, begin, end}, nil
		}
	}
}

const (
	wider    = 8      // how much more is looked at where that was not all
	mostOne  = 1. / 8 // of all spans, for one request
	mostPart = 1. / 2 // and for those of a part of the time: more is read once, for every further part
)
