package stackprof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A decoder reads Ruby's Marshal, version 4.8: the parts that a dump is made of. A value is nil, bool, int64,
// float64, string (also symbols), []any or []pair.
type decoder struct {
	*wire.Cursor
	ctx     context.Context
	symbols []string
	objects []any
	values  int
}

type pair struct{ key, value any }

var errMarshal = errors.New("is no dump that can be read")

const (
	deepest     = 32
	longestText = 1 << 20
)

// number is a whole number as Marshal packs it: short ones in a byte, with an offset of 5.
func (d *decoder) number() int64 {
	n := int8(d.Byte())
	switch {
	case n == 0:
		return 0
	case n > 4:
		return int64(n) - 5
	case n < -4:
		return int64(n) + 5
	}
	size, v := int(n), int64(0)
	if n < 0 {
		size, v = -int(n), -1
	}
	for i := range size {
		v &^= 0xff << (8 * i)
		v |= int64(d.Byte()) << (8 * i)
	}
	return v
}

// length is a number of things, of which there are most at the most.
func (d *decoder) length(most int64) int {
	n := d.number()
	if n < 0 || n > most {
		d.Fail(errMarshal)
		return 0
	}
	return int(n)
}

func (d *decoder) text() string { return d.Text(d.length(longestText)) }

// keep remembers an object, which may be named again.
func (d *decoder) keep(v any) any {
	d.objects = append(d.objects, v)
	return v
}

// known is an object or a symbol that came before.
func known[T any](d *decoder, list []T) (v T) {
	if n := d.number(); n >= 0 && n < int64(len(list)) {
		return list[n]
	}
	d.Fail(errMarshal)
	return v
}

// value reads a value. A value that is cut is returned as far as it was read.
func (d *decoder) value(depth int) any {
	if d.values++; d.values%4096 == 0 && d.ctx.Err() != nil {
		d.Fail(d.ctx.Err())
	}
	kind := d.Byte()
	if depth > deepest {
		d.Fail(errMarshal)
	}
	if d.Failed() {
		return nil
	}
	switch kind {
	case '0':
		return nil
	case 'T', 'F':
		return kind == 'T'
	case 'i':
		return d.number()
	case ':':
		s := d.text()
		d.symbols = append(d.symbols, s)
		return s
	case ';':
		return known(d, d.symbols)
	case '@':
		return known(d, d.objects)
	case 'I': // with members, such as the encoding of a text
		v := d.value(depth + 1)
		d.pairs(depth)
		return v
	case '"':
		return d.keep(d.text())
	case 'f':
		f, _ := strconv.ParseFloat(d.text(), 64)
		return d.keep(f)
	case 'l':
		return d.long()
	case '[':
		return d.list(depth)
	case '{', '}':
		at := len(d.objects)
		d.keep(nil)
		list := d.pairs(depth)
		if d.objects[at] = list; kind == '}' {
			d.value(depth + 1)
		}
		return list
	}
	d.Fail(errMarshal)
	return nil
}

// long is a whole number of more than 31 bits: sign, number of halves, bytes.
func (d *decoder) long() any {
	sign, v := d.Byte(), uint64(0)
	for i := range 2 * d.length(64) {
		if b := d.Byte(); i < 8 {
			v |= uint64(b) << (8 * i)
		}
	}
	if sign == '-' {
		return d.keep(-int64(v))
	}
	return d.keep(int64(v))
}

func (d *decoder) list(depth int) any {
	n := d.length(math.MaxInt64)
	at := len(d.objects)
	d.keep(nil)
	list := make([]any, 0, min(n, 1<<12))
	for range n {
		v := d.value(depth + 1)
		if d.Failed() {
			return list
		}
		list = append(list, v)
	}
	d.objects[at] = list
	return list
}

func (d *decoder) pairs(depth int) (list []pair) {
	for range d.length(math.MaxInt64) {
		key := d.value(depth + 1)
		if d.Failed() {
			return list
		}
		list = append(list, pair{key, d.value(depth + 1)})
	}
	return list
}

// readDump reads a dump as the gem writes it.
func (p *profile) readDump(ctx context.Context, in io.Reader, label string, w trace.Writer) error {
	d := &decoder{Cursor: wire.From(in, 128<<10), ctx: ctx}
	d.Skip(2) // the version
	root, err := d.value(0), d.Err()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	list, _ := root.([]pair)
	for _, m := range list {
		p.member(m)
	}
	switch {
	case err != nil && len(p.frames) > 0:
		w.Report(trace.MissingRest, "files that break off, read up to there", 1,
			fmt.Sprintf("%s: byte %d", label, d.Offset()))
	case err != nil:
		return importer.Malformed(label, fmt.Sprintf("byte %d", d.Offset()), "%v", errMarshal)
	}
	return nil
}

// member takes one of the dump.
func (p *profile) member(m pair) {
	name, _ := m.key.(string)
	switch v := m.value.(type) {
	case string:
		p.set(name, trace.Text(v))
	case int64:
		p.set(name, trace.Integer(v))
	case []any:
		switch name {
		case "raw":
			p.raw = wholes(v)
		case "raw_timestamp_deltas":
			p.deltas = wholes(v)
		}
	case []pair:
		if name != "frames" {
			return
		}
		for _, x := range v {
			id, ok := x.key.(int64)
			members, isFrame := x.value.([]pair)
			if !ok || !isFrame {
				continue
			}
			f := p.frame(id)
			for _, y := range members {
				f.set(y)
			}
		}
	}
}

func wholes(list []any) []int64 {
	out := make([]int64, 0, len(list))
	for _, x := range list {
		n, _ := x.(int64)
		out = append(out, n)
	}
	return out
}

func (f *frame) set(m pair) {
	name, _ := m.key.(string)
	switch v := m.value.(type) {
	case string:
		switch name {
		case "name":
			f.name = v
		case "file":
			f.file = v
		}
	case int64:
		switch name {
		case "line":
			f.line = v
		case "total_samples":
			f.total = float64(v)
		case "samples":
			f.self = float64(v)
		}
	}
}
