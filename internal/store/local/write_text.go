package local

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Bounds of what a textTable remembers in order to find texts again. Past them it
// forgets all and starts anew, so that memory stays bounded: a text may then be
// kept twice.
const (
	maxTexts     = 1 << 18
	maxTextBytes = 32 << 20
)

// A textTable numbers the texts that are values of attributes and writes them
// down as they come.
type textTable struct {
	mu      sync.Mutex
	ids     map[string]uint64
	known   int // bytes in ids
	count   uint64
	written uint64
	bytes   *bufio.Writer
	offsets *bufio.Writer
	files   []*os.File
	err     error
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

// add gives the number of a text.
func (t *textTable) add(s string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.ids[s]; ok {
		return id
	}
	if len(t.ids) >= maxTexts || t.known+len(s) > maxTextBytes {
		clear(t.ids)
		t.known = 0
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

func (t *textTable) offset() {
	_, err := t.offsets.Write(bytesOf([]uint64{t.written}))
	t.fail(err)
}

func (t *textTable) fail(err error) {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("write texts: %w", err)
	}
}

func (t *textTable) finish() error {
	t.fail(t.bytes.Flush())
	t.fail(t.offsets.Flush())
	t.ids = nil
	t.close()
	return t.err
}

func (t *textTable) close() {
	for _, f := range t.files {
		f.Close()
	}
	t.files = nil
}
