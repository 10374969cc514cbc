package write

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/parallax-hpc/parallax/internal/spool"
)

// Bounds of the strings that a textTable remembers to find them again. Past them it forgets all and starts anew, so
// that memory stays bounded: a text may then be kept twice.
const (
	maxTexts     = 1 << 18
	maxTextBytes = 32 << 20
)

// A textTable numbers the strings that are values of attributes and writes them
// down as they come.
type textTable struct {
	mu      sync.Mutex
	ids     map[string]uint64
	recent  [recentTexts]atomic.Pointer[recentText]
	known   int // bytes in ids
	forgot  bool
	count   uint64
	written uint64
	bytes   *bufio.Writer
	offsets *bufio.Writer
	files   []*os.File
	err     error
}

// A recentText is a text that was given not long ago. The same text in the same memory is recognised without reading
// its bytes: readers give one stack or one message again and again, and JSON readers reuse one string for a frequent
// text. It is also found without the lock, for which readers on many cores would wait.
type recentText struct {
	text string
	id   uint64
}

const (
	recentTexts = 512
	longestText = 4096 // that is kept as recent
)

// slot returns the slot of a text among the recent ones; nil for none.
func (t *textTable) slot(s string) *atomic.Pointer[recentText] {
	if len(s) == 0 || len(s) > longestText {
		return nil
	}
	at := uint64(uintptr(unsafe.Pointer(unsafe.StringData(s))))
	return &t.recent[at*0x9e3779b97f4a7c15>>55]
}

func newTextTable(dir string) (*textTable, error) {
	t := &textTable{ids: map[string]uint64{}}
	for _, name := range []string{"text.bytes.u8", "text.offset.u64"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.close()
			return nil, err
		}
		t.files = append(t.files, f)
	}
	t.bytes = bufio.NewWriterSize(t.files[0], 1<<16)
	t.offsets = bufio.NewWriterSize(t.files[1], 1<<16)
	t.offset()
	return t, nil
}

// add returns the number of a text.
func (t *textTable) add(s string) uint64 {
	slot := t.slot(s)
	if slot != nil {
		if r := slot.Load(); r != nil && len(r.text) == len(s) && unsafe.StringData(r.text) == unsafe.StringData(s) {
			return r.id
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	id := t.number(s)
	if slot != nil {
		slot.Store(&recentText{s, id})
	}
	return id
}

// number finds the number of a text, or gives it one.
func (t *textTable) number(s string) uint64 {
	if id, ok := t.ids[s]; ok {
		return id
	}
	if len(t.ids) >= maxTexts || t.known+len(s) > maxTextBytes {
		clear(t.ids)
		t.known, t.forgot = 0, true
	}
	id := t.count
	t.count++
	s = strings.Clone(s)
	t.ids[s] = id
	t.known += len(s)
	_, err := t.bytes.WriteString(s)
	t.fail(err)
	t.written += uint64(len(s))
	t.offset()
	return id
}

// Count returns the number of strings.
func (t *textTable) Count() uint64 { return t.count }

// Forgot reports whether some strings may be there twice.
func (t *textTable) Forgot() bool { return t.forgot }

func (t *textTable) offset() {
	_, err := t.offsets.Write(spool.BytesOf([]uint64{t.written}))
	t.fail(err)
}

func (t *textTable) fail(err error) {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("write strings: %w", err)
	}
}

func (t *textTable) Finish() error {
	t.fail(t.bytes.Flush())
	t.fail(t.offsets.Flush())
	t.ids = nil
	for i := range t.recent {
		t.recent[i].Store(nil)
	}
	t.close()
	return t.err
}

func (t *textTable) close() {
	for _, f := range t.files {
		f.Close()
	}
	t.files = nil
}
