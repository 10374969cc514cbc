package paraver

import (
	"bytes"
	"context"
	"io"
)

// longest is how long a line may be: headers of large machines are.
const longest = 64 << 20

// A lineReader yields lines without copying them.
type lineReader struct {
	r          io.Reader
	buf        []byte
	begin, end int // of the bytes read and not yet handed out
	line       int64
	long       int64 // lines that were too long
	err        error
}

// next returns the next line, without its end; with the last one comes io.EOF or
// the error that ended the file. The context is asked once a buffer.
func (l *lineReader) next(ctx context.Context) ([]byte, error) {
	for from := l.begin; ; {
		if i := bytes.IndexByte(l.buf[from:l.end], '\n'); i >= 0 {
			line := l.buf[l.begin : from+i]
			l.begin = from + i + 1
			l.line++
			return line, nil
		}
		if l.err != nil {
			line := l.buf[l.begin:l.end]
			l.begin = l.end
			l.line++
			return line, l.err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from = l.fill()
	}
}

// fill reads more, and returns where to look on for the end of a line.
func (l *lineReader) fill() int {
	have := copy(l.buf, l.buf[l.begin:l.end])
	l.begin, l.end = 0, have
	if have == len(l.buf) {
		if len(l.buf) >= longest {
			return l.drop()
		}
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := io.ReadAtLeast(l.r, l.buf[have:], 1)
	l.end += n
	l.err = err
	return have
}

// drop passes over a line that is too long: its bytes so far are dropped, and so is
// the rest when its end comes, as a line of its own that begins nowhere.
func (l *lineReader) drop() int {
	l.long++
	for {
		n, err := l.r.Read(l.buf)
		if i := bytes.IndexByte(l.buf[:n], '\n'); i >= 0 {
			l.begin, l.end, l.err = i+1, n, err
			l.line++
			return l.begin
		}
		if err != nil {
			l.begin, l.end, l.err = 0, 0, err
			return 0
		}
	}
}
