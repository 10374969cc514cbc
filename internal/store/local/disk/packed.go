package disk

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
)

// Columns of large tables are packed, see package pack. A reader gives each of them as much address space as its
// values take. Touched frames are unpacked into it and are plain from then on. So readers of a column need not know.

// Frame is how many rows share a frame.
const Frame = pack.Frame

// A Packed is a packed column.
type Packed struct {
	check  *Check // of the file
	file   []byte
	dir    []uint32 // where frames begin, in words; those of a row with several values lie next to each other
	dirAt  int64
	rows   uint64
	width  int // bytes of a value
	per    int // values a row
	values *spool.Mapping
	done   []atomic.Uint64 // a bit for each frame of rows
	locks  [8]sync.Mutex
	held   *memory.Outside // bytes that are unpacked, of all columns
}

// NewPacked returns the check of a packed file; held counts the bytes that are unpacked.
func NewPacked(e FileEntry, b []byte, c *column, held *memory.Outside) (*Check, error) {
	file, err := NewCheck(e, b)
	if err != nil {
		return nil, err
	}
	return newPacked(file, e, b, c, held)
}

// MadePacked returns the check of a packed file made just now: its checksums are not known yet, and not needed.
func MadePacked(e FileEntry, b []byte, c *column, held *memory.Outside) (*Check, error) {
	file := &Check{name: e.Name, bytes: b, shift: 62, sums: make([]uint32, 1), done: make([]atomic.Uint64, 1)}
	file.Trust()
	return newPacked(file, e, b, c, held)
}

func newPacked(file *Check, e FileEntry, b []byte, c *column, held *memory.Outside) (*Check, error) {
	var err error
	p := &Packed{check: file, file: b, width: int(typeWidth[c.typ]), per: int(max(c.Per, 1)), held: held}
	p.rows = uint64(e.Values) / uint64(p.per)
	frames := (p.rows + pack.Frame - 1) / pack.Frame
	entries := frames*uint64(p.per) + 1
	p.dirAt = int64(len(b)) - int64(entries+1)/2*8
	if e.Values <= 0 || frames > uint64(len(b)) || p.dirAt < 0 {
		return nil, fmt.Errorf("%s: %d bytes do not hold %d values: %w", e.Name, len(b), e.Values, ErrDamaged)
	}
	file.frames = p.dirAt
	p.dir = spool.ViewOf[uint32](b[p.dirAt:])[:entries]
	if p.values, err = spool.Reserve(e.Values * int64(p.width)); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	p.done = make([]atomic.Uint64, frames/64+1)
	return &Check{name: e.Name, packed: p}, nil
}

// Values returns the memory of the column.
func (p *Packed) Values() *spool.Mapping { return p.values }

// All returns all values of a column, in memory of their own.
func (p *Packed) All() []byte {
	out := spool.BytesOf(make([]uint64, (p.rows*uint64(p.per*p.width)+7)/8))[:p.rows*uint64(p.per*p.width)]
	for g := uint64(0); g*pack.Frame < p.rows; g++ {
		p.unpack(g, out[int(g)*p.width*p.per*pack.Frame:])
	}
	return out
}

// File returns the check of the file, where that of the column is of its values.
func (c *Check) File() *Check {
	if c.packed != nil {
		return c.packed.check
	}
	return c
}

// Packed returns the column that is looked at; nil: it is not packed.
func (c *Check) Packed() *Packed {
	if c == nil {
		return nil
	}
	return c.packed
}

// touch unpacks the values in bytes [from, to) of the column.
func (p *Packed) touch(from, to int64) {
	if to = min(to, int64(len(p.values.Bytes))); from >= to {
		return
	}
	row := int64(p.width * p.per * pack.Frame)
	brought := p.check.from == nil
	for g, last := uint64(from/row), uint64((to-1)/row); g <= last; g++ {
		if p.done[g>>6].Load()>>(g&63)&1 == 0 {
			if !brought {
				p.bring(g*pack.Frame, (last+1)*pack.Frame)
				brought = true
			}
			p.look(g)
		}
	}
}

func (p *Packed) look(g uint64) {
	mu := &p.locks[g%uint64(len(p.locks))]
	mu.Lock()
	defer mu.Unlock()
	if p.done[g>>6].Load()>>(g&63)&1 != 0 {
		return
	}
	p.unpack(g, p.values.Bytes[int(g)*p.width*p.per*pack.Frame:])
	p.held.Add(int64(p.width * p.per * pack.Frame))
	p.done[g>>6].Or(1 << (g & 63))
}

// frame returns the bytes of a frame, and all after it; frames without bytes are empty.
func (p *Packed) frame(i uint64) (b []byte, empty bool) {
	p.check.Touch(p.dirAt+int64(4*i), p.dirAt+int64(4*i)+8)
	from, to := int64(p.dir[i])*8, int64(p.dir[i+1])*8
	if from > to || to > p.dirAt {
		panic(Damage(p.check.name))
	}
	p.check.Touch(from, to)
	return p.file[from:], from == to
}

// unpack writes the values of frame g.
func (p *Packed) unpack(g uint64, to []byte) {
	if p.check.from != nil {
		defer p.check.from.unpacking()()
	}
	n := int(min(p.rows-g*pack.Frame, pack.Frame))
	if p.per == 1 {
		b, empty := p.frame(g)
		switch p.width {
		case 8:
			pack.Decode(spool.ViewOf[uint64](to)[:n], b, empty)
		case 4:
			pack.Decode(spool.ViewOf[uint32](to)[:n], b, empty)
		case 2:
			pack.Decode(spool.ViewOf[uint16](to)[:n], b, empty)
		default:
			pack.Decode(to[:n], b, empty)
		}
		return
	}
	var buf [pack.Frame]uint64
	for k := range p.per {
		b, empty := p.frame(g*uint64(p.per) + uint64(k))
		values := buf[:n]
		pack.Decode(values, b, empty)
		switch p.width {
		case 8:
			out := spool.ViewOf[uint64](to)
			for i, v := range values {
				out[i*p.per+k] = v
			}
		case 4:
			out := spool.ViewOf[uint32](to)[k:]
			for i, v := range values {
				out[i*p.per] = uint32(v)
			}
		case 2:
			out := spool.ViewOf[uint16](to)[k:]
			for i, v := range values {
				out[i*p.per] = uint16(v)
			}
		default:
			for i, v := range values {
				to[i*p.per+k] = byte(v)
			}
		}
	}
}

// numbers unpacks the values of frame g of a column with one per row, whatever their width.
func (p *Packed) numbers(g uint64, values []uint64) {
	if p.check.from != nil {
		defer p.check.from.unpacking()()
	}
	b, empty := p.frame(g)
	pack.Decode(values[:min(p.rows-g*pack.Frame, pack.Frame)], b, empty)
}

// first returns the first value of frame g; false: it must be unpacked to tell.
func (p *Packed) first(g uint64) (int64, bool) {
	if p.check.from != nil {
		defer p.check.from.unpacking()()
	}
	b, empty := p.frame(g)
	v := pack.First(b, empty)
	return int64(v), v != pack.NotAlone
}

// forget releases the memory of unpacked frames. They must not be in use.
func (p *Packed) forget() {
	clear(p.done)
	p.values.Release(0, int64(len(p.values.Bytes)))
}

// Forget releases the unpacked frames of all tables.
func (c Checks) Forget() {
	for _, t := range c {
		t.Forget()
	}
}

// Forget releases the unpacked frames of the table.
func (t *TableCheck) Forget() {
	for _, x := range t.columns {
		if p := x.Packed(); p != nil {
			p.forget()
		}
	}
}

// Unpack writes rows [lo, hi) of a column of the table, given by its place among those with values, into memory of the
// caller's. Rows lo and hi are at the edge of a frame, or hi at the end.
func (t *TableCheck) Unpack(column int, lo, hi uint64, to []byte) {
	p := t.columns[column].packed
	for g := lo / pack.Frame; g*pack.Frame < hi; g++ {
		p.unpack(g, to[int(g*pack.Frame-lo)*p.width*p.per:])
	}
}

// UnpackAll is Unpack for all columns of a table, in the order of the schema. A caller that goes on reads all rows
// before until.
func (t *TableCheck) UnpackAll(lo, hi, until uint64, to [][]byte) {
	if t.IsRemote() {
		t.bringAhead(lo, hi, min(max(hi, until), hi+rowsAhead))
	}
	for k, b := range to {
		t.Unpack(k, lo, hi, b)
	}
}

// rowsAhead is the number of rows that are fetched with those that are wanted.
const rowsAhead = 1 << 19

// Search returns the first of n rows whose value in a column is not less than v. Its values ascend. It is looked for
// from a row on that may be near, in steps that double. Frames that it unpacks are not kept.
func (t *TableCheck) Search(column int, n uint64, v int64, near uint64) uint64 {
	if n == 0 {
		return 0
	}
	p := t.columns[column].packed
	var buf [pack.Frame]uint64
	less := func(g uint64) bool {
		first, ok := p.first(g)
		if !ok {
			p.numbers(g, buf[:])
			first = int64(buf[0])
		}
		return first < v
	}
	lo, hi := uint64(0), (n+pack.Frame-1)/pack.Frame // the last frame that begins with less, or the first of all
	if g := min(near/pack.Frame, hi-1); less(g) {
		lo = g
		for step := uint64(1); lo+step < hi; step *= 2 {
			if !less(lo + step) {
				hi = lo + step
				break
			}
			lo += step
		}
	} else {
		hi = max(g, 1)
		for step := uint64(1); step < hi; step *= 2 {
			if less(hi - step) {
				lo = hi - step
				break
			}
			hi -= step
		}
	}
	for hi-lo > 1 {
		if g := (lo + hi) / 2; less(g) {
			lo = g
		} else {
			hi = g
		}
	}
	rows := buf[:min(n-lo*pack.Frame, pack.Frame)]
	p.numbers(lo, rows)
	at := sort.Search(len(rows), func(i int) bool { return int64(rows[i]) >= v })
	return lo*pack.Frame + uint64(at)
}

// BytesOf returns the bytes of a packed file that hold rows [lo, hi), as its directory has it; false: the directory is
// damaged, or there is no such file.
func (c Checks) BytesOf(file string, lo, hi uint64) (from, to int64, ok bool) {
	for _, t := range c {
		for _, x := range t.columns {
			p := x.Packed()
			if p == nil || x.name != file || lo >= hi {
				continue
			}
			err := Guard(func() error {
				first, last := lo/pack.Frame*uint64(p.per), ((hi-1)/pack.Frame+1)*uint64(p.per)
				p.check.Touch(p.dirAt+int64(4*first), p.dirAt+int64(4*first)+4)
				p.check.Touch(p.dirAt+int64(4*last), p.dirAt+int64(4*last)+4)
				from, to = int64(p.dir[first])*8, int64(p.dir[last])*8
				return nil
			})
			return from, to, err == nil
		}
	}
	return 0, 0, false
}

// PackFrames packs rows [from, to) of a column that is all in memory, from a whole frame on: frame by frame, with the
// length of each in words.
func (c *column) PackFrames(dst []byte, words []uint32, raw []byte, from, to uint64) ([]byte, []uint32) {
	var buf [pack.Frame]uint64
	per, width := int(max(c.Per, 1)), int(typeWidth[c.typ])
	raw = raw[int(from)*per*width:]
	for ; from < to; from += pack.Frame {
		n := int(min(to-from, pack.Frame))
		for k := range per {
			values := buf[:n]
			switch width {
			case 8:
				if in := spool.ViewOf[uint64](raw)[k:]; per == 1 {
					copy(values, in)
				} else {
					for i := range values {
						values[i] = in[i*per]
					}
				}
			case 4: // 2^32-1 stands for none: it is -1 here, near to others
				for i, in := 0, spool.ViewOf[int32](raw)[k:]; i < n; i++ {
					values[i] = uint64(int64(in[i*per]))
				}
			case 2:
				for i, in := 0, spool.ViewOf[uint16](raw)[k:]; i < n; i++ {
					values[i] = uint64(in[i*per])
				}
			default:
				for i := range values {
					values[i] = uint64(raw[i*per+k])
				}
			}
			dst, words = c.appendFrame(dst, words, values)
		}
		raw = raw[min(n*per*width, len(raw)):]
	}
	return dst, words
}

// appendFrame packs a frame of values, and appends its length in words.
func (c *column) appendFrame(dst []byte, words []uint32, values []uint64) ([]byte, []uint32) {
	before := len(dst)
	if c.Floats() {
		dst = pack.AppendFloats(dst, values)
	} else {
		dst = pack.Append(dst, values)
	}
	return dst, append(words, uint32((len(dst)-before)/8))
}
