package otf2

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestTicksBecomeTheNearestNanosecond(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, resolution := range []uint64{1, 1000, 999_999_999, 1_000_000_000, 1_995_386_627, 3_000_000_001, 1 << 40} {
		for _, origin := range []uint64{0, 1 << 52, 3_971_700_851_734_240} {
			timer := newTimer(resolution, origin)
			for range 1000 {
				d := random.Int64N(int64(min(resolution, 1<<32)) * 1000)
				if random.IntN(10) == 0 {
					d = -d
				}
				exact := new(big.Int).Mul(big.NewInt(d), big.NewInt(2*nanoseconds))
				exact.Add(exact, new(big.Int).SetUint64(resolution-resolution%2))
				exact.Div(exact, new(big.Int).SetUint64(2*resolution)) // rounds down: Euclid
				if got := timer.at(origin + uint64(d)); got != trace.Time(exact.Int64()) {
					t.Fatalf("%d ticks at %d a second are %d ns, want %v", d, resolution, got, exact)
				}
			}
		}
	}
}

func TestOffsetsAreInterpolated(t *testing.T) {
	var c correction
	if got := c.at(7); got != 7 {
		t.Errorf("without offsets 7 becomes %d", got)
	}
	c.add(clockOffset{1000, 500})
	if got := c.at(20); got != 520 {
		t.Errorf("with one offset 20 becomes %d", got)
	}
	c.add(clockOffset{2000, 700})
	c.add(clockOffset{4000, 300})
	for _, x := range []struct{ ticks, want uint64 }{
		{1000, 1500}, {1500, 2100}, {2000, 2700}, {3000, 3500}, {4000, 4300},
		{0, 300},     // the first pair, extended
		{5000, 5100}, // the last pair, extended
		{1500, 2100}, // and back again
	} {
		if got := c.at(x.ticks); got != x.want {
			t.Errorf("%d becomes %d, want %d", x.ticks, got, x.want)
		}
	}
}

func TestTwoOffsetsOfOneTimeAreOne(t *testing.T) {
	var c correction
	c.add(clockOffset{1000, 500})
	c.add(clockOffset{1000, 600})
	if got := c.at(0); got != 600 {
		t.Errorf("0 becomes %d", got)
	}
}
