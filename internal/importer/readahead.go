package importer

import (
	"fmt"
	"io"
	"sync"
)

const (
	aheadChunk  = 512 << 10
	aheadChunks = 4 // memory of one open file: 2 MiB
)

// readAhead unpacks on a goroutine of its own, so that unpacking and parsing
// overlap. Its errors are *Error.
type readAhead struct {
	label  string
	full   chan chunk
	free   chan []byte
	stop   chan struct{}
	once   sync.Once
	ended  chan struct{}
	closer func() error

	now chunk // the rest of the chunk being read
	all []byte
}

type chunk struct {
	data []byte
	err  error
}

func newReadAhead(r io.Reader, label string, closer func() error) *readAhead {
	a := &readAhead{
		label: label, closer: closer,
		full: make(chan chunk, aheadChunks), free: make(chan []byte, aheadChunks),
		stop: make(chan struct{}), ended: make(chan struct{}),
	}
	for range aheadChunks {
		a.free <- nil
	}
	go a.run(r)
	return a
}

// chunks are used again: a run may have ten thousand files.
var chunks = sync.Pool{New: func() any { b := make([]byte, aheadChunk); return &b }}

func (a *readAhead) run(r io.Reader) {
	defer close(a.ended)
	defer close(a.full)
	for {
		var buf []byte
		select {
		case buf = <-a.free:
		case <-a.stop:
			return
		}
		if buf == nil {
			buf = *chunks.Get().(*[]byte)
		}
		n, err := fill(r, buf)
		select {
		case a.full <- chunk{buf[:n], err}:
		case <-a.stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// fill reads until buf is full. A panic of an unpacker on hostile data becomes
// an error: no other code could catch it on this goroutine.
func fill(r io.Reader, buf []byte) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("unpacking failed: %v", p)
		}
	}()
	for n < len(buf) && err == nil {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	return n, err
}

func (a *readAhead) Read(p []byte) (int, error) {
	for len(a.now.data) == 0 {
		if a.now.err == io.EOF {
			return 0, io.EOF
		}
		if a.now.err == io.ErrClosedPipe {
			return 0, a.now.err
		}
		if a.now.err != nil {
			return 0,
				&Error{File: a.label, Cause: a.now.err.Error(), Hint: "copy or record it again", Kind: ErrMalformed}
		}
		if a.all != nil {
			a.free <- a.all
			a.all = nil
		}
		c, ok := <-a.full
		if !ok {
			return 0, io.ErrClosedPipe
		}
		a.now, a.all = c, c.data[:cap(c.data)]
	}
	n := copy(p, a.now.data)
	a.now.data = a.now.data[n:]
	return n, nil
}

// Close stops the goroutine and waits for it, since it uses the file.
func (a *readAhead) Close() error {
	var err error
	a.once.Do(func() {
		close(a.stop)
		<-a.ended
		a.recycle()
		err = a.closer()
	})
	return err
}

// recycle releases all chunks that are no longer read.
func (a *readAhead) recycle() {
	give := func(b []byte) {
		if cap(b) == aheadChunk {
			b = b[:aheadChunk]
			chunks.Put(&b)
		}
	}
	give(a.all)
	a.now, a.all = chunk{err: io.ErrClosedPipe}, nil
	for c := range a.full { // closed by run
		give(c.data)
	}
	for {
		select {
		case b := <-a.free:
			give(b)
		default:
			return
		}
	}
}
