package disk

import (
	"context"
	"fmt"
	"hash/crc32"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
)

// A store may be remote: its files are blocks, the same that have a checksum each. A reader gives every file as much
// address space as it has bytes. Code that is about to use some touches them first, as for a file on disk: missing
// blocks are fetched into their place and verified. So callers need not know where a store is, and a query costs the
// blocks that it touches.

// A Remote holds the files of a store.
type Remote interface {
	// Fetch fills pieces of files; all of them, or it is an error. It is called from several goroutines.
	Fetch(ctx context.Context, pieces []Piece) error
	// Kept and Keep are those of store.Keeper.
	Kept(name string) ([]byte, bool)
	Keep(name string, data []byte) error
}

// A Piece is one block of a file, see BlockSizeOf, and where its bytes go.
type Piece struct {
	File  string
	Block int64
	Into  []byte
}

// An Unreachable is the panic value of a query whose blocks cannot be fetched.
type Unreachable struct{ Err error }

func (u Unreachable) Error() string { return u.Err.Error() }
func (u Unreachable) Unwrap() error { return u.Err }

// A Fetcher fetches blocks. It joins the blocks that several goroutines want at once: while some requests are under
// way, further blocks wait for the next one. So the number of requests does not grow with the number of lanes of a
// query.
type Fetcher struct {
	From    Remote
	Timeout time.Duration // for one request

	requests, bytes atomic.Int64 // so far

	held    memory.Outside // bytes that are here
	since   atomic.Int64   // that came since some were given back
	using   sync.RWMutex   // read by who unpacks frames, written by who gives them back
	mu      sync.Mutex
	checks  []*Check // that may be forgotten
	flying  map[place]*flight
	asking  asking
	next    *flight
	running int
	busy    int // of those, under way
}

type place struct {
	check *Check
	block int64
}

type flight struct {
	wants []place
	done  chan struct{}
	err   error
}

const (
	// mostRequests are under way at once.
	mostRequests = 8
	// gather is how long a request waits for others who want something too, again as long as more come: less than any
	// server takes.
	gather, mostGather, mostBusy = 500 * time.Microsecond, 4 * time.Millisecond, 40 * time.Millisecond
	// enough blocks make a request that waits for no others.
	enough = 512
	// wholeFile is how long a file may be to be fetched as a whole when any of it is used.
	wholeFile = 512 << 10
)

// MostFetched is how many bytes stay here between queries; a budget may leave less. Tests keep none.
var MostFetched int64 = 1 << 30

// fetchedShare is how much more of the budget fetched bytes may fill than bytes that are only unpacked, which cost
// less to make again.
const fetchedShare = 2

// Adopt takes the check of a remote file. One that is kept is never forgotten.
func (f *Fetcher) Adopt(c *Check, keep bool) {
	if c.packed != nil {
		c = c.packed.check
	}
	c.from = f
	if c.frames > 0 {
		c.fresh = make([]atomic.Uint64, len(c.done))
	}
	if !keep {
		f.mu.Lock()
		f.checks = append(f.checks, c)
		f.mu.Unlock()
	}
}

// Reserve returns the memory of a file.
func (f *Fetcher) Reserve(e FileEntry) (*spool.Mapping, error) {
	m, err := spool.Reserve(e.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	return m, nil
}

// Traffic returns how often blocks were asked for, and how many bytes came.
func (f *Fetcher) Traffic() (requests, bytes int64) { return f.requests.Load(), f.bytes.Load() }

// Full reports whether more is here than may stay.
func (f *Fetcher) Full() bool {
	return f != nil && f.held.Load() > 0 && memory.TooMuchOutside(MostFetched, fetchedShare)
}

// Forget releases the memory of fetched blocks. They must not be in use.
func (f *Fetcher) Forget() {
	for _, c := range f.checks {
		clear(c.done)
		clear(c.fresh)
		(&spool.Mapping{Bytes: c.bytes}).Release(0, int64(len(c.bytes)))
	}
	f.held.Clear()
}

// missing appends the blocks of bytes [from, to) that are not here.
func (c *Check) missing(wants []place, from, to int64) []place {
	if to = min(to, int64(len(c.bytes))); from < 0 || from >= to {
		return wants
	}
	if len(c.bytes) <= wholeFile {
		from, to = 0, int64(len(c.bytes))
	}
	for b, last := from>>c.shift, (to-1)>>c.shift; b <= last && b < int64(len(c.sums)); b++ {
		if c.done[b>>6].Load()>>(b&63)&1 == 0 {
			wants = append(wants, place{c, b})
		}
	}
	return wants
}

// bring waits until all blocks are here.
func (f *Fetcher) bring(wants []place) {
	if len(wants) == 0 {
		return
	}
	var wait []*flight
	f.mu.Lock()
	for _, w := range wants {
		if w.check.done[w.block>>6].Load()>>(w.block&63)&1 != 0 {
			continue
		}
		x := f.flying[w]
		if x == nil {
			if f.next == nil {
				f.next = &flight{done: make(chan struct{})}
			}
			if f.flying == nil {
				f.flying = map[place]*flight{}
			}
			x = f.next
			x.wants = append(x.wants, w)
			f.flying[w] = x
		}
		if len(wait) == 0 || wait[len(wait)-1] != x {
			wait = append(wait, x)
		}
	}
	if f.next != nil && f.running < mostRequests {
		f.running++
		go f.run()
	}
	f.mu.Unlock()
	for _, x := range wait {
		<-x.done
		if x.err != nil {
			panic(x.err)
		}
	}
}

// gather waits until no more is wanted than a moment before, or, while others are asked for, until there is enough: a
// server takes as long for a small request as for a hundred blocks.
func (f *Fetcher) gather() {
	for before, waited := 0, time.Duration(0); ; waited += gather {
		time.Sleep(gather)
		f.mu.Lock()
		n, busy := 0, f.busy > 0
		if f.next != nil {
			n = len(f.next.wants)
		}
		f.mu.Unlock()
		if n == 0 || n >= enough || (n == before || waited > mostGather) && (!busy || waited > mostBusy) {
			return
		}
		before = n
	}
}

// run makes requests as long as something is wanted.
func (f *Fetcher) run() {
	for {
		f.gather()
		f.mu.Lock()
		x := f.next
		if f.next = nil; x == nil {
			f.running--
			f.mu.Unlock()
			return
		}
		f.busy++
		f.mu.Unlock()
		x.err = f.fetch(x.wants)
		f.mu.Lock()
		f.busy--
		for _, w := range x.wants {
			delete(f.flying, w)
		}
		f.mu.Unlock()
		close(x.done)
	}
}

// fetch fills blocks and looks at them.
func (f *Fetcher) fetch(wants []place) (err error) {
	pieces := make([]Piece, len(wants))
	var bytes int64
	for i, w := range wants {
		from, to := w.check.bounds(w.block)
		pieces[i] = Piece{File: w.check.name, Block: w.block, Into: w.check.bytes[from:to]}
		bytes += to - from
	}
	ctx, cancel := context.WithTimeout(f.asking.context(), f.Timeout+time.Duration(bytes>>20)*time.Second)
	defer cancel()
	if err := f.From.Fetch(ctx, pieces); err != nil {
		return Unreachable{err}
	}
	for i, w := range wants {
		if crc32.Checksum(pieces[i].Into, Castagnoli) != w.check.sums[w.block] {
			from, to := w.check.bounds(w.block)
			return Unreachable{fmt.Errorf("column %s, bytes %d to %d: %w", w.check.name, from, to, ErrDamaged)}
		}
		if w.check.fresh != nil {
			w.check.fresh[w.block>>6].Or(1 << (w.block & 63))
		}
		w.check.done[w.block>>6].Or(1 << (w.block & 63))
	}
	f.held.Add(bytes)
	f.since.Add(bytes)
	f.bytes.Add(bytes)
	f.requests.Add(1)
	return nil
}

// IsRemote reports whether the table is not on this machine.
func (t *TableCheck) IsRemote() bool { return len(t.columns) > 0 && t.columns[0].fetcher() != nil }

// IsRemote reports whether the file is not on this machine.
func (c *Check) IsRemote() bool { return c.fetcher() != nil }

func (c *Check) fetcher() *Fetcher {
	switch {
	case c == nil:
		return nil
	case c.packed != nil:
		return c.packed.check.from
	}
	return c.from
}

// Rows are ranges [lo, hi) of rows of a table.
type Rows struct {
	Of     *TableCheck
	Ranges [][2]uint64
}

// Bring fetches rows of tables together where they are not on this machine: who will touch them one after the other
// would else wait for each. First come the places of their frames, then these.
func Bring(list ...Rows) {
	var f *Fetcher
	var wants []place
	for _, x := range list {
		if !x.Of.IsRemote() {
			continue
		}
		f = x.Of.columns[0].fetcher()
		for i, c := range x.Of.columns {
			for _, rows := range x.Ranges {
				if c.packed == nil {
					wants = c.missing(wants, int64(rows[0])*x.Of.widths[i], int64(rows[1])*x.Of.widths[i])
				} else {
					wants = c.packed.missingDirectory(wants, rows[0], rows[1])
				}
			}
		}
	}
	if f == nil {
		return
	}
	f.bring(wants)
	wants = wants[:0]
	for _, x := range list {
		for _, c := range x.Of.columns {
			for _, rows := range x.Ranges {
				if c.packed != nil {
					wants = c.packed.missingFrames(wants, rows[0], rows[1])
				}
			}
		}
	}
	f.bring(wants)
}

// bringAhead fetches rows [lo, hi) of packed columns, and where some of them are missing also those that follow: who
// goes through a table block by block would else ask for each.
func (t *TableCheck) bringAhead(lo, hi, until uint64) {
	f := t.columns[0].fetcher()
	var wants []place
	for _, c := range t.columns {
		wants = c.packed.missingDirectory(wants, lo, hi)
	}
	f.bring(wants)
	wants = wants[:0]
	for _, c := range t.columns {
		wants = c.packed.missingFrames(wants, lo, hi)
	}
	if len(wants) > 0 {
		Bring(Rows{t, [][2]uint64{{lo, until}}})
	}
}

// frames returns the frames of rows [lo, hi), as places in the directory.
func (p *Packed) frames(lo, hi uint64) (first, last uint64) {
	hi = min(hi, p.rows)
	if lo >= hi {
		return 0, 0
	}
	return lo / pack.Frame * uint64(p.per), ((hi-1)/pack.Frame + 1) * uint64(p.per)
}

func (p *Packed) missingDirectory(wants []place, lo, hi uint64) []place {
	first, last := p.frames(lo, hi)
	if first == last {
		return wants
	}
	return p.check.missing(wants, p.dirAt+int64(4*first), p.dirAt+int64(4*last)+4)
}

func (p *Packed) missingFrames(wants []place, lo, hi uint64) []place {
	first, last := p.frames(lo, hi)
	if first == last {
		return wants
	}
	return p.check.missing(wants, int64(p.dir[first])*8, min(int64(p.dir[last])*8, p.dirAt))
}

// bring fetches the frames of rows [lo, hi). The caller must not hold a lock of the column: the wants of several are
// joined.
func (p *Packed) bring(lo, hi uint64) {
	f := p.check.from
	f.bring(p.missingDirectory(nil, lo, hi))
	f.bring(p.missingFrames(nil, lo, hi))
}

// bring fetches the frames of rows [lo, hi) of all columns together.
func (c *RowCheck) bring(lo, hi uint64) {
	f := c.columns[0].check.from
	if f == nil {
		return
	}
	var wants []place
	for _, p := range c.columns {
		wants = p.missingDirectory(wants, lo, hi)
	}
	f.bring(wants)
	wants = wants[:0]
	for _, p := range c.columns {
		wants = p.missingFrames(wants, lo, hi)
	}
	f.bring(wants)
}

// BringAll fetches whole files together.
func (f *Fetcher) BringAll(checks []*Check) {
	var wants []place
	for _, c := range checks {
		wants = c.missing(wants, 0, int64(len(c.bytes)))
	}
	f.bring(wants)
}
