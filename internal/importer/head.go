package importer

import (
	"bytes"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"

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
	size  int    // bytes kept of each file
	files []File // sorted by path
	heads []head // of the files
	place func() map[string]int
}

type head struct {
	once sync.Once
	data []byte
	err  error
}

func newHeadCache(files []File) *headCache {
	c := &headCache{size: longestHead, files: files, heads: make([]head, len(files))}
	if n := len(files); n > manyFiles {
		c.size = min(oneOfMany, max(shortestHead, allHeads/n))
	}
	c.place = sync.OnceValue(func() map[string]int {
		of := make(map[string]int, len(files))
		for i := range files {
			of[files[i].Path] = i
		}
		return of
	})
	return c
}

// get returns the head of a file; at is where the caller found the last one, if it has such a place.
func (c *headCache) get(fsys fs.FS, path string, at *atomic.Int64) ([]byte, error) {
	if c == nil {
		return nil, fs.ErrNotExist
	}
	i, ok := c.find(path, at)
	if !ok {
		return readHead(fsys, path, c.size)
	}
	return c.read(fsys, i)
}

// find returns the number of a file. A claim goes through the files in order, and a source may have a million: so it
// looks at the file that was asked for last and at the next before it asks the map.
func (c *headCache) find(path string, at *atomic.Int64) (int, bool) {
	if at == nil {
		i, ok := c.place()[path]
		return i, ok
	}
	last := int(at.Load())
	for i := last; i < min(last+2, len(c.files)); i++ {
		if c.files[i].Path == path {
			at.Store(int64(i))
			return i, true
		}
	}
	i, ok := c.place()[path]
	if ok {
		at.Store(int64(i))
	}
	return i, ok
}

// read returns the head of the i-th file, which is read once.
func (c *headCache) read(fsys fs.FS, i int) ([]byte, error) {
	h := &c.heads[i]
	h.once.Do(func() { h.data, h.err = readHead(fsys, c.files[i].Path, c.size) })
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
	var next atomic.Int64
	for range min(headReaders, len(s.Files)) {
		g.Go(func() error {
			for i := int(next.Add(1)) - 1; i < len(c.files); i = int(next.Add(1)) - 1 {
				c.read(s.FS, i)
			}
			return nil
		})
	}
	g.Wait()
}
