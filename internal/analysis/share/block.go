package share

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A block is a sequence of unsigned varints, for most of its numbers are small:
//
//	roles     bits of the roles that have time, then the time of each
//	rows      how many begin, how many of them are empty
//	extremes  duration and region of the longest and the shortest, if any row is not empty
//	last      its region + 1, 0 for none
//	count     of entries, twice, plus 1 where the winner is decided
//	rest, slack
//	entries   region and time, count times, most time first

// mostBytes is more than a block takes, with all numbers as long as they can be.
const mostBytes = binary.MaxVarintLen64 * (1 + trace.RoleCount + 2 + 4 + 1 + 3 + 2*Listed)

// Append appends the block of d. Room is made once: growing with each of dozens of
// numbers takes longer than they do.
func (d *Digest) Append(b trace.Block) trace.Block {
	n := len(b)
	b = slices.Grow(b, mostBytes)
	to := b[n : n+mostBytes]
	mask := uint64(0)
	for i, t := range d.Role {
		if t != 0 {
			mask |= 1 << i
		}
	}
	at := put(to, 0, mask)
	for _, t := range d.Role {
		if t != 0 {
			at = put(to, at, uint64(t))
		}
	}
	at = put(to, at, uint64(d.Rows))
	at = put(to, at, uint64(d.Empty))
	if d.Rows > d.Empty {
		at = put(to, at, uint64(d.Longest.Duration))
		at = put(to, at, uint64(d.Longest.Region))
		at = put(to, at, uint64(d.Shortest.Duration))
		at = put(to, at, uint64(d.Shortest.Region))
	}
	at = put(to, at, uint64(d.Last+1)) // NoRegion wraps to 0
	count := uint64(d.Count) << 1
	if d.Decided {
		count |= 1
	}
	at = put(to, at, count)
	at = put(to, at, uint64(d.Rest))
	at = put(to, at, uint64(d.Slack))
	for i := range d.Top[:d.Count] {
		at = put(to, at, uint64(d.Top[i].Region))
		at = put(to, at, uint64(d.Top[i].Time))
	}
	return b[:n+at]
}

// put writes a number as a varint and gives the place after it.
func put(to trace.Block, at int, v uint64) int {
	for v >= 1<<7 {
		to[at] = byte(v) | 1<<7
		v >>= 7
		at++
	}
	to[at] = byte(v)
	return at + 1
}

// Decode reads a block into d; it reports false for bytes that are no digest.
func (d *Digest) Decode(b trace.Block) bool {
	d.Top = [Listed]Entry{}
	return d.decode(b, Listed)
}

// DecodeWinner reads a block, but of its regions only the one with the most time; it leaves later entries
// of Top as they were.
func (d *Digest) DecodeWinner(b trace.Block) bool { return d.decode(b, 1) }

func (d *Digest) decode(b trace.Block, listed int) bool {
	r := decoder{b: b, ok: true}
	d.Role = [trace.RoleCount]trace.Time{}
	mask := r.next()
	if mask >= 1<<trace.RoleCount {
		return false
	}
	for i := range d.Role {
		if mask>>i&1 != 0 {
			d.Role[i] = r.time()
		}
	}
	d.Rows, d.Empty = int64(r.next()), int64(r.next())
	d.Longest, d.Shortest = Extreme{Region: trace.NoRegion}, Extreme{Region: trace.NoRegion}
	if d.Rows > d.Empty {
		d.Longest = Extreme{r.time(), r.region()}
		d.Shortest = Extreme{r.time(), r.region()}
	}
	d.Last = r.region() - 1
	count := r.next()
	d.Count, d.Decided = int(min(count>>1, Listed+1)), count&1 != 0
	d.Rest, d.Slack = r.time(), r.time()
	if d.Count > Listed {
		return false
	}
	cut := d.Count > listed
	d.Count = min(d.Count, listed)
	for i := range d.Top[:d.Count] {
		d.Top[i] = Entry{r.region(), r.time()}
	}
	return r.ok && (cut || r.at == len(b))
}

// A decoder reads varints; past the end it gives zeros and is no longer ok. It counts the bytes read
// instead of moving the slice: a pointer that is written costs more than the number it leads to while
// memory is collected.
type decoder struct {
	b  []byte
	at int
	ok bool
}

func (r *decoder) next() uint64 {
	if r.at < len(r.b) && r.b[r.at] < 0x80 { // the common case, inlined
		r.at++
		return uint64(r.b[r.at-1])
	}
	return r.long()
}

// long reads a number of eight bytes at once: the bytes up to the first without its
// top bit, sevens of bits pushed together in three steps.
func (r *decoder) long() uint64 {
	if r.at+8 <= len(r.b) {
		x := binary.LittleEndian.Uint64(r.b[r.at:])
		if last := ^x & 0x8080808080808080; last != 0 {
			n := bits.TrailingZeros64(last) + 1
			x &= (1<<n - 1) & 0x7f7f7f7f7f7f7f7f
			x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
			x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
			x = x&0x000000000fffffff | x&0x0fffffff00000000>>4
			r.at += n / 8
			return x
		}
	}
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 {
		r.ok, r.at = false, len(r.b)
		return 0
	}
	r.at += n
	return v
}

func (r *decoder) time() trace.Time { return trace.Time(r.next()) }

func (r *decoder) region() trace.RegionID { return trace.RegionID(r.next()) }
