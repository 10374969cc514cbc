package memory

import (
	"context"
	"runtime/debug"
	"time"
)

// little is the part of a budget that one may take without asking: the look at what is in use
// comes soon enough for it.
const little = 64

// Room is asked before much is made at once, such as a list that grows: looking at what is in use
// every so often comes too late for it. It makes room where something is kept, and says
// Exceeded where there would be none. A context that is not of a budget has room for all.
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

// afterMakingRoom drops what is kept, as far as it is in the way, and is what is in use then.
func (b *Budget) afterMakingRoom(needs int64) use {
	if used, _ := b.Kept(); used > 0 {
		b.Shrink(used - max(b.inUse().live+needs-b.most*stopAt/parts, 0))
	}
	if b.measured == nil {
		debug.FreeOSMemory()
	}
	return b.inUse()
}
