package finish

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/store/local/write"
)

// A tieBreaker puts links that start at the same time in the order of the store's own
// numbers. The spool sorts them by the numbers that readers were given, which depend on
// whose file was read first. Links come in order of time, in batches; the last group of
// a batch waits for the next one.
type tieBreaker struct {
	held []write.LinkRecord // all start at the same time
	take func([]write.LinkRecord) error
}

// mostHeld bounds the waiting links. If more start at once, they come in parts.
const mostHeld = 1 << 20

// add takes a batch, which is given on but for its last group.
func (b *tieBreaker) add(batch []write.LinkRecord) error {
	if len(b.held) > 0 {
		n := 0
		for n < len(batch) && batch[n].FromTime == b.held[0].FromTime {
			n++
		}
		b.held = append(b.held, batch[:n]...)
		if batch = batch[n:]; len(batch) == 0 && len(b.held) < mostHeld {
			return nil
		}
		if err := b.finish(); err != nil {
			return err
		}
	}
	cut := len(batch)
	for cut > 0 && batch[cut-1].FromTime == batch[len(batch)-1].FromTime {
		cut--
	}
	b.held = append(b.held, batch[cut:]...)
	return b.give(batch[:cut])
}

// finish yields the waiting links.
func (b *tieBreaker) finish() error {
	held := b.held
	b.held = b.held[:0]
	return b.give(held)
}

// give sorts each group and passes all on, linkBatch at a time.
func (b *tieBreaker) give(links []write.LinkRecord) error {
	for from := 0; from < len(links); {
		to := from + 1
		for to < len(links) && links[to].FromTime == links[from].FromTime {
			to++
		}
		if to > from+1 {
			slices.SortStableFunc(links[from:to], func(x, y write.LinkRecord) int { return write.ByStart.Ties(&x, &y) })
		}
		from = to
	}
	for part := range slices.Chunk(links, linkBatch) {
		if err := b.take(part); err != nil {
			return err
		}
	}
	return nil
}
