package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Writer writes a store. Create makes one; Finish or Abort ends it.
type Writer struct {
	opt  Options
	path string // where the store will be
	dir  string // where it is written: beside path
	temp string // inside dir, for what is gone in the end
	lock *os.File

	chunks *chunkSpool
	texts  *textTable

	// What streams check their ids against, without a lock: how many regions are
	// defined, and the location of each counter.
	regions  atomic.Uint32
	counters atomic.Pointer[[]trace.LocationID]

	mu      sync.Mutex
	def     definitions
	streams []*stream // by location, nil where none was asked for

	rowMu      sync.Mutex
	links      *spool[linkRecord]
	untimed    *spool[linkRecord]
	profile    *spool[trace.ProfileRow]
	atomics    *spool[trace.AtomicRow]
	moments    *spool[trace.MomentRow]
	kin        map[trace.LocationID][]uint32 // see kinship
	linkSpan   span
	looseLinks bool  // links have ends that must be looked for
	rowErr     error // first failure of a spool

	reportMu sync.Mutex
	report   reportTable

	done bool
}

// A span is the first and last time of anything seen; empty until any.
type span struct {
	first, last trace.Time
	any         bool
}

func (s *span) see(t trace.Time) {
	if !s.any {
		s.first, s.last, s.any = t, t, true
		return
	}
	s.first, s.last = min(s.first, t), max(s.last, t)
}

// Create starts a store that will be at path. What is written lies beside it
// under a temporary name until Finish. A store already at path is replaced then;
// anything else there is refused.
func Create(path string, o Options) (*Writer, error) {
	o = o.withDefaults()
	if !littleEndian() {
		return nil, errors.New("create store: this machine is big endian; stores are little endian")
	}
	if err := replaceable(path); err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	parent := filepath.Dir(filepath.Clean(path))
	RemoveStale(parent)
	dir, err := os.MkdirTemp(parent, "."+filepath.Base(path)+partMark)
	if err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	w := &Writer{opt: o, path: path, dir: dir, temp: filepath.Join(dir, tempName)}
	if err := w.start(); err != nil {
		w.lock.Close()
		os.RemoveAll(dir)
		return nil, fmt.Errorf("create store: %w", err)
	}
	return w, nil
}

func (w *Writer) start() error {
	var err error
	if err := os.Mkdir(w.temp, 0o700); err != nil {
		return err
	}
	if w.lock, err = lockDir(w.temp); err != nil {
		return err
	}
	if w.chunks, err = newChunkSpool(w.temp, w.opt.Memory/2); err != nil {
		return err
	}
	if w.texts, err = newTextTable(w.dir); err != nil {
		w.chunks.close()
		return err
	}
	share := w.opt.Memory / 16
	w.links = newSortedSpool(w.temp, share, byStart)
	w.untimed = newSpool[linkRecord](w.temp, share/4)
	w.profile = newSpool[trace.ProfileRow](w.temp, share)
	w.atomics = newSpool[trace.AtomicRow](w.temp, share/4)
	w.moments = newSpool[trace.MomentRow](w.temp, share/4)
	w.kin = map[trace.LocationID][]uint32{}
	w.def.init()
	w.report.init()
	return nil
}

// replaceable refuses a path that holds something other than a store.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err := os.Lstat(manifestPath(path)); err == nil {
			return nil
		}
		if entries, err := os.ReadDir(path); err == nil && len(entries) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s exists and is not a store; remove it or choose another name", path)
}

// Abort gives up: nothing stays on the disk. After Finish it does nothing.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	w.closeTemporary()
	os.RemoveAll(w.dir)
}

// closeTemporary closes what is gone in the end.
func (w *Writer) closeTemporary() {
	w.lock.Close()
	w.chunks.close()
	w.texts.close()
	w.links.close()
	w.untimed.close()
	w.profile.close()
	w.atomics.close()
	w.moments.close()
}

// Report implements trace.Writer.
func (w *Writer) Report(kind trace.ReportKind, what string, count int64, example string) {
	w.reportMu.Lock()
	defer w.reportMu.Unlock()
	w.report.add(kind, what, count, example)
}

// A reportTable adds up report lines, in order of their first appearance.
type reportTable struct {
	entries []trace.ReportEntry
	index   map[reportKey]int
}

type reportKey struct {
	kind trace.ReportKind
	what string
}

func (t *reportTable) init() { t.index = map[reportKey]int{} }

func (t *reportTable) add(kind trace.ReportKind, what string, count int64, example string) {
	k := reportKey{kind, what}
	i, ok := t.index[k]
	if !ok {
		i = len(t.entries)
		t.index[k] = i
		t.entries = append(t.entries, trace.ReportEntry{Kind: kind, What: what})
	}
	e := &t.entries[i]
	e.Count += count
	if e.Example == "" {
		e.Example = example
	}
}
