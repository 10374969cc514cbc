package budget

import (
	"bytes"
	"encoding/gob"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// What lies with a run is the budget that was written there, with details and without.
func TestABudgetIsReadAsItWasWritten(t *testing.T) {
	for _, most := range []int{mostDetail, 6 * (48 + Bins)} {
		want := waited(t, 2, most)
		got := &Result{}
		if err := gob.NewDecoder(bytes.NewReader(written(t, want))).Decode(got); err != nil || got.Fits(48, 20) != nil {
			t.Fatal(err, got.Fits(48, 20))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("room for %d: another budget was read than was written", most)
		}
	}
}

func written(t *testing.T, r *Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Bytes that somebody else put there are refused or give a budget whose rows are of this run: nothing panics.
func TestBytesThatAreNoBudgetAreRefused(t *testing.T) {
	want := waited(t, 1, 6*(48+Bins))
	for _, run := range [][2]int{{47, 20}, {48, 19}, {2000, 20}} {
		if want.Fits(run[0], run[1]) == nil {
			t.Errorf("it was taken for that of %d actors and %d regions", run[0], run[1])
		}
	}
	good := written(t, want)
	rng := rand.New(rand.NewPCG(3, 5))
	for range 500 {
		b := bytes.Clone(good)
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		r := &Result{}
		if gob.NewDecoder(bytes.NewReader(b)).Decode(r) != nil || r.Fits(48, 20) != nil {
			continue
		}
		for _, x := range r.Rows {
			if x.Actor < NoActor || x.Actor >= 48 || x.Region < 0 || x.Region >= 20 || x.Waiters.Len() != 0 && x.Waiters.Len() != 48 {
				t.Fatalf("a row is of actor %d, region %d", x.Actor, x.Region)
			}
		}
	}
}

// Parts go to the largest remainders, whether they are sorted or looked for one by one.
func TestSharesOfFewAndOfManyAreCutAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for range 500 {
		n := 2 + rng.IntN(fewWeights-1)
		many := fewWeights + 1 + rng.IntN(9)
		weights := make([]trace.Time, many) // those beyond n are 0, and get nothing
		for i := range n {
			weights[i] = trace.Time(rng.Int64N(7))
		}
		few, all := make([]trace.Time, n), make([]trace.Time, many)
		amount := trace.Time(rng.Int64N(1000))
		share(amount, weights[:n], few, make([]int, n), make([]uint64, n))
		share(amount, weights, all, make([]int, many), make([]uint64, many))
		if !reflect.DeepEqual(few, all[:n]) {
			t.Fatalf("%d by %v: %v, and sorted %v", amount, weights[:n], few, all)
		}
	}
}
