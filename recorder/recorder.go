// Package recorder records moments of utilization inside a running program: how much each worker was busy, when,
// how spread out, how lopsided. It keeps no trace. Storage is constant in the length of the run: a fixed number of
// equal windows per worker, merged in pairs as the run grows, so that parts of the run can still be looked at.
// `parallax open FILE` shows the recording.
//
//	set := recorder.New(recorder.Options{Name: "solver"})
//	w := set.Worker("worker 0")   // one for each goroutine or thread
//	w.Begin()
//	work()
//	w.End()
//	set.WriteFile("run.moments")
//
// Begin and End allocate nothing and take some tens of nanoseconds a pair beside
// reading the clock (the benchmark says how many); BeginAt and EndAt take the caller's own clock. A worker is
// used by one goroutine at a time; everything may be read while it runs.
//
// After Godin, Quinn, Pancake: "Parallel Performance Visualization Using Moments of
// Utilization Data", which proposes to compute moments on the fly.
//
// # The file
//
// All numbers are little endian. Text is a u16 length and that many bytes of UTF-8.
//
//	8 bytes  "PLXMOM" 0 1               the last byte is the version
//	i64      start of the recording, ns since 1970
//	i32      rank of the process, -1 for none
//	text     name of the process
//	u32      number of workers, then for each:
//	  text   name
//	  u8     shift: a window is 1 << shift ns long
//	  i64    end: how long the worker was watched, ns since the start
//	  u64    records dropped since their time ran backwards
//	  u32    number of windows that follow, those with busy time, in order:
//	    u32  index: the window begins at index << shift ns since the start
//	    f64  weight: busy time in ns
//	    f64  mean: of busy time, relative to the window's begin
//	    f64  M2, f64 M3: ∫ (t - mean)^k over busy time
//	u32      CRC-32 (IEEE) of all bytes before
//
// The recorders for other languages (package recorder/source) write version 4. Records
// may follow each other in one file:
//
//	8 bytes  "PLXMOM" 0 4
//	i64      start of the recording, ns since 1970, by the clock of rank 0
//	i32      rank of the process, -1 for none
//	u64      length of the record in bytes, from its first to its checksum
//	i32      number of processes, -1 for none
//	text     name of the program, then text: name of the host
//	u32      process id. Versions 2 and 3 lack it
//	i64      how much the clock went off against that of rank 0 until the end, ns
//	u8       1 if the program ended before it said so, 2 if it was running when this was written; and 4 times
//	         the kind of time outside of named regions: 1 idle, 2 busy, 3 not recorded, 0 unknown
//	u32      number of names, then each as text; they are numbered from 1 on
//	u32      number of workers, then for each:
//	  text   name
//	  u8     shift, as above
//	  i64    when it was first seen, then i64: end; both ns since the start
//	  u64    calls and regions dropped for lack of space
//	  u32    number of windows, then each as above
//	  u32    number of regions as entered from others; the first is the program:
//	    u32  region it was entered from, by its place in this list; all ones for none
//	    u32  name
//	    u64  how often, then u64: how long in all, ns
//	  u32    number of calls by region and name:
//	    u32  region it was called from, by its place, then u32: name
//	    u64  how often; u64 how long in all, u64 at least, u64 at most, ns
//	    f64  sum of the squares of durations
//	    u64  bytes
//	    u64  calls that the whole job made together
//	    f64  sum of the times at which these were entered, ns since the start
//	  u32    number of classes of messages sent:
//	    u8   0 to itself, 1 on the same host, 2 to other hosts
//	    u8   size: of less than 1 << size bytes and at least half of that; 0: empty
//	    u64  messages, then u64: bytes
//	  u32    number of partners:
//	    i32  rank, then u64: messages, u64: bytes
//	  u64    messages to more partners than these, then u64: their bytes
//	  u64    how long the thread ran on a core, then u64: how long it could have run and had none, ns; all
//	         ones for unknown. Version 2 has neither
//	  u32    thread id, 0 for none or several. Versions 2 and 3 lack it
//	u32      CRC-32 (IEEE) of all bytes before
package recorder

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
)

// Options set how a program is recorded. The zero value will do.
type Options struct {
	// Name of the process, for people.
	Name string
	// Rank of the process among several; Ranked says that it has one. Files of
	// several ranks in one directory are opened as one run.
	Rank   int
	Ranked bool
	// Windows is how many a worker has, rounded up to an even number; 0: 128.
	Windows int
	// Window is how long they are at first; 0: about a millisecond. It is rounded up to
	// a power of two of nanoseconds, and doubled whenever the run outgrows the windows.
	Window time.Duration
}

// A Set is the recorders of one program, with one clock.
type Set struct {
	name    string
	rank    int32
	windows int
	shift   uint8
	start   time.Time

	mu      sync.Mutex
	workers []*Worker
}

// New starts a recording: time counts from now.
func New(o Options) *Set {
	s := &Set{name: o.Name, rank: -1, windows: o.Windows, shift: 20, start: time.Now()}
	if o.Ranked {
		s.rank = int32(o.Rank)
	}
	if s.windows <= 0 {
		s.windows = 128
	}
	s.windows += s.windows & 1
	if o.Window > 0 {
		for s.shift = 0; s.shift < 62 && int64(1)<<s.shift < int64(o.Window); {
			s.shift++
		}
	}
	return s
}

// Now is the time on the set's clock: ns since the start.
func (s *Set) Now() int64 { return int64(time.Since(s.start)) }

// Worker adds a worker. It may be called at any time, from any goroutine.
func (s *Set) Worker(name string) *Worker {
	w := &Worker{set: s, name: name, shift: s.shift, sums: make([]moment.Cubic, s.windows), to: 1 << s.shift, mine: 1,
		theirs: 2}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers = append(s.workers, w)
	return w
}

// A Worker records one worker. Begin and End nest: the outermost pair counts.
//
// The sketch of the window at hand is the owner's alone. After each change a copy
// of it goes into one of three slots, and one atomic exchange makes that the slot
// which readers take next; so neither side waits for the other, and a pair costs two
// exchanges. The windows before it are under a lock that the owner takes only when
// time enters another window.
type Worker struct {
	set  *Set
	name string

	// The owner's.
	depth int   // of Begin without End
	begin int64 // of the outermost interval begun last
	last  int64 // when the last interval ended
	now   sums
	from  int64 // the window of now
	to    int64
	mine  uint32 // the slot that is free to write

	opened atomic.Int64  // begin of the outermost interval begun last, plus one
	latest atomic.Uint32 // the slot written last, and fresh if no reader has it
	slots  [4]slot       // three are in use

	mu      sync.Mutex // guards the fields below
	theirs  uint32     // the slot that readers have
	ended   int64      // everything up to here is in sums
	dropped uint64
	shift   uint8
	sums    []moment.Cubic // window i is [i << shift, (i+1) << shift)
}

// A slot is the readers' copy of the current window.
type slot struct {
	last int64
	now  sums
}

const fresh = 4

// Begin marks the worker as busy from now on.
func (w *Worker) Begin() { w.BeginAt(w.set.Now()) }

// End marks the worker as idle from now on.
func (w *Worker) End() { w.EndAt(w.set.Now()) }

// BeginAt is Begin at a time of the caller's own clock: ns since the start.
func (w *Worker) BeginAt(t int64) {
	if w.depth++; w.depth == 1 {
		w.begin = t // reading it back from opened would take as long as storing it there
		w.opened.Store(t + 1)
	}
}

// EndAt is End at a time of the caller's own clock. An End without a Begin is
// ignored; an interval that ends before it begins, or begins before the last one
// ended, is dropped and counted.
func (w *Worker) EndAt(t int64) {
	if w.depth == 0 {
		return
	}
	if w.depth--; w.depth > 0 {
		return
	}
	s := &w.slots[w.mine&3]
	if w.begin >= w.last && w.begin < t && t <= w.to && w.now.s0 > 0 {
		w.now.addTo(&s.now, w.begin, t)
		w.last, s.last = t, t
	} else {
		w.advance(w.begin, t)
		s.last, s.now = w.last, w.now
	}
	w.mine = w.latest.Swap(w.mine|fresh) &^ fresh // readers see it from here on
}

// advance puts the window at hand away, adds an interval that is not within it, and
// goes on with the window in which that ends.
func (w *Worker) advance(begin, end int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened.Store(0) // it is closed, though an empty one might look open
	if w.now.s0 > 0 {
		c := w.now.cubic()
		w.sums[w.from>>w.shift].Merge(&c)
	}
	inside := begin >= w.last && begin < end && end <= w.to
	if w.now, w.ended = (sums{}), w.last; inside { // the first of its window
		w.now.origin = begin + (end-begin)/2
		w.now.addTo(&sums{}, begin, end)
		w.last = end
		return
	}
	w.add(begin, end)
	w.last = w.ended
	w.from = w.ended >> w.shift << w.shift
	w.to = w.from + 1<<w.shift
	if w.from>>w.shift >= int64(len(w.sums)) { // the end is the edge of the last window
		w.from, w.to = w.from-1<<w.shift, w.from
	}
}

// add counts [begin, end) in the windows that it meets.
func (w *Worker) add(begin, end int64) {
	if begin < w.ended || end < begin || end >= 1<<62 {
		w.dropped++
		return
	}
	w.ended = end
	for end > int64(len(w.sums))<<w.shift {
		w.double()
	}
	for i := begin >> w.shift; begin < end; i++ {
		edge := min(end, (i+1)<<w.shift)
		w.sums[i].AddNS(begin, edge)
		begin = edge
	}
}

// double merges windows in pairs, so that there is room for as much again.
func (w *Worker) double() {
	half := len(w.sums) / 2
	for i := range half {
		w.sums[i] = w.sums[2*i]
		w.sums[i].Merge(&w.sums[2*i+1])
	}
	clear(w.sums[half:])
	w.shift++
}

// Moments of a worker as the paper scales them, in ns since the start. Mean,
// Deviation and Skew are 0 without busy time.
type Moments struct {
	Busy      float64 // m0
	Mean      float64 // m1
	Deviation float64 // m2, never below half of Busy
	Skew      float64 // m3
}

// Moments returns the moments so far, with open intervals counted up to now. It may be called while the worker
// runs: then an interval that is just ending may count a little longer than it lasted, which the next call puts
// right.
func (w *Worker) Moments() Moments {
	s := w.snapshot()
	var sum moment.Cubic
	for i := range s.sums {
		sum.Merge(&s.sums[i])
	}
	if sum.Empty() {
		return Moments{}
	}
	m := sum.Moments(0)
	return Moments{m.M0, m.M1, m.M2, m.M3}
}

// Name of the worker.
func (w *Worker) Name() string { return w.name }

// snapshot copies the worker, with open intervals counted up to now.
func (w *Worker) snapshot() *Worker {
	now := w.set.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	opened := w.opened.Load() // before the slot, which may close it
	if w.latest.Load()&fresh != 0 {
		w.theirs = w.latest.Swap(w.theirs) &^ fresh
	}
	c := &Worker{set: w.set, name: w.name, ended: w.ended, dropped: w.dropped, shift: w.shift,
		sums: append([]moment.Cubic{}, w.sums...)}
	s := &w.slots[w.theirs]
	if s.last > c.ended { // else it is in sums already
		sum := s.now.cubic()
		c.sums[min(s.now.origin>>w.shift, int64(len(c.sums)-1))].Merge(&sum)
		c.ended = s.last
	}
	if opened-1 >= c.ended && opened-1 <= now {
		c.add(opened-1, now)
	}
	return c
}
