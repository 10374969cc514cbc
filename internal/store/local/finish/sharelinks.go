package finish

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sort"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Each part packs a range of the links of all parts, in the order of their times. It has only its own rows, so that is
// possible where all ends are named by number, and the times of links are those that were recorded. If one part cannot,
// the links are packed when the parts are joined.

var errNotNamed = errors.New("an end of a link must be looked for")

// shareLinks packs the links of a part, if it can.
func (f *finisher) shareLinks(ctx context.Context, part int, st *madeState) error {
	if f.clocks != nil || f.linksLoaded || f.LooseLinks || f.UntimedRows.Len() > 0 {
		return nil
	}
	lists, done, err := mapLinks(f.LinkedIn)
	defer done()
	if err != nil {
		return err
	}
	first, end := lists.shareOf(part, f.Opt.Parts)
	from := func(ctx context.Context, give func([]write.LinkRecord, [][2]linkPlace) error) error {
		return f.linksBetween(ctx, lists, first, end, false, give)
	}
	links := linker{finisher: f}
	err = links.packLinkRows(ctx, from, func(node []store.LinkSum) { st.Links = append(st.Links, node) })
	if errors.Is(err, errNotNamed) {
		st.Links = nil
		return nil
	}
	st.Linked = err == nil
	return err
}

// shareOf returns the range of all links that a part packs.
func (h linkHeap) shareOf(part, parts int) (first, end int) {
	n := 0
	for _, l := range h {
		n += len(l.rows)
	}
	nodes := (n + disk.LinkNode - 1) / disk.LinkNode
	return nodes * part / parts * disk.LinkNode, min(nodes*(part+1)/parts*disk.LinkNode, n)
}

// linksBetween yields the links from one place to another in the order of them all. Where they are placed they have the
// numbers of the store and tell where their ends are.
func (f *finisher) linksBetween(ctx context.Context, lists linkHeap, first, end int, placed bool,
	give func([]write.LinkRecord, [][2]linkPlace) error) error {
	if first >= end {
		return nil
	}
	begin, last := lists.timeAt(first), lists.timeAt(end-1)
	var h linkHeap
	at := 0 // place of the first link that is merged: those at one time are put in order together
	for _, l := range lists {
		a := sort.Search(len(l.rows), func(i int) bool { return l.rows[i].FromTime >= begin })
		b := sort.Search(len(l.rows), func(i int) bool { return l.rows[i].FromTime > last })
		at += a
		if a < b {
			h = append(h, linkList{l.rows[a:b], l.part})
		}
	}
	links := linker{finisher: f}
	places := make([][2]linkPlace, linkBatch)
	groups := groupWatch{}
	ties := tieBreaker{take: func(batch []write.LinkRecord) error {
		from, to := min(max(first-at, 0), len(batch)), min(max(end-at, 0), len(batch))
		at += len(batch)
		batch = batch[from:to]
		if len(batch) == 0 {
			return nil
		}
		for i := range batch {
			if placed {
				places[i] = placesOf(&batch[i])
				continue
			}
			for side := range 2 {
				id, number := endOf(&batch[i], side)
				if number-1 >= f.numbered[id] { // 0 wraps to the largest
					return errNotNamed
				}
				places[i][side] = linkPlace{0, int32(number - 1)}
			}
		}
		return give(batch, places[:len(batch)])
	}}
	err := h.merge(ctx, func(batch []write.LinkRecord) error {
		n := len(batch)
		if !placed {
			batch = links.renumberAll(batch)
		}
		if len(batch) < n || groups.tooLarge(batch) {
			return errNotNamed
		}
		return ties.add(batch)
	})
	return cmp.Or(err, ties.finish())
}

// A groupWatch finds links at one time that are too many to be put in order together.
type groupWatch struct {
	time  trace.Time
	count int
}

func (g *groupWatch) tooLarge(batch []write.LinkRecord) bool {
	for i := range batch {
		if t := batch[i].FromTime; t != g.time || g.count == 0 {
			g.time, g.count = t, 0
		}
		if g.count++; g.count >= mostHeld {
			return true
		}
	}
	return false
}

// timeAt returns the time at which the link at a place in the order of all starts.
func (h linkHeap) timeAt(place int) trace.Time {
	low, high := trace.Time(math.MaxInt64), trace.Time(math.MinInt64)
	for _, l := range h {
		low, high = min(low, l.rows[0].FromTime), max(high, l.rows[len(l.rows)-1].FromTime)
	}
	// the first time up to which there are more links than that
	return low + trace.Time(sort.Search(int(high-low), func(d int) bool {
		n := 0
		for _, l := range h {
			n += sort.Search(len(l.rows), func(i int) bool { return l.rows[i].FromTime > low+trace.Time(d) })
		}
		return n > place
	}))
}
