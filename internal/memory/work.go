package memory

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"time"
)

// Exceeded says that something was stopped, or not begun, because it needs more than the
// budget has.
type Exceeded struct {
	Most    int64 // the budget
	reading bool  // it is of an import, which cannot be asked for less
}

// Reading is the same of an import.
func (e *Exceeded) Reading() *Exceeded { return &Exceeded{e.Most, true} }

func (e *Exceeded) Error() string {
	return e.What() + "; " + e.Hint()
}

// What says what is wrong.
func (e *Exceeded) What() string {
	return fmt.Sprintf("this needs more than the %s of memory there are", format(e.Most))
}

// Hint says what can be done.
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

// working is what is being computed now.
type working struct {
	watch    sync.Mutex
	active   map[*work]bool
	dying    map[*work]bool // told to end, and not gone yet: what they hold is still held
	order    int64
	watching bool
	live     func() int64 // bytes in use; a test has its own
}

type work struct {
	begun  int64
	cancel context.CancelCauseFunc
}

// between is how often the memory in use is looked at while something is computed.
const between = 50 * time.Millisecond

// Limit tells the runtime of the budget: it collects more often as it comes near.
func (b *Budget) Limit() {
	if b != nil {
		debug.SetMemoryLimit(b.most)
	}
}

// Work gives a context for a computation, which ends with Exceeded where the budget is
// passed: what is kept goes first, then what has been at work for longest. Nothing begins
// while another is on its way out, since it has not given back what it holds. done must
// be called.
func (b *Budget) Work(parent context.Context) (ctx context.Context, done func()) {
	if b == nil {
		return parent, func() {}
	}
	for b.isDying() && parent.Err() == nil {
		select {
		case <-parent.Done():
		case <-time.After(between):
		}
	}
	ctx, cancel := context.WithCancelCause(parent)
	w := &work{cancel: cancel}
	b.watch.Lock()
	defer b.watch.Unlock()
	b.order++
	w.begun = b.order
	if b.active == nil {
		b.active = map[*work]bool{}
	}
	b.active[w] = true
	if !b.watching {
		b.watching = true
		go b.look()
	}
	return ctx, func() {
		b.watch.Lock()
		delete(b.active, w)
		delete(b.dying, w)
		b.watch.Unlock()
		cancel(nil)
	}
}

func (b *Budget) isDying() bool {
	b.watch.Lock()
	defer b.watch.Unlock()
	return len(b.dying) > 0
}

// look watches until nothing is at work.
func (b *Budget) look() {
	for tick := time.NewTicker(between); ; <-tick.C {
		b.watch.Lock()
		if len(b.active)+len(b.dying) == 0 {
			b.watching = false
			b.watch.Unlock()
			tick.Stop()
			return
		}
		b.watch.Unlock()
		b.keep()
	}
}

// keep does what must be done to stay within the budget.
func (b *Budget) keep() {
	if b.inUse() <= b.most || b.isDying() { // one after the other: the next may not be the one that holds much
		return
	}
	if used, _ := b.Kept(); used > 0 {
		b.DropAll()
		runtime.GC()
		if b.inUse() <= b.most {
			return
		}
	}
	b.watch.Lock()
	var longest *work
	for w := range b.active {
		if longest == nil || w.begun < longest.begun {
			longest = w
		}
	}
	if longest != nil {
		longest.cancel(&Exceeded{Most: b.most})
		delete(b.active, longest)
		if b.dying == nil {
			b.dying = map[*work]bool{}
		}
		b.dying[longest] = true
	}
	b.watch.Unlock()
}

// inUse is what the last collection found in use, with stacks and what the runtime needs
// itself. Mapped files are not in it: the system takes their pages back as it needs them.
func (b *Budget) inUse() int64 {
	if b.live != nil {
		return b.live()
	}
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/memory/classes/metadata/other:bytes"}}
	metrics.Read(s)
	var n int64
	for _, x := range s {
		if x.Value.Kind() == metrics.KindUint64 {
			n += int64(x.Value.Uint64())
		}
	}
	return n
}
