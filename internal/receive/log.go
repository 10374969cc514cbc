package receive

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
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
	ended   chan struct{} // closed when all is written

	// Of the goroutine that writes.
	file *os.File
}

// A batch is requests that are written together.
type batch struct {
	bytes []byte
	done  chan struct{} // closed when err is set
	err   error
}

// A segment is one file. Its size is what is on disk for good.
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

// openLog opens the log in a directory, or makes it. What a killed process left half
// written at the end was not acknowledged, and is cut.
func openLog(dir string, limit int64, keep time.Duration) (*log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the log: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	if disk.TryLock(lock) != nil {
		lock.Close()
		return nil, fmt.Errorf("another process receives into %s; name another directory", dir)
	}
	l := &log{dir: dir, limit: limit, keep: keep, lock: lock, ended: make(chan struct{})}
	l.work.L = &l.mu
	if err := l.list(); err != nil {
		lock.Close()
		return nil, err
	}
	go l.write()
	return l, nil
}

// SegmentName is the name of a file of the log by its number.
func SegmentName(n int) string { return fmt.Sprintf("spans-%08d.otlp", n) }

func numberOf(path string) (n int) {
	_, _ = fmt.Sscanf(filepath.Base(path), "spans-%d.otlp", &n)
	return n
}

// list finds the files of the log and cuts the last one behind its last whole request.
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
			if s.size, err = wholeUpTo(p); err != nil {
				return fmt.Errorf("open the log: %s: %w", p, err)
			}
			if s.size < info.Size() {
				l.cut += info.Size() - s.size
				if err := os.Truncate(p, s.size); err != nil {
					return fmt.Errorf("open the log: %w", err)
				}
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

// wholeUpTo is where the last whole request of a file ends.
func wholeUpTo(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	in, at := bufio.NewReaderSize(f, 1<<20), int64(0)
	var body []byte
	for {
		var head [4]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return at, nil
		}
		n := int64(binary.BigEndian.Uint32(head[:]))
		if n == 0 || at+4+n > info.Size() {
			return at, nil
		}
		body = slices.Grow(body[:0], int(n))[:n]
		if _, err := io.ReadFull(in, body); err != nil {
			return at, nil
		}
		if _, ok := countSpans(body); !ok {
			return at, nil // room that was given to the file, and never written
		}
		at += 4 + n
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
	b.bytes = binary.BigEndian.AppendUint32(b.bytes, uint32(len(request)))
	b.bytes = append(b.bytes, request...)
	l.mu.Unlock()
	<-b.done
	return b.err
}

// write is the goroutine that writes, a batch at a time.
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
		// What is there of it is not acknowledged: the file ends before it.
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

// roll is how large a file may become: a part of the limit, so that rotation is fine enough.
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
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := disk.SyncDir(l.dir); err != nil {
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
			return // somebody reads it, on systems that mind; it goes the next time
		}
		sum -= s.size
		l.rotated += s.size
		l.files = l.files[1:]
	}
}

func (l *log) gone() (rotated, cut int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rotated, l.cut
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
