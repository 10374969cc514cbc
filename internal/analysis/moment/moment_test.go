package moment

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

type vectors struct {
	Cases []struct {
		Name   string
		T0, Tf trace.Time
		Busy   [][2]tick
		Exact  struct {
			M0 string
			M1 *string
			Mu map[string]string
		}
		M       []*float64
		Mk      map[string]*float64
		Float64 struct {
			M1 *string `json:"m1_relative_to_t0_exact"`
		}
	}
	LongStreams []struct {
		Seed      uint64
		Bars      int
		Offset    trace.Time
		T0        trace.Time
		Mu2       float64
		Mu3       float64
		Mu4       float64
		M1MinusT0 float64   `json:"m1_minus_t0"`
		M         []float64 `json:"m"`
	} `json:"long_streams"`
	Overlap []struct {
		Name   string
		Busy   [][2]trace.Time
		T0, Tf trace.Time
		Union  struct{ M []float64 }
		Sum    struct{ M []float64 }
	}
	Merge []struct {
		Name   string
		A, B   [][2]trace.Time
		Merged struct {
			W, Mean string
			M       []string
		} `json:"merged_state"`
	}
	TwoBar []struct {
		Name    string
		Mu      []string
		TwoBars [][2]float64 `json:"two_bars"`
	} `json:"two_bar_inverse"`
}

// A tick is a time of the vectors: an integer, or a ratio in one case, which is
// run in units of 1/462.
type tick struct{ *big.Rat }

func (x *tick) UnmarshalJSON(b []byte) error {
	x.Rat = new(big.Rat)
	_, ok := x.SetString(strings.Trim(string(b), `"`))
	if !ok {
		return fmt.Errorf("not a ratio: %s", b)
	}
	return nil
}

// inUnits gives the intervals in units of 1/scale.
func inUnits(t *testing.T, list [][2]tick, scale int64) (out []Interval) {
	at := func(x tick) trace.Time {
		r := new(big.Rat).Mul(x.Rat, big.NewRat(scale, 1))
		if !r.IsInt() {
			t.Fatalf("%v is not a multiple of 1/%d", x, scale)
		}
		return trace.Time(r.Num().Int64())
	}
	for _, x := range list {
		out = append(out, Interval{at(x[0]), at(x[1])})
	}
	return out
}

func load(t *testing.T) (v vectors) {
	b, err := os.ReadFile("testdata/moments.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func ratio(t *testing.T, s string) float64 {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("not a ratio: %q", s)
	}
	f, _ := r.Float64()
	return f
}

// near holds got against want to 1e-12, relative to scale.
func near(t *testing.T, what string, got, want, scale float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*math.Max(math.Abs(want), math.Abs(scale))) {
		t.Errorf("%s = %v, want %v (off by %g)", what, got, want, got-want)
	}
}

func intervals(list [][2]trace.Time) (out []Interval) {
	for _, x := range list {
		out = append(out, Interval{x[0], x[1]})
	}
	return out
}

func TestMomentsEqualTheExactOnes(t *testing.T) {
	for _, c := range load(t).Cases {
		t.Run(c.Name, func(t *testing.T) {
			unit := int64(1)
			if c.Name == "fractional" {
				unit = 462
			}
			u := float64(unit)
			t0 := c.T0 * trace.Time(unit)
			s := sketchOf(unionOf(inUnits(t, c.Busy, unit), t0, c.Tf*trace.Time(unit)), MaxOrder)
			near(t, "m0", s.M0()/u, ratio(t, c.Exact.M0), 0)
			if s.Empty() {
				if c.M[1] != nil || !math.IsNaN(s.M1(t0)) {
					t.Error("moments past m0 must be undefined without busy time")
				}
				return
			}
			m1 := c.Exact.M1
			if c.Float64.M1 != nil {
				m1 = c.Float64.M1
			}
			near(t, "m1", s.M1(t0)/u, ratio(t, *m1), 0)
			scale := math.Sqrt(3 * ratio(t, c.Exact.Mu["2"]))
			for k := 2; k <= MaxOrder; k++ {
				near(t, "mu", s.Mu(k)/math.Pow(u, float64(k)), ratio(t, c.Exact.Mu[string(rune('0'+k))]), math.Pow(scale, float64(k)))
			}
			near(t, "m2", s.M(2)/u, *c.M[2], 0)
			if mu3 := ratio(t, c.Exact.Mu["3"]); math.Abs(mu3) > 1e-9*math.Pow(scale, 3) {
				near(t, "m3", s.M(3)/u/(*c.M[3]), 1, 1e3)
			}
		})
	}
}

func TestLongStreamsKeepTheirDigits(t *testing.T) {
	for _, c := range load(t).LongStreams {
		state := c.Seed
		next := func() uint64 {
			state += 0x9E3779B97F4A7C15
			z := state
			z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
			z = (z ^ z>>27) * 0x94D049BB133111EB
			return z ^ z>>31
		}
		var list []Interval
		at := c.Offset
		for range c.Bars {
			at += trace.Time(1 + next()%1000)
			length := trace.Time(1 + next()%500)
			list = append(list, Interval{at, at + length})
			at += length
		}
		s := sketchOf(list, 4)
		near(t, "m0", s.M0(), c.M[0], 0)
		near(t, "m1", s.M1(c.T0), c.M1MinusT0, 0)
		near(t, "mu2", s.Mu(2), c.Mu2, 0)
		near(t, "mu3", s.Mu(3), c.Mu3, math.Pow(3*c.Mu2, 1.5))
		near(t, "mu4", s.Mu(4), c.Mu4, 0)
	}
}

func TestOverlapCountsOnceInTheUnionAndTwiceInTheSum(t *testing.T) {
	for _, c := range load(t).Overlap {
		union := sketchOf(unionOf(intervals(c.Busy), c.T0, c.Tf), 3)
		var sum Sketch
		for _, x := range c.Busy {
			sum.Add(max(x[0], c.T0), min(x[1], c.Tf), 3)
		}
		for name, x := range map[string]struct {
			s    Sketch
			want []float64
		}{"union": {union, c.Union.M}, "sum": {sum, c.Sum.M}} {
			near(t, c.Name+" "+name+" m0", x.s.M0(), x.want[0], 0)
			near(t, c.Name+" "+name+" m1", x.s.M1(0), x.want[1], 0)
			near(t, c.Name+" "+name+" m2", x.s.M(2), x.want[2], 0)
		}
	}
}

func TestMergedStatesEqualTheExactOnes(t *testing.T) {
	for _, c := range load(t).Merge {
		a, b := sketchOf(intervals(c.A), MaxOrder), sketchOf(intervals(c.B), MaxOrder)
		a.Merge(&b, MaxOrder)
		w := ratio(t, c.Merged.W)
		near(t, c.Name+" weight", a.Weight, w, 0)
		if w == 0 {
			continue
		}
		near(t, c.Name+" mean", a.M1(0), ratio(t, c.Merged.Mean), 0)
		for k := 2; k <= MaxOrder; k++ {
			near(t, c.Name+" central", a.Central[k], ratio(t, c.Merged.M[k]), w*math.Pow(a.M(2), float64(k)))
		}
	}
}

func TestTwoBarsInvertTheMoments(t *testing.T) {
	for _, c := range load(t).TwoBar {
		left, right, ok := TwoBars(ratio(t, c.Mu[0]), ratio(t, c.Mu[1]), ratio(t, c.Mu[2]), ratio(t, c.Mu[3]))
		if ok != (len(c.TwoBars) == 2) {
			t.Errorf("%s: a pair of bars: %v, want %v", c.Name, ok, c.TwoBars)
		}
		if !ok {
			continue
		}
		for i, got := range [][2]float64{left, right} {
			for j := range got {
				if want := c.TwoBars[i][j]; math.Abs(got[j]-want) > 1e-6*math.Max(1, math.Abs(want)) {
					t.Errorf("%s: bars %v %v, want %v", c.Name, left, right, c.TwoBars)
				}
			}
		}
	}
}

// mirrored is a list of bars that end by a time, and the same after it in reverse.
func mirrored(list []Interval, at trace.Time) []Interval {
	out := slices.Clone(list)
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, Interval{2*at - list[i].End, 2*at - list[i].Begin})
	}
	return out
}

// TestProperties: ranges of m0 and m1, 2·m2 ≥ m0 with equality for one bar alone, no skew of symmetric signals; order
// of merging does not matter, windows add up.
func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var list []Interval
		at := trace.Time(r.Int64N(1 << 60))
		t0 := at
		for range 1 + r.IntN(12) {
			at += trace.Time(1 + r.Int64N(1000))
			n := trace.Time(1 + r.Int64N(1000))
			list = append(list, Interval{at, at + n})
			at += n
		}
		whole := sketchOf(list, 5)
		if 2*whole.M(2) < whole.M0()*(1-1e-12) {
			t.Fatalf("2 m2 = %v < m0 = %v", 2*whole.M(2), whole.M0())
		}
		if one := len(list) == 1; one != (math.Abs(2*whole.M(2)-whole.M0()) < 1e-9*whole.M0()) {
			t.Fatalf("%d bars: 2 m2 = %v, m0 = %v", len(list), 2*whole.M(2), whole.M0())
		}
		if m0, m1, length := whole.M0(), whole.M1(t0), float64(at-t0); m0 < 0 || m0 > length || m1 < 0 || m1 > length {
			t.Fatalf("m0 = %v and m1 = %v of %v", m0, m1, length)
		}
		both := sketchOf(mirrored(list, at), 5)
		if math.Abs(both.Mu(3)) > 1e-10*math.Pow(both.M(2), 3) {
			t.Fatalf("a symmetric signal has mu3 = %v, m2 = %v", both.Mu(3), both.M(2))
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		other := Sketch{}
		for _, x := range list {
			other.Add(x.Begin, x.End, 5)
		}
		cut := t0 + trace.Time(r.Int64N(int64(at-t0)))
		l := sketchOf(unionOf(append([]Interval{}, list...), t0, cut), 5)
		rest := sketchOf(unionOf(append([]Interval{}, list...), cut, at), 5)
		l.Merge(&rest, 5)
		for _, s := range []Sketch{other, l} {
			if math.Abs(s.M0()-whole.M0()) > 1e-9 || math.Abs(s.M1(t0)-whole.M1(t0)) > 1e-6 {
				t.Fatalf("m0, m1 = %v, %v; want %v, %v", s.M0(), s.M1(t0), whole.M0(), whole.M1(t0))
			}
			for k := 2; k <= 5; k++ {
				if math.Abs(s.Mu(k)-whole.Mu(k)) > 1e-10*math.Pow(whole.M(2), float64(k)) {
					t.Fatalf("mu%d = %v, want %v", k, s.Mu(k), whole.Mu(k))
				}
			}
		}
	}
}
