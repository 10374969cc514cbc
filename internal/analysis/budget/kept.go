package budget

import (
	"encoding/binary"
	"errors"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// SizeBytes is about how much memory a budget takes.
func (r *Result) SizeBytes() int64 {
	n := int64(len(r.Waited)+len(r.InCalls)) * 8
	for i := range r.Rows {
		n += r.Rows[i].Waiters.sizeBytes() + r.Rows[i].Series.sizeBytes() + 300
	}
	return n + 400
}

func (t *Times) sizeBytes() int64 { return int64(len(t.times))*8 + int64(len(t.at))*4 }

// errOtherRun is the error of a budget that names locations or regions unknown to its run.
var errOtherRun = errors.New("the budget of waiting is not that of this run")

// Fits checks that a budget that was kept is of so many actors and regions.
func (r *Result) Fits(actors, regions int) error {
	if r.Bins != Bins || r.Fold != max(1, (actors+blocks-1)/blocks) || !isLong(len(r.Waited), actors*NumKinds) ||
		!isLong(len(r.InCalls), regions) {
		return errOtherRun
	}
	waiters := (actors + r.Fold - 1) / r.Fold
	left := mostDetail
	for i := range r.Rows {
		x := &r.Rows[i]
		left -= x.Waiters.n + x.Series.n
		if left < 0 || x.Actor < NoActor || int(x.Actor) >= actors || x.Region < 0 || int(x.Region) >= regions ||
			!isLong(x.Waiters.n, waiters) || !isLong(x.Series.n, Bins) || (x.Waiters.n == 0) != (x.Series.n == 0) {
			return errOtherRun
		}
	}
	return nil
}

// isLong reports whether a list has as many as it should, or none.
func isLong(n, want int) bool { return n == 0 || n == want }

// GobEncode writes how many there are and, of those that are not 0, how many came since the one before and the time.
func (t Times) GobEncode() ([]byte, error) {
	b := binary.AppendUvarint(nil, uint64(t.n))
	last := 0
	for i, x := range t.All() {
		b = binary.AppendVarint(binary.AppendUvarint(b, uint64(i-last)), int64(x))
		last = i
	}
	return b, nil
}

// errTimes is the error of bytes that GobEncode did not write.
var errTimes = errors.New("these are not times of a budget")

// GobDecode reads what GobEncode wrote.
func (t *Times) GobDecode(b []byte) error {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > max(blocks, Bins) {
		return errTimes
	}
	var g gathering
	at := uint64(0)
	for b = b[size:]; len(b) > 0; {
		step, size := binary.Uvarint(b)
		if size <= 0 {
			return errTimes
		}
		x, wide := binary.Varint(b[size:])
		if at += step; wide <= 0 || at >= n || step == 0 && len(g.at) > 0 { // none is reported twice
			return errTimes
		}
		g.add(int(at), trace.Time(x))
		b = b[size+wide:]
	}
	*t = g.done(int(n))
	return nil
}
