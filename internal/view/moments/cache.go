package moments

import (
	"context"
	"runtime"
	"sync"
	"weak"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// bars are the index of all locations of a run for one state; or, without an index,
// the locations that hold intervals.
type bars struct {
	index *moment.Index
	ids   []trace.LocationID
	at    []int32 // row of a location, -1
	many  bool    // some location has several lanes
}

func (b *bars) row(id trace.LocationID) int { return int(b.at[id]) }

// sizeBytes is what it takes; those with an index share the rest.
func (b *bars) sizeBytes() int64 {
	if b.index == nil {
		return int64(4 * (len(b.at) + len(b.ids)))
	}
	return b.index.SizeBytes()
}

// locationsOf lists the locations of a run that hold intervals, once.
func locationsOf(r store.Reader) *bars {
	e := indices.entry(indexKey{weak.Make(r.Locations()), "locations"}, r.Locations())
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bars == nil {
		f := &fetcher{reader: r, tree: r.Locations()}
		f.choose(nil)
		e.bars = &bars{ids: f.ids, at: f.at, many: f.many}
		indices.trim(e)
	}
	return e.bars
}

// mostKept bounds the memory of indices that are kept for the next window.
const mostKept = 384 << 20

// indices are those made last. A run is told by its tree, held weakly, so that
// closing it frees them.
var indices = &indexCache{entries: map[indexKey]*indexEntry{}}

type indexKey struct {
	run   weak.Pointer[store.Tree]
	state string
}

type indexEntry struct {
	mu   sync.Mutex // held while it is made
	bars *bars
	used int64
}

type indexCache struct {
	mu      sync.Mutex
	entries map[indexKey]*indexEntry
	clock   int64
}

// barsOf gives the index of a state, made on first use: O(rows of the run).
func barsOf(ctx context.Context, r store.Reader, s *state) (*bars, error) {
	key := indexKey{weak.Make(r.Locations()), s.key}
	e := indices.entry(key, r.Locations())
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bars != nil {
		return e.bars, nil
	}
	b, err := makeBars(ctx, r, s)
	if err != nil {
		return nil, err
	}
	e.bars = b
	indices.trim(e)
	return b, nil
}

func (c *indexCache) entry(key indexKey, tree *store.Tree) *indexEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	e := c.entries[key]
	if e == nil {
		e = &indexEntry{}
		c.entries[key] = e
		runtime.AddCleanup(tree, c.drop, key)
	}
	e.used = c.clock
	return e
}

func (c *indexCache) drop(key indexKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}

// trim drops what was used least recently until the rest fits, never keep itself.
func (c *indexCache) trim(keep *indexEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		total := int64(0)
		var oldest indexKey
		var found *indexEntry
		for k, e := range c.entries {
			if e != keep && !e.mu.TryLock() {
				continue // being made
			}
			if e.bars != nil {
				total += e.bars.sizeBytes()
				if e != keep && (found == nil || e.used < found.used) {
					oldest, found = k, e
				}
			}
			if e != keep {
				e.mu.Unlock()
			}
		}
		if total <= mostKept || found == nil {
			return
		}
		delete(c.entries, oldest)
	}
}

// makeBars reads the whole run. Whole roles on single lanes come as segments from
// the store; for the others rows are folded.
func makeBars(ctx context.Context, r store.Reader, s *state) (*bars, error) {
	tree, lanes := r.Locations(), r.Lanes()
	b := *locationsOf(r)
	rows := len(b.ids)
	several := []trace.LocationID{}
	if !s.whole || b.many {
		for _, id := range b.ids {
			if !s.whole || lanes[id+1]-lanes[id] > 1 {
				several = append(several, id)
			}
		}
	}
	build := moment.NewIndexBuilder(rows)
	whole := store.Window{Begin: 0, End: r.Info().End}
	if len(several) < rows {
		if err := addSegments(ctx, r, s, whole, &b, build); err != nil {
			return nil, err
		}
	}
	if len(several) > 0 {
		wanted := make([]bool, tree.Len())
		for _, id := range several {
			wanted[id] = true
		}
		whole.Locations = topmost(tree, several)
		err := scanBars(ctx, r, s, whole, func(id trace.LocationID, begin, end trace.Time) {
			if wanted[id] {
				build.Add(int(b.at[id]), []moment.Interval{{Begin: begin, End: end}})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	b.index = build.Index()
	return &b, nil
}

// addSegments takes the segments of all locations with one lane: with bins of a
// nanosecond the store hands out rows, and blocks only where more than a few
// intervals begin within one.
func addSegments(ctx context.Context, r store.Reader, s *state, w store.Window, b *bars, build *moment.IndexBuilder) error {
	lanes := r.Lanes()
	buffers := sync.Pool{New: func() any { return new([]moment.Interval) }}
	return r.Summaries(ctx, moment.Name, w, 0, store.Visitor{
		Closed: true,
		Block: func(id trace.LocationID, _ int, begin, end trace.Time, block trace.Block) error {
			var c moment.Cubic
			if lanes[id+1]-lanes[id] == 1 && c.AddBlock(block, s.roles) && c.Weight > 0 {
				build.Add(int(b.at[id]), []moment.Interval{{Begin: begin, End: end}})
			}
			return nil
		},
		Rows: func(x *trace.Stretch) error {
			id := x.Rows.Location
			if lanes[id+1]-lanes[id] > 1 {
				return nil
			}
			list := buffers.Get().(*[]moment.Interval)
			*list = (*list)[:0]
			moment.EachBar(x.Segments, s.roles, func(begin, end trace.Time) { *list = append(*list, moment.Interval{Begin: begin, End: end}) })
			build.Add(int(b.at[id]), *list)
			buffers.Put(list)
			return nil
		},
	})
}
