package budget

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// errKept is the error of bytes that no budget was written to.
var errKept = errors.New("these are not the bytes of a budget of waiting")

// Append writes a budget, so that it can lie with its run: numbers of variable length, and of details, which are mostly
// 0, only the others.
func (r *Result) Append(b []byte) []byte {
	for _, n := range [...]int64{int64(r.Bins), int64(r.Fold), int64(r.Begin), int64(r.End), r.Waits, r.Clipped, r.Cut,
		int64(r.Total), int64(r.Unexplained)} {
		b = binary.AppendVarint(b, n)
	}
	b = appendTimes(b, r.Kinds[:])
	b = appendTimes(b, r.Waited)
	b = appendTimes(b, r.InCalls)
	b = binary.AppendUvarint(b, uint64(len(r.Rows)))
	for i := range r.Rows {
		x := &r.Rows[i]
		b = binary.AppendVarint(b, int64(x.Actor))
		b = binary.AppendVarint(b, int64(x.Region))
		b = appendTimes(b, x.Direct[:])
		b = appendTimes(b, x.Indirect[:])
		b = x.Victims.append(b)
		b = x.Series.append(b)
	}
	return b
}

// SizeBytes is about how much memory a budget takes.
func (r *Result) SizeBytes() int64 {
	n := int64(len(r.Waited)+len(r.InCalls)) * 8
	for i := range r.Rows {
		n += r.Rows[i].Victims.sizeBytes() + r.Rows[i].Series.sizeBytes() + 300
	}
	return n + 400
}

func (t *Times) sizeBytes() int64 { return int64(len(t.times))*8 + int64(len(t.at))*4 }

// append writes how many there are and, of those that are not 0, how many came since the one before and the time.
func (t *Times) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(t.n))
	last := 0
	for i, x := range t.All() {
		b = binary.AppendVarint(binary.AppendUvarint(b, uint64(i-last)), int64(x))
		last = i
	}
	return binary.AppendUvarint(b, uint64(t.n-last)) // past the last: an end
}

func appendTimes(b []byte, list []trace.Time) []byte {
	t := Times{n: len(list), times: list}
	return t.append(b)
}

// Read gives a budget of so many actors and regions that Append wrote.
func Read(b []byte, actors, regions int) (*Result, error) {
	k := &keptReader{b: b}
	r := &Result{Bins: int(k.number()), Fold: int(k.number()), Begin: trace.Time(k.number()),
		End: trace.Time(k.number()), Waits: k.number(), Clipped: k.number(), Cut: k.number(),
		Total: trace.Time(k.number()), Unexplained: trace.Time(k.number())}
	if k.bad || r.Bins != Bins || r.Fold != max(1, (actors+blocks-1)/blocks) {
		return nil, errKept
	}
	victims := (actors + r.Fold - 1) / r.Fold
	k.times(r.Kinds[:])
	r.Waited, r.InCalls = k.list(actors*NumKinds), k.list(regions)
	n := k.count()
	if k.bad || n > uint64(len(k.b)) {
		return nil, errKept
	}
	r.Rows = make([]Row, n)
	left := mostDetail
	for i := range r.Rows {
		x := &r.Rows[i]
		x.Actor, x.Region = k.number32(), k.number32()
		k.times(x.Direct[:])
		k.times(x.Indirect[:])
		x.Victims = k.some(victims)
		x.Series = k.some(Bins)
		left -= x.Victims.n + x.Series.n
		if k.bad || left < 0 || x.Actor < NoActor || int(x.Actor) >= actors || x.Region < 0 ||
			int(x.Region) >= regions || (x.Victims.n == 0) != (x.Series.n == 0) {
			return nil, errKept
		}
	}
	if k.bad || len(k.b) > 0 {
		return nil, errKept
	}
	return r, nil
}

// A keptReader takes numbers from the front; after the first that cannot be there all are 0.
type keptReader struct {
	b        []byte
	bad      bool
	gathered gathering
}

func (k *keptReader) number() int64 {
	x, n := binary.Varint(k.b)
	if n <= 0 {
		k.b, k.bad = nil, true
		return 0
	}
	k.b = k.b[n:]
	return x
}

func (k *keptReader) number32() int32 {
	x := k.number()
	k.bad = k.bad || x < math.MinInt32 || x > math.MaxInt32
	return int32(x)
}

func (k *keptReader) count() uint64 {
	x, n := binary.Uvarint(k.b)
	if n <= 0 {
		k.b, k.bad = nil, true
		return 0
	}
	k.b = k.b[n:]
	return x
}

// list reads as many times as are told, or none.
func (k *keptReader) list(n int) []trace.Time {
	if x, size := binary.Uvarint(k.b); size > 0 && x == 0 {
		k.times(nil)
		return nil
	}
	if k.bad {
		return nil
	}
	out := make([]trace.Time, n)
	k.times(out)
	return out
}

// some reads as many times as are told, or none, and keeps those that are not 0.
func (k *keptReader) some(n int) Times {
	told := k.count()
	if told != 0 && told != uint64(n) {
		k.b, k.bad = nil, true
	}
	k.pairs(told, func(at uint64, t trace.Time) { k.gathered.add(int(at), t) })
	if told == 0 {
		return Times{}
	}
	return k.gathered.done(n)
}

// times reads as many times as are told.
func (k *keptReader) times(out []trace.Time) {
	if k.count() != uint64(len(out)) {
		k.b, k.bad = nil, true
	}
	k.pairs(uint64(len(out)), func(at uint64, t trace.Time) { out[at] = t })
}

// pairs reads where times are that are not 0, of so many, and the times.
func (k *keptReader) pairs(n uint64, take func(at uint64, t trace.Time)) {
	for at, any := uint64(0), false; !k.bad; any = true {
		step := k.count()
		if at += step; at >= n || k.bad || any && step == 0 { // none is told twice
			k.bad = k.bad || at != n
			return
		}
		take(at, trace.Time(k.number()))
	}
}
