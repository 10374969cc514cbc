package memory

import (
	"context"
	"runtime/debug"
	"time"
)

// little is the part of a budget that one may take without asking: the regular check of memory in use comes soon
// enough for it.
const little = 64

// Room is called before a large allocation, such as that of a growing list: the regular check of memory in use
// comes too late for it. It drops kept values if needed, and returns Exceeded if there is still no room. A context
// without a budget has room for all.
func Room(ctx context.Context, bytes int64) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a, ok := ctx.Value(atWork{}).(*begun)
	if !ok || bytes < a.budget.most/little {
		return nil
	}
	b := a.budget
	b.watch.Lock()
	defer b.watch.Unlock()
	needs := bytes
	for w := range b.active {
		if w != a.work && time.Since(w.at) < fresh {
			needs += w.asked
		}
	}
	u := b.inUse()
	if u.live+needs > b.most*stopAt/parts || u.mapped+needs > b.most*mappedAt/parts {
		u = b.afterMakingRoom(needs)
	}
	if u.live+needs > b.most*stopAt/parts {
		return &Exceeded{Most: b.most, Beside: len(b.active)+len(b.dying) > 1}
	}
	a.work.asked, a.work.at = bytes, time.Now()
	return nil
}

// Fits returns Exceeded if bytes are more than work can ever have: for readers of headers, which have no context.
func Fits(bytes int64) error {
	if most := mostAtAll.Load(); bytes > most/parts*stopAt {
		return &Exceeded{Most: most}
	}
	return nil
}

// afterMakingRoom drops as many kept values as needed and returns the use after that.
func (b *Budget) afterMakingRoom(needs int64) use {
	if used, _ := b.Kept(); used > 0 {
		b.Shrink(used - max(b.inUse().live+needs-b.most*stopAt/parts, 0))
	}
	if b.measured == nil {
		debug.FreeOSMemory()
	}
	return b.inUse()
}
