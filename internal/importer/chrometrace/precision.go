package chrometrace

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A precision follows how exact the times of a file are. Complete records give a begin
// and a duration, each rounded by itself, so that a child may seem to end after its
// parent, or an interval to begin before its neighbour has ended. By how much follows from
// the digits: an end is off by half a unit of each, the difference of two ends by a
// unit of each. Records with begin and end of their own (B and E, b and e) keep their
// order when rounded and need no more.
type precision struct {
	complete      bool  // a complete record was met
	begin, length int32 // most digits after the point
	digits        int32 // most digits of a begin, both sides of the point
	latest        int64 // the begin farthest from zero, in nanoseconds
}

// timeDigits are how the times of a record are written.
type timeDigits struct{ whole, after, length int32 }

// see takes the times of a record: when it begins, in nanoseconds, and how that and its length are written.
func (p *precision) see(at int64, d timeDigits) {
	p.complete = true
	p.begin = max(p.begin, d.after)
	p.digits = max(p.digits, d.whole+d.after)
	p.latest = max(p.latest, at, -at)
	p.length = max(p.length, min(d.length, 3)) // a nanosecond is the most that is kept
}

// digitsOf counts the digits before and after the point. A number with an exponent has as
// many as a float64 has.
func digitsOf(raw []byte) (whole, after int32) {
	point := int32(len(raw))
	for i, c := range raw {
		switch {
		case c == '.':
			point = int32(i)
		case c|0x20 == 'e':
			return most17, 0
		}
	}
	if len(raw) > 0 && raw[0] == '-' {
		whole--
	}
	return whole + point, max(int32(len(raw))-point-1, 0)
}

// most17 is how many digits a float64 is written with at the most.
const most17 = 17

// tolerance is by how much the ends of two intervals may be off against each other.
func (p *precision) tolerance() trace.Time {
	if !p.complete {
		return 0
	}
	unit := func(digits int32) float64 { // in nanoseconds, the unit of stored times
		return max(math.Pow10(3-int(digits)), 1)
	}
	begin, length := unit(p.begin), unit(p.length)
	if p.digits <= most17 && p.begin > 0 {
		// Written by a program that keeps times as floating point: of a time since 1970
		// that is every quarter of a microsecond, whatever its digits say.
		latest := float64(p.latest) / 1000
		grain := 1000 * (math.Nextafter(latest, math.Inf(1)) - latest)
		begin, length = max(begin, grain), max(length, grain)
	}
	return trace.Time(math.Ceil(begin + length))
}
