package importer

import (
	"bytes"
	"io"
	"io/fs"
	"sync"

	"golang.org/x/sync/errgroup"
)

const (
	longestHead  = 64 << 10
	manyFiles    = 512      // of a source with more the heads are shorter
	oneOfMany    = 16 << 10 // as long as this
	shortestHead = 1 << 10
	allHeads     = 128 << 20
	// headReaders is more than the cores: files on a network wait more than they compute.
	headReaders = 16
)

// A headCache keeps the beginnings of the files of one source.
type headCache struct {
	size int // bytes kept of each file
	mu   sync.Mutex
	kept map[string]head
}

type head struct {
	data []byte
	err  error
}

func newHeadCache(files int) *headCache {
	size := longestHead
	if files > manyFiles {
		size = min(oneOfMany, max(shortestHead, allHeads/files))
	}
	return &headCache{size: size, kept: map[string]head{}}
}

// get returns the head of a file. Two goroutines that ask for the same file at the
// same time may both read it.
func (c *headCache) get(fsys fs.FS, path string) ([]byte, error) {
	if c == nil {
		return nil, fs.ErrNotExist
	}
	c.mu.Lock()
	h, ok := c.kept[path]
	c.mu.Unlock()
	if ok {
		return h.data, h.err
	}
	h.data, h.err = readHead(fsys, path, c.size)
	c.mu.Lock()
	c.kept[path] = h
	c.mu.Unlock()
	return h.data, h.err
}

var scratch = sync.Pool{New: func() any { b := make([]byte, longestHead); return &b }}

// readHead returns the bytes that could be read: a file that breaks off within
// its head has a shorter head, not an error.
func readHead(fsys fs.FS, path string, size int) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, closer, err := unpack(f, int64(size))
	if err != nil {
		return nil, err
	}
	defer closer()
	data := *scratch.Get().(*[]byte)
	defer scratch.Put(&data)
	n, err := io.ReadFull(r, data[:size])
	if n > 0 || err == io.EOF {
		err = nil
	}
	return append([]byte(nil), data[:n]...), err
}

// IsText reports whether a head may be the beginning of a text: none of its first few
// hundred bytes is zero.
func IsText(head []byte) bool { return bytes.IndexByte(head[:min(len(head), 512)], 0) < 0 }

// prefetch reads the heads of all files, many at once.
func (c *headCache) prefetch(s Source) {
	var g errgroup.Group
	g.SetLimit(headReaders)
	for _, f := range s.Files {
		g.Go(func() error {
			c.get(s.FS, f.Path)
			return nil
		})
	}
	g.Wait()
}
