// Package write takes a trace and keeps it in temporary files until it is finished.
//
// Streams pack their records into words and chunks (stream.go, chunk.go); definitions
// stay in memory (define.go); links and profiles go to spools (given.go). Memory is
// bounded but for definitions.
package write

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Writer takes a trace and keeps it in temporary files. Create makes one; Finish or Abort ends it.
type Writer struct {
	Opt  Options
	Path string // where the store will be
	Dir  string // where it is written: beside path
	Temp string // inside dir, for files that are removed in the end
	lock *partial.Lock

	Chunks *chunkSpool
	Texts  *textTable

	// Streams check their ids against these without a lock: the number of regions, and the counters.
	regions  atomic.Uint32
	counters atomic.Pointer[[]*Series]
	variants atomic.Pointer[[]variant]

	mu      sync.Mutex
	Def     Definitions
	Streams []*Stream // by location, nil where none was asked for

	rowMu       sync.Mutex
	LinkRows    *spool.Spool[LinkRecord]
	UntimedRows *spool.Spool[LinkRecord]
	ProfileRows *spool.Spool[trace.ProfileRow]
	LineRows    *spool.Spool[trace.LineRow]
	AtomicRows  *Ahead[trace.AtomicRow]
	MomentRows  *Ahead[MomentRecord]
	momentBatch []MomentRecord
	Kin         map[trace.LocationID][]uint32 // see kinship
	Far         []FarKin                      // callers at other locations, as they were told
	anyByParent atomic.Bool
	LinkSpan    span
	Covered     span                     // the time span of records other than links and streams
	Meetings    *spool.Spool[Attendance] // collective operations
	Backwards   bool                     // a message or collective has an effect before its cause
	LooseLinks  bool                     // links have ends that must be looked for
	RowErr      error                    // first failure of a spool

	reportMu sync.Mutex
	Told     reportTable

	shared   *shared     // of the writer of a part that is read by itself
	Parts    []*ReadPart // that were read, where the Writer has the records of them all
	Messages bool        // in these parts there are messages from one clock to another
	Met      bool        // and meetings
	LinkedIn []string    // files that have links of these parts, each in order
	MetIn    []string    // files that have meetings

	Done bool
}

// A span is the first and last time of anything seen; empty until any.
type span struct {
	First, Last trace.Time
	Any         bool
}

func (s *span) See(t trace.Time) {
	if !s.Any {
		s.First, s.Last, s.Any = t, t, true
		return
	}
	s.First, s.Last = min(s.First, t), max(s.Last, t)
}

// Create starts a store that will be at path. Its files are next to it under a temporary name until Finish. A store
// already at path is replaced then; anything else there is refused.
func Create(path string, o Options) (*Writer, error) {
	o = o.WithDefaults()
	if !spool.LittleEndian() {
		return nil, errors.New("create store: this machine is big endian; stores are little endian")
	}
	if err := Replaceable(path); err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	parent := filepath.Dir(filepath.Clean(path))
	partial.RemoveStale(parent)
	dir, err := os.MkdirTemp(parent, "."+filepath.Base(path)+partial.PartMark)
	if err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	w := &Writer{Opt: o, Path: path, Dir: dir, Temp: filepath.Join(dir, partial.TempName)}
	if err := w.start(); err != nil {
		w.lock.Close()
		os.RemoveAll(dir)
		return nil, fmt.Errorf("create store: %w", err)
	}
	return w, nil
}

func (w *Writer) start() error {
	var err error
	if err := os.Mkdir(w.Temp, 0o700); err != nil {
		return err
	}
	if w.lock, err = partial.LockDir(w.Temp); err != nil {
		return err
	}
	if w.Chunks, err = newChunkSpool(w.Temp, w.Opt.Memory/2); err != nil {
		return err
	}
	if w.Texts, err = newTextTable(w.Dir); err != nil {
		w.Chunks.Close()
		return err
	}
	share := w.Opt.Memory / 16
	w.LinkRows = spool.NewSortedSpool(w.Temp, share, ByStart)
	w.UntimedRows = spool.NewSpool[LinkRecord](w.Temp, share/4)
	w.Meetings = spool.NewSpool[Attendance](w.Temp, share/4)
	w.ProfileRows = spool.NewSortedSpool(w.Temp, share, ByPath)
	w.LineRows = spool.NewSortedSpool(w.Temp, share/4, ByLine)
	w.startAhead(share)
	w.Kin = map[trace.LocationID][]uint32{}
	w.Def.init()
	w.Told.init()
	if w.Opt.Shared {
		return w.startShared()
	}
	return nil
}

// Replaceable refuses a path that holds something other than a store.
func Replaceable(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err := os.Lstat(disk.ManifestPath(path)); err == nil || disk.IsPart(path) {
			return nil
		}
		if entries, err := os.ReadDir(path); err == nil && len(entries) == 0 || errors.Is(err, os.ErrNotExist) {
			return nil
		}
	}
	return fmt.Errorf("%s exists and is not a store; remove it or choose another name", path)
}

// Abort gives up: nothing stays on the disk. After Finish it does nothing.
func (w *Writer) Abort() {
	if w.Done {
		return
	}
	w.Done = true
	w.CloseTemporary()
	os.RemoveAll(w.Dir)
}

// CloseTemporary closes the files that are removed in the end.
func (w *Writer) CloseTemporary() {
	w.lock.Close()
	w.shared.close()
	w.Chunks.Close()
	w.Texts.close()
	w.LinkRows.Close()
	w.UntimedRows.Close()
	w.Meetings.Close()
	w.ProfileRows.Close()
	w.LineRows.Close()
	w.AtomicRows.close()
	w.MomentRows.close()
}

// Report implements trace.Writer.
func (w *Writer) Report(kind trace.ReportKind, what string, count int64, example string) {
	w.reportMu.Lock()
	defer w.reportMu.Unlock()
	w.Told.add(kind, what, count, example)
}

// A reportTable adds up report lines, in order of their first appearance.
type reportTable struct {
	Entries []trace.ReportEntry
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
		i = len(t.Entries)
		t.index[k] = i
		t.Entries = append(t.Entries, trace.ReportEntry{Kind: kind, What: what})
	}
	e := &t.Entries[i]
	e.Count += count
	if e.Example == "" {
		e.Example = example
	}
}

// Replace renames dir to path. A store that is there is moved out of the way
// first and removed last, so that path holds a whole store at all times but one.
// Others may do the same at the same time: the last one stays.
func Replace(dir, path string) error {
	return cmp.Or(ReplacePassing(dir, path), partial.SyncDir(filepath.Dir(filepath.Clean(path))))
}

// ReplacePassing is Replace of a directory that is soon used and removed: nobody waits for the disk.
func ReplacePassing(dir, path string) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	old := dir + ".old"
	for tries := 0; ; tries++ {
		err := os.Rename(dir, path)
		if err == nil {
			break
		}
		if err := Replaceable(path); err != nil {
			return err
		}
		if tries == mostTries {
			return err
		}
		if err := os.Rename(path, old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err = os.Rename(dir, path); err == nil {
			break
		}
		if os.Rename(old, path) != nil { // another one is there by now
			_ = os.RemoveAll(old)
		}
	}
	_ = os.RemoveAll(old)
	return nil
}

// mostTries is how often a store is put in its place while others put theirs there.
const mostTries = 50
