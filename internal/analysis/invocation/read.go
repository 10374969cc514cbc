package invocation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// RanksAlone reports whether the calls of a rank are all at one location.
func (c *Calls) RanksAlone(t *store.Tree) bool {
	seen, alone := map[int32]trace.LocationID{}, true
	c.Locations(func(id trace.LocationID, _ int) {
		if other, ok := seen[t.Rank[id]]; ok && other != id {
			alone = false
		}
		seen[t.Rank[id]] = id
	})
	return alone
}

// kindCore runs tasks; while one waits the core runs others, which it did not make.
const kindCore = trace.Kind("core")

// A census says which rows are calls.
type census struct {
	tree       *store.Tree
	regions    []trace.Region
	goroutines bool
}

func newCensus(s store.Reader) *census {
	c := &census{tree: s.Locations(), regions: s.Regions()}
	for _, k := range c.tree.Kind {
		if k == trace.KindGoroutine {
			c.goroutines = true
			break
		}
	}
	return c
}

// skips reports whether a location holds no call at all.
func (c *census) skips(id trace.LocationID) bool {
	return c.goroutines && c.tree.Kind[id] == trace.KindProcessor
}

func (c *census) isCall(id trace.LocationID, region trace.RegionID) bool {
	g := &c.regions[region]
	switch c.tree.Kind[id] {
	case trace.KindGoroutine: // itself one call: its life is a node and its states are not
		return g.Category == "goroutine" || g.Category == "user region" || g.Category == "task"
	case kindCore:
		return g.Role != trace.RoleSynchronization && g.Role != trace.RoleIdle
	}
	return true
}

// Read reads the calls that begin in the window and their callers: the other end of a
// spawn link to just that call, else the interval around it, else the other end of a
// steal.
func Read(ctx context.Context, s store.Reader, w store.Window, byRank bool) (*Calls, error) {
	if byRank {
		if calls, err := joinRanks(ctx, s, w); calls != nil || err != nil {
			return calls, err
		}
	}
	lanes, number, err := readLanes(ctx, s, w)
	if err != nil {
		return nil, err
	}
	if t := s.Locations(); byRank && stayApart(lanes, t) {
		spawns, err := spawnsAny(ctx, s, w)
		if err != nil {
			return nil, err
		}
		if !spawns {
			return Join(lanes, ofRanks(t)), nil
		}
	}
	calls := Collect(lanes)
	node := func(loc trace.LocationID, lane, row int32) int32 {
		if k, ok := number[laneKey{loc, int(lane)}]; ok && row >= 0 {
			return calls.Node(Spot{Lane: int32(k), Row: row})
		}
		return -1
	}
	err = s.Links(ctx, w, func(c *store.LinkColumns) error {
		for i, kind := range c.Kind {
			if kind != trace.LinkSpawn && kind != trace.LinkSteal {
				continue
			}
			child, maker := node(c.ToLocation[i], c.ToLane[i], c.ToRow[i]),
				node(c.FromLocation[i], c.FromLane[i], c.FromRow[i])
			if child < 0 || maker < 0 {
				continue
			}
			if kind == trace.LinkSpawn || calls.Parent(child) < 0 {
				calls.Spawn(child, maker)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return calls.Finish(), nil
}

// ofRanks orders lanes by rank.
func ofRanks(t *store.Tree) func(a, b *Lane) int {
	return func(a, b *Lane) int {
		return cmp.Or(cmp.Compare(t.Rank[a.Location], t.Rank[b.Location]), cmp.Compare(a.Location, b.Location))
	}
}

// lanesApart returns the locations of a window with lanes, if each of all is of a rank and a leaf, has one lane, and
// all rows there are calls; else none.
func lanesApart(s store.Reader, w store.Window) (ids []trace.LocationID) {
	t, first := s.Locations(), s.Lanes()
	for id := range t.Len() {
		switch n := first[id+1] - first[id]; {
		case n == 0:
		case n > 1 || t.Rank[id] < 0 || t.Kind[id] == trace.KindGoroutine || t.Kind[id] == kindCore:
			return nil
		case t.IsLeaf(trace.LocationID(id)): // else its calls cannot be counted without those below
			ids = append(ids, trace.LocationID(id))
		default:
			return nil
		}
	}
	if w.Locations != nil {
		chosen := t.Expand(w.Locations)
		ids = slices.DeleteFunc(ids, func(id trace.LocationID) bool {
			_, in := slices.BinarySearch(chosen, id)
			return !in
		})
	}
	return ids
}

// joinRanks reads calls to their places at once, where it is known before they are read that lanes stay apart: each
// location with calls is of a rank and has one lane, in which every row is a call. Else it returns nil.
func joinRanks(ctx context.Context, s store.Reader, w store.Window) (*Calls, error) {
	t, ids := s.Locations(), lanesApart(s, w)
	calls := make([]int64, len(ids))
	errs := make([]error, len(ids))
	err := parallel.For(ctx, len(ids), func(k int) {
		calls[k], errs[k] = s.Count(store.Window{Begin: w.Begin, End: w.End, Locations: ids[k : k+1]})
	})
	if err = errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	var lanes []*Lane
	of := make([]int32, t.Len()) // place of the lane of each location, + 1
	for k, id := range ids {
		if calls[k] > 0 {
			lanes = append(lanes, Counted(id, int(calls[k])))
			of[id] = int32(len(lanes))
		}
	}
	if len(lanes) < 2 {
		return nil, nil
	}
	var spawns bool
	var spawnsErr error
	var wait sync.WaitGroup
	var caught parallel.Caught
	wait.Go(func() { // next to the calls: it rarely finds any
		_ = caught.Do(func() error {
			spawns, spawnsErr = spawnsAny(ctx, s, w)
			return nil
		})
	})
	j, fits := NewJoiner(lanes, ofRanks(t)), atomic.Bool{}
	fits.Store(true)
	err = s.Intervals(ctx, w, func(c *trace.Columns) error {
		if k := of[c.Location]; c.Len() > 0 && (k == 0 || !j.Add(int(k-1), c)) {
			fits.Store(false)
		}
		return nil
	})
	wait.Wait()
	caught.Pass()
	if err = cmp.Or(err, spawnsErr); err != nil || spawns || !fits.Load() {
		return nil, err
	}
	return j.Calls(), nil
}

// stayApart reports whether the order of sectors is that of lanes: of several roots, of ranks or one a location, each
// location with one lane, which runs its own calls.
func stayApart(lanes []*Lane, t *store.Tree) bool {
	roots, one, ranks := 0, true, true
	for k, l := range lanes {
		if k > 0 && l.Location == lanes[k-1].Location || t.Kind[l.Location] == trace.KindGoroutine {
			return false
		}
		n := l.Roots()
		roots, one, ranks = roots+n, one && n == 1, ranks && t.Rank[l.Location] >= 0
	}
	return roots > 1 && (one || ranks)
}

// errSpawns ends the search for links that hang calls below others.
var errSpawns = errors.New("a call is made by one of another lane")

// spawnsAny reports whether a link of the window may hang a call below one of another lane.
func spawnsAny(ctx context.Context, s store.Reader, w store.Window) (bool, error) {
	if w.Whole(s) && store.KeepsLinkSums(s) {
		sums, err := store.LinkSums(ctx, s, w)
		return slices.ContainsFunc(sums, func(x store.LinkSum) bool {
			return x.Kind == trace.LinkSpawn || x.Kind == trace.LinkSteal
		}), err
	}
	err := s.Links(ctx, w, func(c *store.LinkColumns) error {
		if slices.Contains(c.Kind, trace.LinkSpawn) || slices.Contains(c.Kind, trace.LinkSteal) {
			return errSpawns
		}
		return nil
	})
	if errors.Is(err, errSpawns) {
		return true, nil
	}
	return false, err
}

// A laneKey names a lane.
type laneKey struct {
	location trace.LocationID
	lane     int
}

// readLanes reads all lanes in parallel. They come in order of location and lane;
// number gives the place of each.
func readLanes(ctx context.Context, s store.Reader, w store.Window) (out []*Lane, number map[laneKey]int,
	err error) {
	census, first := newCensus(s), s.Lanes()
	lanes := map[laneKey]*Lane{}
	var mu sync.Mutex
	err = s.Intervals(ctx, w, func(c *trace.Columns) error {
		if census.skips(c.Location) {
			return nil
		}
		key := laneKey{c.Location, c.Lane}
		mu.Lock()
		l := lanes[key]
		if l == nil {
			l = &Lane{Location: c.Location, Lane: int32(c.Lane)}
			lanes[key] = l
		}
		mu.Unlock()
		if l.Len() == 0 && first[c.Location+1]-first[c.Location] == 1 && s.Locations().IsLeaf(c.Location) {
			// else it counts all below
			n, err := s.Count(store.Window{Begin: w.Begin, End: w.End, Locations: []trace.LocationID{c.Location}})
			if err != nil {
				return err
			}
			l.Grow(int(n))
		}
		for i := range c.Begin {
			l.Add(c.First+i, c.Begin[i], c.End(i), c.Region[i], c.Parent[i], census.isCall(c.Location, c.Region[i]))
		}
		return nil
	})
	number = map[laneKey]int{}
	for id := 0; id+1 < len(first); id++ {
		for lane := range int(first[id+1] - first[id]) {
			if k := (laneKey{trace.LocationID(id), lane}); lanes[k] != nil && lanes[k].Len() > 0 {
				number[k] = len(out)
				out = append(out, lanes[k])
			}
		}
	}
	return out, number, err
}
