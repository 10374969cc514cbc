package perfetto

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
)

// packets splits a file into packets: fields of number 1, one after the other. A
// packet is handed out where it is in the buffer and is valid until the next.
//
// The buffer grows only as bytes arrive, so that a length that was misread asks
// for no memory.
type packets struct {
	ctx        context.Context
	r          io.Reader
	buf        []byte
	begin, end int
	base       int64 // offset in the file of buf[0]
	failed     error // of reading; io.EOF at the end

	lost     int64 // stretches that are no packets
	lostAt   int64 // where the first of them begins
	zeros    int64 // bytes of padding between packets
	foreign  int64 // fields of a trace that are no packets
	tooLarge int64
}

const (
	firstBuffer   = 128 << 10
	largestPacket = 256 << 20
)

// marker is written between packets now and then, so that readers can find
// their way back.
var marker = []byte("\x82\x47\x7a\x76\xb2\x8d\x42\xba\x81\xdc\x33\x32\x6d\x57\xa0\x79")

var errCut = errors.New("the file ends within a packet")

func newPackets(ctx context.Context, r io.Reader) *packets {
	return &packets{ctx: ctx, r: r, buf: make([]byte, firstBuffer)}
}

// reset begins another input; the buffer is kept.
func (p *packets) reset(ctx context.Context, r io.Reader) {
	*p = packets{ctx: ctx, r: r, buf: p.buf}
}

// offset is where the next packet begins.
func (p *packets) offset() int64 { return p.base + int64(p.begin) }

// next returns the next packet and where it begins; io.EOF at the end, errCut where
// the file ends within one.
func (p *packets) next() (body []byte, at int64, err error) {
	for {
		if body, at, ok := p.ready(); ok {
			return body, at, nil
		}
		if err := p.need(1); err != nil {
			return nil, 0, err
		}
		at = p.offset()
		tag, n, err := p.varint(0)
		if err != nil {
			return nil, at, err
		}
		switch {
		case n > 0 && tag == 1<<3|uint64(protowire.BytesType):
			body, ok, err := p.body(n)
			if ok || err != nil {
				return body, at, err
			}
		case n > 0 && tag>>3 > 1 && tag>>3 < 1<<20:
			err = p.skipField(n, protowire.Type(tag&7))
		case n == 1 && tag == 0:
			err = p.padding()
		default:
			err = p.resync()
		}
		if err != nil {
			return nil, at, err
		}
	}
}

// ready is next for a packet of less than 16 KiB that the buffer holds whole.
func (p *packets) ready() (body []byte, at int64, ok bool) {
	b := p.buf[p.begin:p.end]
	if len(b) < 3 || b[0] != 1<<3|byte(protowire.BytesType) {
		return nil, 0, false
	}
	size, n := int(b[1]), 2
	if size >= 0x80 {
		if b[2] >= 0x80 {
			return nil, 0, false
		}
		size, n = size&0x7f|int(b[2])<<7, 3
	}
	if size > len(b)-n {
		return nil, 0, false
	}
	at = p.offset()
	p.begin += n + size
	return b[n : n+size], at, true
}

// body takes the packet whose tag is n bytes long.
func (p *packets) body(n int) (body []byte, ok bool, err error) {
	size, m, err := p.varint(n)
	if err != nil {
		return nil, false, err
	}
	if m <= 0 || size > math.MaxInt32 {
		return nil, false, p.resync()
	}
	if size > largestPacket {
		p.tooLarge++
		return nil, false, p.discard(int64(n+m) + int64(size))
	}
	if err := p.need(n + m + int(size)); err != nil {
		return nil, false, cut(err)
	}
	from := p.begin + n + m
	p.begin = from + int(size)
	return p.buf[from:p.begin], true, nil
}

// skipField leaves out a field of the file that is no packet.
func (p *packets) skipField(n int, kind protowire.Type) error {
	var size int64
	switch kind {
	case protowire.VarintType:
		_, m, err := p.varint(n)
		if err != nil || m <= 0 {
			return p.resyncOr(err)
		}
		size = int64(m)
	case protowire.BytesType:
		length, m, err := p.varint(n)
		if err != nil || m <= 0 || length > math.MaxInt32 {
			return p.resyncOr(err)
		}
		size = int64(m) + int64(length)
	case protowire.Fixed32Type:
		size = 4
	case protowire.Fixed64Type:
		size = 8
	default:
		return p.resync()
	}
	p.foreign++
	return p.discard(int64(n) + size)
}

func (p *packets) resyncOr(err error) error {
	if err != nil {
		return err
	}
	return p.resync()
}

// padding reads zeros, which some recorders leave between packets.
func (p *packets) padding() error {
	for {
		for p.begin < p.end && p.buf[p.begin] == 0 {
			p.begin++
			p.zeros++
		}
		if p.begin < p.end {
			return nil
		}
		if err := p.need(1); err != nil {
			return err
		}
	}
}

// resync finds the way back after bytes that are no packet: behind the next marker.
func (p *packets) resync() error {
	p.lose(p.offset())
	for {
		if i := bytes.Index(p.buf[p.begin:p.end], marker); i >= 0 {
			p.begin += i + len(marker)
			return nil
		}
		p.begin = max(p.begin, p.end-len(marker)+1)
		if err := p.need(p.end - p.begin + 1); err != nil {
			p.begin = p.end
			return err
		}
	}
}

func (p *packets) lose(at int64) {
	if p.lost == 0 {
		p.lostAt = at
	}
	p.lost++
}

// discard leaves out n bytes.
func (p *packets) discard(n int64) error {
	for n > 0 {
		if p.begin == p.end {
			if err := p.need(1); err != nil {
				return cut(err)
			}
		}
		step := min(n, int64(p.end-p.begin))
		p.begin += int(step)
		n -= step
	}
	return nil
}

// varint reads the number that lies n bytes ahead; its size is 0 if there is none.
func (p *packets) varint(n int) (value uint64, size int, err error) {
	for {
		value, size = protobuf.Uvarint(p.buf[p.begin+min(n, p.end-p.begin) : p.end])
		if size > 0 || p.end-p.begin >= n+10 {
			return value, max(size, 0), nil
		}
		if err := p.need(p.end - p.begin + 1); err != nil {
			return 0, 0, cut(err)
		}
	}
}

func cut(err error) error {
	if err == io.EOF {
		return errCut
	}
	return err
}

// need makes n bytes available from begin on.
func (p *packets) need(n int) error {
	for p.end-p.begin < n {
		if p.failed != nil {
			return p.failed
		}
		if err := p.ctx.Err(); err != nil {
			return err
		}
		p.room()
		got, err := p.r.Read(p.buf[p.end:])
		p.end += got
		if err != nil {
			p.failed = err
		}
	}
	return nil
}

// room makes space for more bytes: unread bytes move to the front, and a buffer
// that is full of one packet doubles.
func (p *packets) room() {
	if p.end < len(p.buf) && p.begin < len(p.buf)/2 {
		return
	}
	if p.begin > 0 {
		copy(p.buf, p.buf[p.begin:p.end])
		p.base += int64(p.begin)
		p.end -= p.begin
		p.begin = 0
	}
	if p.end == len(p.buf) {
		grown := make([]byte, 2*len(p.buf))
		copy(grown, p.buf[:p.end])
		p.buf = grown
	}
}

func byteAt(offset int64) string { return fmt.Sprintf("byte %d", offset) }
