// Package jsonstream reads JSON for importers: a Reader walks a file of any size and holds one value
// at a time, a Cursor walks a value without building anything. Both forgive commas that are missing
// or too many, and give their place, so that parts left out can be reported.
package jsonstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Reader reads JSON from a stream, one value of a list or object after the
// other, and remembers where it is. Only the value at hand is in memory.
type Reader struct {
	ctx        context.Context
	r          io.Reader
	label      string
	leave      Leave
	buf        []byte
	begin, end int
	base       int64 // offset in the file of buf[0]
	failed     error // of reading
	depth      int   // of lists and objects that are being read
	cursor     Cursor
}

const (
	// largestValue bounds the bytes held for one value.
	largestValue = 256 << 20
	// deepest bounds how deep lists and objects are read within each other: readers of trees are recursive.
	deepest = 10_000
)

var (
	errSyntax = errors.New("is no JSON")
	errDeep   = fmt.Errorf("is nested more than %d deep", deepest)
	errLarge  = fmt.Errorf("holds a value of more than %d bytes", largestValue)
)

// A Leave is told each part that is left out, with its consequence and its place.
type Leave func(consequence trace.ReportKind, what, place string)

// Reporter adds parts that are left out to the import report.
func Reporter(w trace.Writer) Leave {
	return func(consequence trace.ReportKind, what, place string) { w.Report(consequence, what, 1, place) }
}

// Silent forgets parts that are left out.
func Silent(trace.ReportKind, string, string) {}

// NewReader reads from r; label names the file, and leave is told each part left out, and its place.
func NewReader(ctx context.Context, r io.Reader, label string, leave Leave) *Reader {
	return &Reader{ctx: ctx, r: r, label: label, leave: leave, buf: make([]byte, 128<<10)}
}

// Offset is where the reader is in the file.
func (r *Reader) Offset() int64 { return r.base + int64(r.begin) }

// Place is where the reader is, for reports.
func (r *Reader) Place() string { return Place(r.label, r.Offset()) }

// Place names a byte of a file.
func Place(label string, offset int64) string { return fmt.Sprintf("%s: byte %d", label, offset) }

// fill reads more. Unread bytes move to the front, and a full buffer doubles.
func (r *Reader) fill() error {
	if r.failed != nil {
		return r.failed
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.begin > 0 {
		copy(r.buf, r.buf[r.begin:r.end])
		r.base += int64(r.begin)
		r.end -= r.begin
		r.begin = 0
	}
	if r.end == len(r.buf) {
		if len(r.buf) >= largestValue {
			return errLarge
		}
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	n, err := r.r.Read(r.buf[r.end:])
	r.end += n
	r.failed = err
	if n > 0 {
		return nil
	}
	return err
}

// peek returns the first byte of the next value or bracket, after any commas.
func (r *Reader) peek() (byte, error) {
	for {
		for ; r.begin < r.end; r.begin++ {
			switch b := r.buf[r.begin]; b {
			case ' ', '\t', '\r', '\n', ',':
			default:
				return b, nil
			}
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
}

// Value is the next value as it is written, valid until the next call.
func (r *Reader) Value() ([]byte, error) {
	first, err := r.peek()
	if err != nil {
		return nil, err
	}
	if first != '{' && first != '[' && first != '"' {
		return r.literal()
	}
	var s scan
	seen := 0
	for {
		n, done := s.over(r.buf[r.begin+seen : r.end])
		if seen += n; done {
			v := r.buf[r.begin : r.begin+seen]
			r.begin += seen
			return v, nil
		}
		if err := r.fill(); err != nil {
			return nil, early(err)
		}
	}
}

// literal is a number, a truth value or null.
func (r *Reader) literal() ([]byte, error) {
	for n := 0; ; n++ {
		if r.begin+n == r.end {
			if err := r.fill(); err != nil && err != io.EOF {
				return nil, err
			}
		}
		if at := r.begin + n; at == r.end || isEnd(r.buf[at]) {
			if n == 0 {
				return nil, errSyntax
			}
			v := r.buf[r.begin:at]
			r.begin = at
			return v, nil
		}
		if n > 1<<10 {
			return nil, errSyntax
		}
	}
}

func isEnd(b byte) bool {
	switch b {
	case ' ', '\t', '\r', '\n', ',', ':', ']', '}', '[', '{', '"':
		return true
	}
	return false
}

// Hold keeps the next value for later, in a Reader of its own.
func (r *Reader) Hold() (*Reader, error) {
	if _, err := r.peek(); err != nil {
		return nil, err
	}
	at := r.Offset()
	v, err := r.Value()
	if err != nil {
		return nil, err
	}
	held := &Reader{ctx: r.ctx, label: r.label, leave: r.leave, buf: bytes.Clone(v), end: len(v), base: at,
		failed: io.EOF, depth: r.depth}
	return held, nil
}

// Skip leaves out the next value, of whatever size.
func (r *Reader) Skip() error {
	first, err := r.peek()
	if err != nil {
		return err
	}
	if first != '{' && first != '[' && first != '"' {
		_, err := r.literal()
		return err
	}
	var s scan
	for {
		n, done := s.over(r.buf[r.begin:r.end])
		if r.begin += n; done {
			return nil
		}
		if err := r.fill(); err != nil {
			return early(err)
		}
	}
}

// Take passes the next value to f, as a cursor. A value with something of a wrong
// type in it is counted and left out: ok is false and err nil.
func (r *Reader) Take(f func(c *Cursor)) (ok bool, err error) {
	v, err := r.Value()
	if err != nil {
		return false, err
	}
	r.cursor.Reset(v)
	f(&r.cursor)
	if r.cursor.Bad {
		if r.cursor.depth == deepest {
			return false, errDeep
		}
		return false, errSyntax
	}
	if r.cursor.Wrong {
		r.Leave(trace.MissingEvents, "records with a value of the wrong type")
		return false, nil
	}
	return true, nil
}

// Walk is Take for values that come often. They are walked in the buffer, without a search for their end before. So
// f must read the whole value, and begin anew if it is called again: for a value that goes on beyond the buffer.
func (r *Reader) Walk(f func(c *Cursor)) (ok bool, err error) {
	first, err := r.peek()
	if err != nil {
		return false, err
	}
	if r.end-r.begin < lowWater && r.failed == nil {
		if err := r.fill(); err != nil && err != io.EOF {
			return false, err
		}
	}
	r.cursor.Reset(r.buf[r.begin:r.end])
	f(&r.cursor)
	if n := r.cursor.i; first == '{' && !r.cursor.Bad && !r.cursor.Wrong && n > 0 && r.cursor.b[n-1] == '}' {
		r.begin += n
		return true, nil
	}
	return r.Take(f)
}

// lowWater is how much of the buffer may be left before more is read: more than most values.
const lowWater = 16 << 10

// Leave counts something that is left out.
func (r *Reader) Leave(consequence trace.ReportKind, what string) {
	r.leave(consequence, what, r.Place())
}

// LeaveAt does so for something that ended at an offset.
func (r *Reader) LeaveAt(consequence trace.ReportKind, what string, offset int64) {
	r.leave(consequence, what, Place(r.label, offset))
}

// End judges how a file ended after count items, which what names. Values before a break
// are kept and the break is reported.
func (r *Reader) End(err error, count int, what string) error {
	var packed *importer.Error
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case (err == nil || err == io.EOF) && count > 0:
		return nil
	case err == nil || err == io.EOF:
		return importer.Malformed(r.label, "", "holds no %s", what)
	case count > 0:
		r.Leave(trace.MissingRest, "the rest of a file that breaks off or is no JSON")
		return nil
	case errors.As(err, &packed):
		return packed
	}
	return importer.Malformed(r.label, fmt.Sprintf("byte %d", r.Offset()), "%v", err)
}

// early is the error of a file that ends within a value.
func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// open enters a list or object. Null counts as an empty one; any other value is
// counted as one where something else is due, and left out.
func (r *Reader) open(delim byte, due string) (bool, error) {
	b, err := r.peek()
	switch {
	case err != nil:
		return false, err
	case b == delim && r.depth == deepest:
		return false, errDeep
	case b == delim:
		r.begin++
		r.depth++
		return true, nil
	case b != 'n':
		r.Leave(trace.MissingEvents, "values where "+due+" is due")
	}
	return false, r.Skip()
}

// more reports whether a list or object goes on.
func (r *Reader) more(end byte) (bool, error) {
	b, err := r.peek()
	switch {
	case err != nil:
		return false, early(err)
	case b == end:
		r.begin++
		return false, nil
	case b == ']' || b == '}' || b == ':':
		return false, errSyntax
	}
	return true, nil
}

// Array passes each element of the list that comes next to f, which must read it,
// and skips any other value.
func (r *Reader) Array(f func() error) error {
	depth := r.depth
	defer func() { r.depth = depth }()
	ok, err := r.open('[', "a list")
	for ok && err == nil {
		if ok, err = r.more(']'); ok && err == nil {
			err = early(f())
		}
	}
	return err
}

// Members passes each member of the object that comes next to f, which must read
// its value, and skips any other value. The name is valid until then.
func (r *Reader) Members(f func(name string) error) error {
	depth := r.depth
	defer func() { r.depth = depth }()
	ok, err := r.open('{', "an object")
	for ok && err == nil {
		if ok, err = r.more('}'); !ok || err != nil {
			break
		}
		var name []byte
		if name, err = r.Value(); err != nil {
			return early(err)
		}
		r.cursor.Reset(name)
		key := r.cursor.Text()
		if b, e := r.peek(); e != nil || b != ':' || r.cursor.Bad || r.cursor.Wrong {
			return errors.Join(early(e), errSyntax)
		}
		r.begin++
		err = early(f(key))
	}
	return err
}

// Objects passes the object that comes next to f, or each one of a list of them; f
// must read it.
func (r *Reader) Objects(f func() error) error {
	b, err := r.peek()
	if err != nil {
		return err
	}
	if b == '[' {
		return r.Array(f)
	}
	return f()
}

// Next is the first byte of the next value or bracket, 0 at the end.
func (r *Reader) Next() byte {
	b, _ := r.peek()
	return b
}
