package otf2

import (
	"errors"
	"io"
)

const (
	firstBuffer = 256 << 10
	// mostBuffer is the largest record that is believed: no chunk is longer.
	mostBuffer = 16 << 20
)

// An input is a window on a file that moves forward: the bytes not yet used are
// buf[pos:end]. It grows only for a record that is longer, and only as far as
// bytes arrive.
type input struct {
	r        io.Reader
	buf      []byte
	pos, end int
	base     int64 // of buf[0] in the file
	err      error // why no more can be read; io.EOF at the end
}

func (in *input) reset(r io.Reader) {
	if in.buf == nil {
		in.buf = make([]byte, firstBuffer)
	}
	*in = input{r: r, buf: in.buf}
}

// offset of the next byte in the file.
func (in *input) offset() int64 { return in.base + int64(in.pos) }

// have makes n bytes available, or all there are; it reports whether there are n.
func (in *input) have(n int) bool {
	for in.end-in.pos < n {
		if in.err != nil || n > mostBuffer {
			return false
		}
		if in.pos > 0 {
			copy(in.buf, in.buf[in.pos:in.end])
			in.base += int64(in.pos)
			in.pos, in.end = 0, in.end-in.pos
		}
		if in.end == len(in.buf) {
			in.buf = append(in.buf, make([]byte, len(in.buf))...)
		}
		m, err := in.r.Read(in.buf[in.end:])
		in.end += m
		in.err = err
	}
	return true
}

// next returns the next n bytes without using them up; fewer only at the end.
func (in *input) next(n int) []byte {
	in.have(n)
	return in.buf[in.pos:min(in.pos+n, in.end)]
}

// failure is the error that ended the file; nil at its end.
func (in *input) failure() error {
	if in.err == nil || errors.Is(in.err, io.EOF) {
		return nil
	}
	return in.err
}
