package memory

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Exceeded is the error of a computation that was stopped, or not begun, because it needs more than the budget has.
type Exceeded struct {
	Most    int64 // the budget
	Beside  bool  // others were at work: alone it might have fitted
	reading bool  // it is of an import, which cannot be asked for less
}

// Reading is the same of an import.
func (e *Exceeded) Reading() *Exceeded { return &Exceeded{e.Most, e.Beside, true} }

func (e *Exceeded) Error() string {
	return e.What() + "; " + e.Hint()
}

// What describes the problem.
func (e *Exceeded) What() string {
	return fmt.Sprintf("this needs more than the %s of memory there are", format(e.Most))
}

// Hint suggests a remedy.
func (e *Exceeded) Hint() string {
	if e.reading {
		return "give more with --memory, such as --memory " + strings.ReplaceAll(format(2*e.Most), " ", "")
	}
	return "give more with --memory, or choose less: fewer locations, a shorter time"
}

func format(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// working is the state of the computations that run now.
type working struct {
	watch    sync.Mutex
	active   map[*work]bool
	dying    map[*work]bool // told to end, and not gone yet: they still hold memory
	alone    *work          // nothing else begins or goes on next to it
	order    int64
	watching bool
	lastStop time.Time
	shrunk   int64      // the collection after which dropped memory shows as free; only look uses it
	measured func() use // a test has its own

	limited bool  // the runtime is told of the budget
	told    int64 // the limit it was told last; only look uses it, once work has begun
	percent int   // of garbage, likewise
}

type work struct {
	begun  int64
	takes  int64 // bytes it is assumed to need
	since  time.Time
	asked  int64 // of the room it asked for last, which may not show yet
	at     time.Time
	cancel context.CancelCauseFunc // nil: it cannot be stopped, and ends soon
}

const (
	// between is how often the memory in use is looked at while something is computed.
	between = 20 * time.Millisecond
	// grace is the time that a stopped computation may take to end before the next is stopped too.
	grace = 200 * time.Millisecond
	// fresh is the time after which a computation's allocations show in the memory in use.
	fresh = time.Second
)

// atWork marks the context of a computation, so that its parts are not counted again: they would wait for the
// computation that waits for them.
type atWork struct{}

// begun holds the budget and the work of a context.
type begun struct {
	budget *Budget
	work   *work
}

// Work returns a context for a computation. The context ends with Exceeded if the budget is passed: kept values are
// dropped first, then the computation that runs longest is stopped. Work waits until there is room next to the other
// computations, or there are none. done must be called.
func (b *Budget) Work(parent context.Context) (ctx context.Context, done func()) {
	return b.begin(parent, (*Budget).hasRoom)
}

// WorkAlone is Work with nothing next to it: for a computation that was stopped among others, and may fit by itself.
func (b *Budget) WorkAlone(parent context.Context) (ctx context.Context, done func()) {
	return b.begin(parent, (*Budget).isAlone)
}

// isAlone reports whether nothing else is at work; from then on nothing begins until w has
// ended. b.watch is held.
func (b *Budget) isAlone(w *work) bool {
	if b.alone == nil {
		b.alone = w
	}
	return b.alone == w && len(b.active)+len(b.dying) == 0
}

// Finish counts work that cannot be stopped and takes about so many bytes: the drawing or the table of a result. It
// begins when there is room for that, and is refused if there would be none with nothing next to it. done must be
// called unless it is.
func (b *Budget) Finish(parent context.Context, takes int64) (done func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	if takes > b.most*stopAt/parts {
		return nil, &Exceeded{Most: b.most}
	}
	w := &work{takes: takes}
	b.watch.Lock()
	defer b.watch.Unlock()
	may := (*Budget).hasRoom
	if takes > b.most/8 {
		may = (*Budget).isAlone // others would grow beside work that cannot be stopped
	}
	b.wait(parent, w, may)
	done = b.enter(w)
	if used, _ := b.Kept(); takes > b.most/8 && b.inUse().live+takes > b.most*stopAt/parts {
		b.Shrink(used - takes) // it cannot be stopped: kept values go before, not after
	}
	return done, nil
}

func (b *Budget) begin(parent context.Context, may func(*Budget, *work) bool) (ctx context.Context, done func()) {
	if b == nil {
		return parent, func() {}
	}
	if a, ok := parent.Value(atWork{}).(*begun); ok && a.budget == b {
		return parent, func() {}
	}
	w := &work{takes: b.most / 6}
	ctx, cancel := context.WithCancelCause(context.WithValue(parent, atWork{}, &begun{b, w}))
	w.cancel = cancel
	b.watch.Lock()
	defer b.watch.Unlock()
	b.wait(parent, w, may)
	return ctx, b.enter(w)
}

// wait releases b.watch while it waits.
func (b *Budget) wait(parent context.Context, w *work, may func(*Budget, *work) bool) {
	for !may(b, w) && parent.Err() == nil {
		b.watch.Unlock()
		select {
		case <-parent.Done():
		case <-time.After(between):
		}
		b.watch.Lock()
	}
}

// enter counts something at work; b.watch is held.
func (b *Budget) enter(w *work) (done func()) {
	b.order++
	w.begun, w.since = b.order, time.Now()
	if b.active == nil {
		b.active, b.dying = map[*work]bool{}, map[*work]bool{}
	}
	b.active[w] = true
	if !b.watching {
		b.watching = true
		go b.look()
	}
	return func() {
		b.watch.Lock()
		delete(b.active, w)
		delete(b.dying, w)
		if b.alone == w {
			b.alone = nil
		}
		b.watch.Unlock()
		if w.cancel != nil {
			w.cancel(nil)
		}
	}
}

// hasRoom reports whether one more computation may begin. One that began less than fresh ago counts with its
// assumed need, since its memory may not show yet; one that cannot be stopped counts so to its end. Kept values do
// not count, since they can be dropped. b.watch is held.
func (b *Budget) hasRoom(one *work) bool {
	if b.alone != nil || len(b.dying) > 0 {
		return false
	}
	if len(b.active) == 0 {
		return true
	}
	needs := one.takes
	for w := range b.active {
		if w.cancel == nil || time.Since(w.since) < fresh {
			needs += w.takes
		}
	}
	u := b.inUse()
	kept, _ := b.Kept()
	return max(u.live-kept, 0)+needs <= b.most*stopAt/parts && u.mapped <= b.most*mappedAt/parts
}

// look watches until nothing is at work.
func (b *Budget) look() {
	for tick := time.NewTicker(between); ; <-tick.C {
		b.watch.Lock()
		if len(b.active)+len(b.dying) == 0 {
			b.watching = false
			b.spare(mostGarbage)
			b.watch.Unlock()
			tick.Stop()
			b.giveBack()
			return
		}
		b.watch.Unlock()
		b.keep()
	}
}

// keep drops kept values and stops computations as needed to stay within the budget.
func (b *Budget) keep() {
	b.tell()
	u := b.inUse()
	b.spare(u.live)
	over := max(u.live-b.most*stopAt/parts, u.mapped-b.most*mappedAt/parts)
	if over <= 0 {
		return
	}
	if used, _ := b.Kept(); used > 0 {
		b.Shrink(used - over - b.most/8)
		b.shrunk = u.cycles + 2 // the one under way may have counted the dropped values
	}
	if u.cycles < b.shrunk && u.mapped <= b.most*hastyAt/parts {
		return // near the limit the runtime collects all the time
	}
	b.watch.Lock()
	defer b.watch.Unlock()
	if len(b.dying) > 0 && time.Since(b.lastStop) < grace { // the one that ends may free enough
		return
	}
	var longest *work
	for w := range b.active {
		if w.cancel != nil && (longest == nil || w.begun < longest.begun) {
			longest = w
		}
	}
	if longest == nil {
		return
	}
	b.lastStop = time.Now()
	longest.cancel(&Exceeded{Most: b.most, Beside: len(b.active)+len(b.dying) > 1})
	delete(b.active, longest)
	b.dying[longest] = true
}
