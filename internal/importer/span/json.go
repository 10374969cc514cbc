package span

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Reader reads JSON value by value and remembers where it is.
type Reader struct {
	*json.Decoder
	ctx   context.Context
	label string
	w     trace.Writer
}

// NewReader reads from r; label names the file.
func NewReader(ctx context.Context, r io.Reader, label string, w trace.Writer) *Reader {
	return &Reader{Decoder: json.NewDecoder(&untilCancelled{ctx, r}), ctx: ctx, label: label, w: w}
}

// untilCancelled reads until its context ends.
type untilCancelled struct {
	ctx context.Context
	r   io.Reader
}

func (u *untilCancelled) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// Place is where the reader is.
func (r *Reader) Place() string { return place(r.label, r.InputOffset()) }

func place(label string, offset int64) string { return fmt.Sprintf("%s: byte %d", label, offset) }

// Take decodes the next value. One of a wrong type is counted and left out: ok is
// false and err nil.
func (r *Reader) Take(v any) (ok bool, err error) {
	err = r.Decode(v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		r.w.Report(trace.Skipped, "records with a value of the wrong type", 1, r.Place()+": "+wrong.Field)
		return false, nil
	}
	return err == nil, err
}

// Leave counts a record that is left out, and says which field was wrong if err does.
func (r *Reader) Leave(what string, err error) {
	example := r.Place()
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		example += ": " + wrong.Field
	}
	r.w.Report(trace.Skipped, what, 1, example)
}

// End judges how a file ended after count spans. What was read before a break is
// kept and the break is reported.
func (r *Reader) End(err error, count int) error {
	var packed *importer.Error
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case (err == nil || err == io.EOF) && count > 0:
		return nil
	case err == nil || err == io.EOF:
		return importer.Malformed(r.label, "", "holds no spans")
	case count > 0:
		r.w.Report(trace.Skipped, "the rest of a file that breaks off or is no JSON", 1, r.Place())
		return nil
	case errors.As(err, &packed):
		return packed
	}
	return importer.Malformed(r.label, fmt.Sprintf("byte %d", r.InputOffset()), "%v", err)
}

// Array hands each element of the array that comes next to f, and skips any other value.
func (r *Reader) Array(f func() error) error {
	t, err := r.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		r.w.Report(trace.Skipped, "values where a list is due", 1, r.Place())
		return r.leave(t)
	}
	for r.More() {
		if err := f(); err != nil {
			return early(err)
		}
	}
	_, err = r.Token()
	return early(err)
}

// early is the error of a file that ends within a value.
func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// leave reads the rest of a value that began with t.
func (r *Reader) leave(t json.Token) error {
	d, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	for depth := 1; depth > 0; {
		if t, err := r.Token(); err != nil {
			return early(err)
		} else if d, ok = t.(json.Delim); ok && (d == '{' || d == '[') {
			depth++
		} else if ok {
			depth--
		}
	}
	return nil
}

// Objects hands the object that comes next to f, or each one of a list of them.
// f must call members once, which hands each member to its argument; that must
// read the member's value.
func (r *Reader) Objects(f func(members func(func(name string) error) error) error) error {
	t, err := r.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return r.object(t, f)
	}
	for r.More() {
		t, err := r.Token()
		if err == nil {
			err = r.object(t, f)
		}
		if err != nil {
			return early(err)
		}
	}
	_, err = r.Token()
	return early(err)
}

// object hands on the object that begins with t, and leaves out any other value.
func (r *Reader) object(t json.Token, f func(members func(func(name string) error) error) error) error {
	if t == json.Delim('{') {
		return f(r.members)
	}
	r.w.Report(trace.Skipped, "values where an object is due", 1, r.Place())
	return r.leave(t)
}

// members hands out the members of an object whose brace was read.
func (r *Reader) members(f func(name string) error) error {
	for r.More() {
		t, err := r.Token()
		if err != nil {
			return early(err)
		}
		name, _ := t.(string)
		if err := f(name); err != nil {
			return early(err)
		}
	}
	_, err := r.Token()
	return early(err)
}

// Skip leaves out the next value.
func (r *Reader) Skip() error {
	var v json.RawMessage
	return r.Decode(&v)
}

// Keys gives the names of members that the beginning of a JSON text holds, as
// paths: "data", "data.spans". Lists count as their elements, and a text may be
// cut anywhere. At most so many tokens are looked at.
func Keys(head []byte, most int) map[string]bool {
	type level struct {
		prefix, member string
		object, named  bool // named: the value of member is due
	}
	keys := map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(head))
	stack := []level{{}}
	for range most {
		t, err := d.Token()
		if err != nil {
			break
		}
		top := &stack[len(stack)-1]
		delim, isDelim := t.(json.Delim)
		switch {
		case isDelim && (delim == '}' || delim == ']'):
			stack = stack[:len(stack)-1]
		case isDelim:
			inner := level{prefix: top.prefix, object: delim == '{'}
			if top.object {
				inner.prefix, top.named = top.member+".", false
			}
			stack = append(stack, inner)
		case top.object && !top.named:
			name, _ := t.(string)
			top.member, top.named = top.prefix+name, true
			keys[top.member] = true
		default:
			top.named = false
		}
	}
	return keys
}

// A Scalar is a JSON string, number or truth value as a Value: formats write whole
// numbers as strings where they do not fit a float64.
type Scalar struct{ trace.Value }

// UnmarshalJSON keeps what is no scalar as its text.
func (s *Scalar) UnmarshalJSON(b []byte) error {
	var text string
	switch {
	case string(b) == "null":
		return nil
	case b[0] == '"':
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
		s.Value = trace.Text(text)
		return nil
	}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		s.Value = trace.Integer(n)
	} else if x, err := strconv.ParseFloat(string(b), 64); err == nil {
		s.Value = trace.Number(x)
	} else {
		s.Value = trace.Text(string(b))
	}
	return nil
}

// Whole gives the scalar as a whole number, whether it was written as a number or
// as text.
func (s Scalar) Whole() (int64, bool) {
	if s.Kind == trace.ValueText {
		n, err := strconv.ParseInt(s.String(), 10, 64)
		return n, err == nil
	}
	return s.Integer()
}
