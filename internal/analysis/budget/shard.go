package budget

import (
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Rows are sharded by key. Workers book their entries to a shard in batches: so they seldom wait for each
// other, and entries near in time are near in memory.

const (
	shardBits = 6
	shards    = 1 << shardBits
	// gathered is the number of entries that a worker collects for a shard before it books them.
	gathered = 256
)

// A shard holds the rows of some keys.
type shard struct {
	mu    sync.Mutex
	rows  map[rowKey]*account
	cells map[cell]trace.Time // of rows that have no detail yet
}

// An account is a row on its way.
type account struct {
	Row
	detail  *detail
	refused bool // it can have no detail any more
}

// An entry is the part of a wait that one row caused.
type entry struct {
	row    rowKey
	wait   *Wait
	time   trace.Time
	bins   bins
	direct bool
}

// shardOf spreads keys over shards: keys of neighbours differ in few bits.
func shardOf(row rowKey) int { return int(uint64(row) * 0x9e3779b97f4a7c15 >> (64 - shardBits)) }

// book adds a part of a wait to a row, now or with others.
func (k *worker) book(e entry) {
	if k.b.Each != nil {
		k.b.Each(e.wait, e.row.actor(), e.row.region(), e.direct, e.time)
	}
	at := shardOf(e.row)
	if k.entries[at] = append(k.entries[at], e); len(k.entries[at]) >= gathered {
		k.put(at)
	}
}

// put books the entries gathered for a shard.
func (k *worker) put(at int) {
	s := &k.b.shards[at]
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range k.entries[at] {
		s.book(&k.entries[at][i], k.b)
	}
	k.entries[at] = k.entries[at][:0]
}

func (s *shard) book(e *entry, b *Budget) {
	r := s.rows[e.row]
	if r == nil {
		r = &account{Row: Row{Actor: e.row.actor(), Region: e.row.region()}}
		if b.detailed.Add(1) <= b.mostDetailed() {
			r.detail = &detail{}
		} else {
			b.detailed.Add(-1)
		}
		s.rows[e.row] = r
	}
	sums := &r.Indirect
	if e.direct {
		sums = &r.Direct
	}
	sums[e.wait.Kind] = trace.AddUp(sums[e.wait.Kind], e.time)
	switch {
	case r.detail != nil:
		r.detail.tell(e, b)
	case !r.refused:
		s.tell(e, b)
	}
}
