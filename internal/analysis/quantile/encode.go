package quantile

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// The bytes of a sketch, numbers as varints:
//
//	count total min max-min squares (high, low)
//	count ≤ ExactSize: each value less min
//	else: buckets that hold values, each as distance from the one before and how
//	many, until all are counted
//
// A sketch that was written and read gives the same answers, and merges as if all
// values had been added to one.

// ErrDamaged is the error of bytes that are no sketch.
var ErrDamaged = errors.New("these bytes are no sketch")

// Append writes the sketch.
func (s *Sketch) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.Count))
	dst = binary.AppendUvarint(dst, uint64(s.Total.Time()))
	dst = binary.AppendUvarint(dst, uint64(s.Min))
	dst = binary.AppendUvarint(dst, uint64(s.Max-s.Min))
	dst = binary.AppendUvarint(dst, s.squares.high)
	dst = binary.AppendUvarint(dst, s.squares.low)
	if s.Exact() {
		for _, v := range s.values {
			dst = binary.AppendUvarint(dst, uint64(v-s.Min))
		}
		return dst
	}
	last := 0
	for i, p := range s.pages {
		if p == nil {
			continue
		}
		for k, n := range p {
			if n > 0 {
				b := (s.first+i)<<pageBits + k
				dst = binary.AppendUvarint(dst, uint64(b-last))
				dst = binary.AppendUvarint(dst, n)
				last = b
			}
		}
	}
	return dst
}

// A Header is the exact part of a sketch that was written.
type Header struct{ Count, Total, Min, Max int64 }

// ReadHeader reads the exact part without the distribution.
func ReadHeader(b []byte) (h Header, err error) {
	r := reader{b: b}
	h = r.header()
	if r.bad {
		return Header{}, ErrDamaged
	}
	return h, nil
}

// BoxSize is how many bytes AppendBox writes.
const BoxSize = 5 * 8

// AppendBox writes the five quantiles of a box plot.
func (s *Sketch) AppendBox(dst []byte) []byte {
	for _, v := range s.Box() {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

// Condense fills s from the output of Append and AppendBox for another sketch: all but further quantiles.
// Nothing can be added to it or merged with it. It takes the time of reading a few numbers, however many
// values there were.
func (s *Sketch) Condense(b, box []byte) error {
	r := reader{b: b}
	h := r.header()
	squares := wide{r.uvarint(), r.uvarint()}
	if r.bad || h.Count <= 0 || h.Max < h.Min || len(box) != BoxSize {
		return ErrDamaged
	}
	*s = Sketch{Count: h.Count, Total: trace.SumOf(trace.Time(h.Total)), Min: h.Min, Max: h.Max, squares: squares,
		boxed: true}
	for i := range s.box {
		s.box[i] = math.Float64frombits(binary.LittleEndian.Uint64(box[8*i:]))
	}
	return nil
}

// MergeBytes makes s the sketch of itself and of one that was written.
func (s *Sketch) MergeBytes(b []byte) error {
	r := reader{b: b}
	h := r.header()
	squares := wide{r.uvarint(), r.uvarint()}
	if r.bad || h.Count <= 0 || h.Max < h.Min {
		return ErrDamaged
	}
	if s.Count == 0 {
		s.Min, s.Max = h.Min, h.Max
	}
	exact := s.Exact() && s.Count+h.Count <= ExactSize
	s.squares.add(squares)
	s.Count += h.Count
	s.Total.Add(trace.Time(h.Total))
	s.Min, s.Max = min(s.Min, h.Min), max(s.Max, h.Max)
	if !exact {
		s.spill()
	}
	if h.Count <= ExactSize {
		var here *page
		number := -1 // of the page: most values are in that of the one before
		for range h.Count {
			v := h.Min + int64(r.uvarint())
			if v > h.Max || v < h.Min {
				return ErrDamaged
			}
			if exact {
				s.values = append(s.values, v)
				continue
			}
			bucket := bucketOf(v)
			if p := bucket >> pageBits; p != number {
				here, number = s.page(p), p
			}
			here[bucket&(1<<pageBits-1)]++
		}
		return r.err()
	}
	return s.mergeBuckets(b[r.at:], &h)
}

// mergeBuckets adds the buckets of a sketch that was written: most numbers take a byte, and most buckets are in the
// page of the one before.
func (s *Sketch) mergeBuckets(b []byte, h *Header) error {
	bucket, last := uint64(0), uint64(bucketOf(h.Max))
	var here *page
	number := uint64(0) // of the page, plus one
	for left := uint64(h.Count); left > 0; {
		var step, n uint64
		if len(b) > 1 && b[0]|b[1] < 0x80 {
			step, n = uint64(b[0]), uint64(b[1])
			b = b[2:]
		} else {
			r := reader{b: b}
			step, n = r.uvarint(), r.uvarint()
			if r.bad {
				return ErrDamaged
			}
			b = b[r.at:]
		}
		bucket += step
		if n == 0 || n > left || bucket > last {
			return ErrDamaged
		}
		left -= n
		if p := bucket>>pageBits + 1; p != number {
			here, number = s.page(int(p)-1), p
		}
		here[bucket&(1<<pageBits-1)] += n
	}
	return nil
}

type reader struct {
	b   []byte
	at  int
	bad bool
}

func (r *reader) err() error {
	if r.bad {
		return ErrDamaged
	}
	return nil
}

func (r *reader) header() Header {
	h := Header{Count: int64(r.uvarint()), Total: int64(r.uvarint()), Min: int64(r.uvarint())}
	h.Max = h.Min + int64(r.uvarint())
	return h
}

func (r *reader) uvarint() uint64 {
	if b := r.b[r.at:]; len(b) >= 4 { // nearly all
		v := uint64(b[0])
		if v < 0x80 {
			r.at++
			return v
		}
		if v = v&0x7f | uint64(b[1])<<7; v < 1<<14 {
			r.at += 2
			return v
		}
		if v = v&(1<<14-1) | uint64(b[2])<<14; v < 1<<21 {
			r.at += 3
			return v
		}
		if v = v&(1<<21-1) | uint64(b[3])<<21; v < 1<<28 {
			r.at += 4
			return v
		}
	}
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.at += n
	return v
}
