package runfacts

import (
	"context"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A MemoryPeak is the most memory in use on a device, in bytes.
type MemoryPeak struct {
	Device    trace.LocationID
	Allocated float64
	At        trace.Time // of the most allocated
	Reserved  float64    // negative: unknown
	Limit     int64      // 0: unknown
}

// Taken returns the bytes unavailable to others: the reserved ones, if recorded.
func (p *MemoryPeak) Taken() float64 { return max(p.Allocated, p.Reserved) }

// MemoryPeaks returns the peaks of those devices whose memory was sampled. One query.
func MemoryPeaks(ctx context.Context, r store.Reader, w store.Window, devices []trace.LocationID) ([]MemoryPeak,
	error) {
	var out []MemoryPeak
	at := map[trace.LocationID]int{}
	for _, id := range devices {
		at[id] = -1
	}
	var ids []trace.CounterID
	counters := r.Counters()
	for id, c := range counters {
		if _, ok := at[c.Location]; ok && strings.HasPrefix(c.Name, "memory ") && c.Unit == "bytes" {
			ids = append(ids, trace.CounterID(id))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	tree := r.Locations()
	for _, id := range devices {
		p := MemoryPeak{Device: id, Allocated: -1, Reserved: -1}
		for _, a := range tree.Attributes[id] {
			if n, ok := a.Value.Integer(); ok && a.Key == "memory" {
				p.Limit = n
			}
		}
		at[id] = len(out)
		out = append(out, p)
	}
	var mu sync.Mutex
	err := r.Samples(ctx, ids, w.Begin, w.End, func(c *store.SampleColumns) error {
		mu.Lock()
		defer mu.Unlock()
		k := &counters[c.Counter]
		p := &out[at[k.Location]]
		for i, v := range c.Value {
			switch {
			case strings.HasSuffix(k.Name, "reserved"):
				p.Reserved = max(p.Reserved, v)
			case v > p.Allocated:
				p.Allocated, p.At = v, c.Time[i]
			}
		}
		return nil
	})
	kept := out[:0]
	for _, p := range out {
		if p.Allocated >= 0 {
			kept = append(kept, p)
		}
	}
	return kept, err
}
