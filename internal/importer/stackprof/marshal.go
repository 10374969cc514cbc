package stackprof

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A decoder reads Ruby's Marshal, version 4.8: the parts that a dump is made of. A value is nil, bool, int64,
// float64, string (also symbols), []any or []pair.
type decoder struct {
	ctx     context.Context
	r       *bufio.Reader
	at      int64
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

func (d *decoder) byte() (byte, error) {
	b, err := d.r.ReadByte()
	if err == nil {
		d.at++
	}
	return b, err
}

// number is a whole number as Marshal packs it: short ones in a byte, with an offset of 5.
func (d *decoder) number() (int64, error) {
	b, err := d.byte()
	n := int8(b)
	switch {
	case err != nil || n == 0:
		return 0, err
	case n > 4:
		return int64(n) - 5, nil
	case n < -4:
		return int64(n) + 5, nil
	}
	size, v := int(n), int64(0)
	if n < 0 {
		size, v = -int(n), -1
	}
	for i := range size {
		b, err := d.byte()
		if err != nil {
			return 0, err
		}
		v &^= 0xff << (8 * i)
		v |= int64(b) << (8 * i)
	}
	return v, nil
}

func (d *decoder) bytes() (string, error) {
	n, err := d.number()
	if err != nil {
		return "", err
	}
	if n < 0 || n > longestText {
		return "", errMarshal
	}
	b := make([]byte, n)
	k, err := io.ReadFull(d.r, b)
	d.at += int64(k)
	return string(b), err
}

// value reads a value. A value that is cut is returned as far as it was read, with the error.
func (d *decoder) value(depth int) (any, error) {
	if d.values++; d.values%4096 == 0 && d.ctx.Err() != nil {
		return nil, d.ctx.Err()
	}
	kind, err := d.byte()
	if err != nil {
		return nil, err
	}
	if depth > deepest {
		return nil, errMarshal
	}
	switch kind {
	case '0':
		return nil, nil
	case 'T', 'F':
		return kind == 'T', nil
	case 'i':
		return d.number()
	case ':':
		s, err := d.bytes()
		d.symbols = append(d.symbols, s)
		return s, err
	case ';', '@':
		n, err := d.number()
		if err != nil {
			return nil, err
		}
		if kind == ';' && n >= 0 && n < int64(len(d.symbols)) {
			return d.symbols[n], nil
		}
		if kind == '@' && n >= 0 && n < int64(len(d.objects)) {
			return d.objects[n], nil
		}
		return nil, errMarshal
	case 'I': // with members, such as the encoding of a text
		v, err := d.value(depth + 1)
		if err != nil {
			return v, err
		}
		_, err = d.pairs(depth, nil)
		return v, err
	case '"':
		s, err := d.bytes()
		d.objects = append(d.objects, s)
		return s, err
	case 'f':
		s, err := d.bytes()
		f, _ := strconv.ParseFloat(s, 64)
		d.objects = append(d.objects, f)
		return f, err
	case 'l':
		return d.long()
	case '[':
		return d.list(depth)
	case '{', '}':
		at := len(d.objects)
		d.objects = append(d.objects, nil)
		list, err := d.pairs(depth, nil)
		d.objects[at] = list
		if err == nil && kind == '}' {
			_, err = d.value(depth + 1)
		}
		return list, err
	}
	return nil, errMarshal
}

// long is a whole number of more than 31 bits: sign, number of halves, bytes.
func (d *decoder) long() (any, error) {
	sign, err := d.byte()
	if err != nil {
		return nil, err
	}
	n, err := d.number()
	if err != nil || n < 0 || n > 64 {
		return nil, errors.Join(err, errMarshal)
	}
	v := uint64(0)
	for i := range int(n) * 2 {
		b, err := d.byte()
		if err != nil {
			return nil, err
		}
		if i < 8 {
			v |= uint64(b) << (8 * i)
		}
	}
	out := int64(v)
	if sign == '-' {
		out = -out
	}
	d.objects = append(d.objects, out)
	return out, nil
}

func (d *decoder) list(depth int) (any, error) {
	n, err := d.number()
	if err != nil || n < 0 {
		return nil, errors.Join(err, errMarshal)
	}
	at := len(d.objects)
	d.objects = append(d.objects, nil)
	list := make([]any, 0, min(n, 1<<12))
	for range n {
		v, err := d.value(depth + 1)
		if err != nil {
			return list, err
		}
		list = append(list, v)
	}
	d.objects[at] = list
	return list, nil
}

func (d *decoder) pairs(depth int, list []pair) ([]pair, error) {
	n, err := d.number()
	if err != nil || n < 0 {
		return list, errors.Join(err, errMarshal)
	}
	for range n {
		key, err := d.value(depth + 1)
		if err != nil {
			return list, err
		}
		v, err := d.value(depth + 1)
		list = append(list, pair{key, v})
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

// readDump reads a dump as the gem writes it.
func (p *profile) readDump(ctx context.Context, in io.Reader, label string, w trace.Writer) error {
	d := &decoder{ctx: ctx, r: bufio.NewReaderSize(in, 128<<10), at: 2}
	_, _ = d.r.Discard(2) // the version
	root, err := d.value(0)
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
			fmt.Sprintf("%s: byte %d", label, d.at))
	case err != nil:
		return importer.Malformed(label, fmt.Sprintf("byte %d", d.at), "%v", errMarshal)
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
