package moment

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Name of the summary.
const Name = "moments"

// Summary is the digest that a store keeps in its forest: for each role that is
// innermost somewhere in a stretch a sketch of order three. The roles of one lane
// never overlap in time, so any set of roles, such as busy time, is their merge.
//
//	u8  roles present, bit r-1 for role r; annotations are left out, since alone
//	    they are not busy and otherwise transparent
//	origin of the means, as u8 k and varint origin / 2^k; where no role is present the block ends before it
//	for each role present, lowest first: uvarint 2 × weight + b, which is whole nanoseconds; f64 mean; where b = 0
//	also f64 M2 and M3, which else are those of a single bar
//
// So a block takes about 30 bytes for one role and 27 for each further one.
type Summary struct{}

var _ trace.Summary = Summary{}

func (Summary) Name() string { return Name }
func (Summary) Version() int { return 3 }

const (
	keptRoles  = int(trace.RoleOverhead) // the highest role kept
	shapeBytes = 24                      // of mean, M2, M3
	meanBytes  = 8
)

// A RoleSet is a set of roles as bits.
type RoleSet uint16

// Roles makes a set.
func Roles(list ...trace.Role) (s RoleSet) {
	for _, r := range list {
		s |= 1 << r
	}
	return s
}

// Has reports whether a role is in the set.
func (s RoleSet) Has(r trace.Role) bool { return s>>r&1 == 1 }

// BusyRoles are those that count as busy by default.
var BusyRoles = func() (s RoleSet) {
	for r := range trace.Role(trace.RoleCount) {
		if r.Busy() {
			s |= 1 << r
		}
	}
	return s
}()

// Build appends the block of one stretch. O(segments).
func (Summary) Build(dst trace.Block, s *trace.Stretch, _ []trace.Region) trace.Block {
	var parts [keptRoles + 1]Cubic
	var many *[keptRoles + 1]accumulator
	list := s.Segments
	if len(list) > partBars { // few stretches are that long: the others need no two steps
		many = new([keptRoles + 1]accumulator)
	}
	for i := 0; i < len(list); {
		k, role := i+1, list[i].Role
		for k < len(list) && list[k].Role == role && list[k].Begin == list[k-1].End {
			k++ // touching segments of one role are one bar
		}
		switch {
		case role == trace.RoleNone || int(role) > keptRoles:
		case many == nil:
			parts[role].Add(list[i].Begin, list[k-1].End)
		default:
			many[role].add(list[i].Begin, list[k-1].End)
		}
		i = k
	}
	if many != nil {
		for r := range parts {
			parts[r] = many[r].sum()
		}
	}
	return appendBlock(dst, s.Begin, &parts)
}

// Merge appends the block of two neighbours. Blocks that are none make one that is none.
func (Summary) Merge(dst trace.Block, a, b trace.Block) trace.Block {
	var parts [keptRoles + 1]Cubic
	left, right := reader{b: a}, reader{b: b}
	for left.next() {
		parts[left.role] = left.cubic
	}
	for right.next() {
		parts[right.role].Merge(&right.cubic)
	}
	if !left.whole() || !right.whole() {
		return dst
	}
	origin := trace.Time(math.MaxInt64)
	for r := range parts {
		if parts[r].Weight > 0 {
			origin = min(origin, parts[r].Origin)
		}
	}
	return appendBlock(dst, origin, &parts)
}

func appendBlock(dst trace.Block, origin trace.Time, parts *[keptRoles + 1]Cubic) trace.Block {
	mask := byte(0)
	for r := 1; r <= keptRoles; r++ {
		if parts[r].Weight > 0 {
			mask |= 1 << (r - 1)
		}
	}
	dst = append(dst, mask)
	if mask == 0 {
		return dst
	}
	shift := bits.TrailingZeros64(uint64(origin)) & 63 // bins begin at multiples of their length
	dst = binary.AppendVarint(append(dst, byte(shift)), int64(origin)>>shift)
	for r := 1; r <= keptRoles; r++ {
		p := &parts[r]
		if p.Weight == 0 {
			continue
		}
		single := p.M3 == 0 && p.M2 == barM2(p.Weight)
		if dst = binary.AppendUvarint(dst, uint64(p.Weight)<<1|bit(single)); single {
			dst = appendFloat(dst, float64(p.Origin-origin)+p.Mean)
			continue
		}
		n := len(dst)
		dst = slices.Grow(dst, shapeBytes)[:n+shapeBytes]
		b := dst[n : n+shapeBytes]
		binary.LittleEndian.PutUint64(b, math.Float64bits(float64(p.Origin-origin)+p.Mean))
		binary.LittleEndian.PutUint64(b[8:], math.Float64bits(p.M2))
		binary.LittleEndian.PutUint64(b[16:], math.Float64bits(p.M3))
	}
	return dst
}

// barM2 is the second moment of a bar.
func barM2(length float64) float64 { return length * length * length / 12 }

func bit(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

func appendFloat(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
}

// A reader goes through the sketches of a block without allocating.
type reader struct {
	b     trace.Block
	at    int // 0 before the first
	role  trace.Role
	cubic Cubic
}

// next takes the next sketch.
func (r *reader) next() bool {
	if r.at == 0 {
		if len(r.b) < 2 || r.b[0]>>keptRoles != 0 || r.b[1] > 63 {
			return false
		}
		origin, n := binary.Varint(r.b[2:])
		if n <= 0 {
			return false
		}
		r.cubic.Origin, r.at = trace.Time(origin<<r.b[1]), 2+n
	}
	for r.role++; int(r.role) <= keptRoles && r.b[0]>>(r.role-1)&1 == 0; {
		r.role++
	}
	if int(r.role) > keptRoles {
		return false
	}
	weight, n := binary.Uvarint(r.b[r.at:])
	size := shapeBytes
	if weight&1 == 1 {
		size = meanBytes
	}
	if n <= 0 || len(r.b) < r.at+n+size {
		return false
	}
	v := r.b[r.at+n : r.at+n+size]
	r.cubic.Weight = float64(weight >> 1)
	r.cubic.Mean = math.Float64frombits(binary.LittleEndian.Uint64(v))
	r.cubic.M2, r.cubic.M3 = barM2(r.cubic.Weight), 0
	if size == shapeBytes {
		r.cubic.M2 = math.Float64frombits(binary.LittleEndian.Uint64(v[8:]))
		r.cubic.M3 = math.Float64frombits(binary.LittleEndian.Uint64(v[16:]))
	}
	r.at += n + size
	return true
}

// whole reports whether the block was one and is read to its end.
func (r *reader) whole() bool {
	if len(r.b) == 1 {
		return r.b[0] == 0
	}
	return len(r.b) > 0 && r.b[0] != 0 && r.at == len(r.b) && int(r.role) > keptRoles
}

// AddBlock merges the roles of a set from a block into s; false if it is no block.
func (s *Cubic) AddBlock(b trace.Block, set RoleSet) bool {
	r := reader{b: b}
	for r.next() {
		if set.Has(r.role) {
			s.Merge(&r.cubic)
		}
	}
	return r.whole()
}

// AddSegments merges the segments of a stretch whose role is in the set.
func (s *Cubic) AddSegments(list []trace.Segment, set RoleSet) {
	if len(list) == 1 { // most stretches of short lanes
		if set.Has(list[0].Role) {
			s.Add(list[0].Begin, list[0].End)
		}
		return
	}
	var sum accumulator
	EachBar(list, set, sum.add)
	c := sum.sum()
	s.Merge(&c)
}

// EachBar yields the time in which the role is in the set, touching segments joined.
func EachBar(list []trace.Segment, set RoleSet, f func(begin, end trace.Time)) {
	for i := 0; i < len(list); {
		if !set.Has(list[i].Role) {
			i++
			continue
		}
		k := i + 1
		for k < len(list) && set.Has(list[k].Role) && list[k].Begin == list[k-1].End {
			k++
		}
		f(list[i].Begin, list[k-1].End)
		i = k
	}
}
