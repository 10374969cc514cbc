package receive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/sealed"
)

// A log is a row of files of requests. Requests that come while others are written are
// written together, and synchronised once.
type log struct {
	dir   string
	limit int64
	keep  time.Duration
	lock  *os.File

	mu      sync.Mutex
	work    sync.Cond  // a batch waits, or the log closes
	waiting *batch     // to be written next; nil: none
	files   []*segment // ascending; the last may be open
	closed  bool
	rotated int64
	cut     int64
	mended  int64         // lengths
	damaged int64         // requests
	ended   chan struct{} // closed when all is written

	// Used only by the goroutine that writes.
	file   logFile
	create func(path string) (logFile, error)
}

// A logFile is the part of a file that the log needs; tests have some that fail.
type logFile interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

func createFile(path string) (logFile, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// A batch is requests that are written together.
type batch struct {
	bytes []byte
	done  chan struct{} // closed when err is set
	err   error
}

// A segment is one file. Its size counts the bytes that are synchronised to disk.
type segment struct {
	path          string
	size          int64
	first, newest time.Time // of requests
}

const (
	rollAge   = time.Minute
	rollBytes = 64 << 20
)

var errClosed = errors.New("the log is closed")

// openLog opens the log in a directory, or makes it. A request that a killed process left half written at the end was
// not acknowledged, and is cut.
func openLog(dir string, limit int64, keep time.Duration) (*log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the log: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	if partial.TryLock(lock) != nil {
		lock.Close()
		return nil, fmt.Errorf("another process receives into %s; name another directory", dir)
	}
	l := &log{dir: dir, limit: limit, keep: keep, lock: lock, ended: make(chan struct{}), create: createFile}
	l.work.L = &l.mu
	if err := l.list(); err != nil {
		lock.Close()
		return nil, err
	}
	go l.write()
	return l, nil
}

// SegmentName returns the name of a file of the log by its number.
func SegmentName(n int) string { return fmt.Sprintf("spans-%08d.otlp", n) }

func numberOf(path string) (n int) {
	_, _ = fmt.Sscanf(filepath.Base(path), "spans-%d.otlp", &n)
	return n
}

// list finds the files of the log, mends lengths of the last one and cuts it behind its last whole request.
func (l *log) list() error {
	paths, err := filepath.Glob(filepath.Join(l.dir, "spans-*.otlp"))
	if err != nil {
		return err
	}
	slices.SortFunc(paths, func(a, b string) int { return numberOf(a) - numberOf(b) })
	for i, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return fmt.Errorf("open the log: %w", err)
		}
		s := &segment{path: p, size: info.Size(), first: info.ModTime(), newest: info.ModTime()}
		if i == len(paths)-1 {
			if s.size, err = l.mend(p); err != nil {
				return fmt.Errorf("open the log: %s: %w", p, err)
			}
			if s.size == 0 {
				if err := os.Remove(p); err != nil {
					return fmt.Errorf("open the log: %w", err)
				}
				continue
			}
		}
		l.files = append(l.files, s)
	}
	return nil
}

// mend makes a file whole again after a kill or damage, and returns its size: a length that is damaged is written
// anew, and bytes after the last request are cut. Requests whose bytes are damaged stay, and are counted.
func (l *log) mend(path string) (size int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return 0, err
	}
	changed, rest := false, b
	for len(rest) > 0 {
		r, ok := sealed.Next(rest)
		if !ok {
			break
		}
		if r.Message == nil {
			l.damaged++
		}
		if r.Length {
			l.mended++
			length := binary.BigEndian.AppendUint32(nil, uint32(r.Size-4))
			if _, err := f.WriteAt(length, int64(len(b)-len(rest))); err != nil {
				return 0, err
			}
			changed = true
		}
		rest = rest[r.Size:]
	}
	rest = rest[wholeUpTo(rest):] // requests of versions that did not seal them
	if size = int64(len(b) - len(rest)); len(rest) > 0 {
		l.cut += int64(len(rest))
		if err := f.Truncate(size); err != nil {
			return 0, err
		}
		changed = true
	}
	if changed {
		err = f.Sync()
	}
	return size, err
}

// wholeUpTo returns the end of the last whole request without a seal.
func wholeUpTo(b []byte) (at int) {
	for {
		if len(b) < at+4 {
			return at
		}
		n := int64(binary.BigEndian.Uint32(b[at:]))
		if n == 0 || int64(at)+4+n > int64(len(b)) {
			return at
		}
		if _, ok := countSpans(b[at+4 : at+4+int(n)]); !ok {
			return at // space that was given to the file, and never written
		}
		at += 4 + int(n)
	}
}

// append writes a request; when it returns nil, it is on disk.
func (l *log) append(request []byte) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return errClosed
	}
	if l.waiting == nil {
		l.waiting = &batch{done: make(chan struct{})}
		l.work.Signal()
	}
	b := l.waiting
	b.bytes = sealed.Append(b.bytes, request)
	l.mu.Unlock()
	<-b.done
	return b.err
}

// write runs in the goroutine that writes, one batch at a time.
func (l *log) write() {
	defer close(l.ended)
	for {
		l.mu.Lock()
		for l.waiting == nil && !l.closed {
			l.work.Wait()
		}
		b := l.waiting
		l.waiting = nil
		l.mu.Unlock()
		if b == nil {
			return
		}
		b.err = l.commit(b.bytes)
		close(b.done)
	}
}

// commit appends bytes to the newest file and synchronises it.
func (l *log) commit(bytes []byte) error {
	now := time.Now()
	s := l.newest()
	if l.file != nil && (s.size >= l.roll() || now.Sub(s.first) >= rollAge) {
		_ = l.file.Close() // it is synchronised
		l.file = nil
	}
	if l.file == nil {
		var err error
		if s, err = l.begin(now); err != nil {
			return err
		}
	}
	_, err := l.file.Write(bytes)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		// The part that was written is not acknowledged: the file ends before it.
		_ = l.file.Truncate(s.size)
		_ = l.file.Close()
		l.file = nil
		return err
	}
	l.mu.Lock()
	s.size += int64(len(bytes))
	s.newest = now
	l.mu.Unlock()
	l.rotate(now)
	return nil
}

// roll returns how large a file may become: a part of the limit, so that rotation is fine enough.
func (l *log) roll() int64 { return min(rollBytes, max(l.limit/16, 1<<16)) }

func (l *log) newest() *segment {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.files) == 0 {
		return &segment{}
	}
	return l.files[len(l.files)-1]
}

// begin opens a new file, whose name is on disk when it returns.
func (l *log) begin(now time.Time) (*segment, error) {
	s := &segment{path: filepath.Join(l.dir, SegmentName(numberOf(l.newest().path)+1)), first: now, newest: now}
	f, err := l.create(s.path)
	if err != nil {
		return nil, err
	}
	if err := partial.SyncDir(l.dir); err != nil {
		f.Close()
		_ = os.Remove(s.path)
		return nil, err
	}
	l.file = f
	l.mu.Lock()
	l.files = append(l.files, s)
	l.mu.Unlock()
	return s, nil
}

// rotate removes the oldest files beyond the limit, and those that are too old. The newest stays.
func (l *log) rotate(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var sum int64
	for _, s := range l.files {
		sum += s.size
	}
	for len(l.files) > 1 && (sum > l.limit || l.keep > 0 && now.Sub(l.files[0].newest) > l.keep) {
		s := l.files[0]
		if os.Remove(s.path) != nil && sum <= 2*l.limit {
			return // another process reads it, on systems that lock; it goes the next time
		}
		sum -= s.size
		l.rotated += s.size
		l.files = l.files[1:]
	}
}

// gone adds the losses of the log to counts.
func (l *log) gone(c *Counts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.RotatedBytes, c.CutBytes, c.MendedLengths, c.DamagedRequests = l.rotated, l.cut, l.mended, l.damaged
}

func (l *log) close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.work.Signal()
	l.mu.Unlock()
	<-l.ended
	var err error
	if l.file != nil {
		err = l.file.Close()
	}
	return errors.Join(err, l.lock.Close())
}
