package disk

import "github.com/parallax-hpc/parallax/internal/spool"

// A question may go through more than memory holds: all rows of a run. Frames of packed columns are used only while
// they are unpacked, so that they can be given back in the middle of it, and are fetched again if they are needed
// again. Blocks that are used in place stay until the question is over.

// FetchedStep is how many bytes come before any are given back within a question, so that blocks just fetched are used
// first.
var FetchedStep int64 = 64 << 20

// unpacking keeps frames here until the function that it gives is called.
func (f *Fetcher) unpacking() (done func()) {
	if f == nil {
		return func() {}
	}
	f.using.RLock()
	return func() {
		f.using.RUnlock()
		if f.since.Load() > FetchedStep && f.Full() {
			f.giveBack()
		}
	}
}

// giveBack releases frames, not their directories, but for those that came since the last time: who asked for them is
// about to use them.
func (f *Fetcher) giveBack() {
	f.using.Lock()
	defer f.using.Unlock()
	if f.since.Load() <= FetchedStep {
		return // another goroutine was faster
	}
	f.mu.Lock()
	checks := f.checks
	f.mu.Unlock()
	for _, c := range checks {
		if c.frames > 0 {
			f.held.Add(-c.giveBack(c.frames >> c.shift))
		}
	}
	f.since.Store(0)
}

// giveBack releases the first blocks of a file, those that are here and not fresh. A block is marked as missing
// after its memory is gone: it is not unpacked meanwhile, and not fetched before.
func (c *Check) giveBack(blocks int64) (bytes int64) {
	m := &spool.Mapping{Bytes: c.bytes}
	old := func(b int64) bool {
		return b < blocks && c.done[b>>6].Load()&^c.fresh[b>>6].Load()>>(b&63)&1 != 0
	}
	for b := int64(0); b < blocks; b++ {
		first := b
		for old(b) {
			b++
		}
		if b == first {
			continue
		}
		m.Release(first<<c.shift, b<<c.shift)
		for k := first; k < b; k++ {
			c.done[k>>6].And(^(uint64(1) << (k & 63)))
		}
		bytes += (b - first) << c.shift
	}
	for i := range c.fresh {
		c.fresh[i].Store(0)
	}
	return bytes
}

// Held returns the number of bytes held here.
func (f *Fetcher) Held() int64 { return f.held.Load() }

// Closed takes note that the memory of all files was given back.
func (f *Fetcher) Closed() {
	if f != nil {
		f.held.Clear()
	}
}
