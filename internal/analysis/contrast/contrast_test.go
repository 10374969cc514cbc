package contrast

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
)

// sets are small enough for every permutation: with and without ties, of all sizes.
func sets(random *rand.Rand) (a, b []float64) {
	a, b = make([]float64, 1+random.IntN(5)), make([]float64, 1+random.IntN(7))
	round := []float64{0.01, 1, 10}[random.IntN(3)]
	for i := range a {
		a[i] = math.Round(random.NormFloat64()*10/round) * round
	}
	for i := range b {
		b[i] = math.Round((random.NormFloat64()*10+3)/round) * round
	}
	return a, b
}

// bruteRank deals the values to two sets in every way and asks how often the sum of
// ranks of the first is as far from its mean. It counts ranks by comparing.
func bruteRank(a, b []float64) float64 {
	all := slices.Concat(a, b)
	rank := func(x float64) float64 {
		r := 0.5
		for _, y := range all {
			if y < x {
				r++
			} else if y == x {
				r += 0.5
			}
		}
		return r
	}
	n, mean := len(a), float64(len(a)*(len(all)+1))/2
	observed := 0.0
	for _, x := range a {
		observed += rank(x)
	}
	hits, ways := 0, 0
	for set := range 1 << len(all) {
		if bits.OnesCount(uint(set)) != n {
			continue
		}
		sum := 0.0
		for i := range all {
			if set>>i&1 == 1 {
				sum += rank(all[i])
			}
		}
		ways++
		if math.Abs(sum-mean) >= math.Abs(observed-mean)-1e-9 {
			hits++
		}
	}
	return float64(hits) / float64(ways)
}

func TestTheRankTestEqualsAllPermutations(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a, b := sets(random)
		got, method := rankTest(a, b, &drawer{})
		if want := bruteRank(a, b); method != Exact || math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v against %v: p = %v (%v), want %v", a, b, got, method, want)
		}
	}
}

// bruteSigns gives every pair its sign in every way.
func bruteSigns(d []float64) float64 {
	d = slices.DeleteFunc(slices.Clone(d), func(v float64) bool { return v == 0 })
	rank := func(x float64) float64 {
		r := 0.5
		for _, y := range d {
			if math.Abs(y) < math.Abs(x) {
				r++
			} else if math.Abs(y) == math.Abs(x) {
				r += 0.5
			}
		}
		return r
	}
	observed := 0.0
	for _, x := range d {
		observed += math.Copysign(rank(x), x)
	}
	hits := 0
	for signs := range 1 << len(d) {
		sum := 0.0
		for i, x := range d {
			if signs>>i&1 == 1 {
				sum += rank(x)
			} else {
				sum -= rank(x)
			}
		}
		if math.Abs(sum) >= math.Abs(observed)-1e-9 {
			hits++
		}
	}
	return float64(hits) / float64(int(1)<<len(d))
}

func TestSignedRanksEqualAllSigns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		d := make([]float64, 1+random.IntN(10))
		for i := range d {
			d[i] = math.Round(random.NormFloat64()*3 + 1)
		}
		got, method := signedTest(d)
		if want := bruteSigns(d); method != Exact || math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v: p = %v (%v), want %v", d, got, method, want)
		}
	}
}

// TestDrawnAndNormalAreNearExact: the same sets by the three ways.
func TestDrawnAndNormalAreNearExact(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	draw := &drawer{}
	for range 40 {
		a, b := make([]float64, 10), make([]float64, 12)
		for i := range a {
			a[i] = math.Round(random.NormFloat64() * 20)
		}
		for i := range b {
			b[i] = math.Round(random.NormFloat64()*20 + 12)
		}
		exact, method := rankTest(a, b, draw)
		if method != Exact {
			t.Fatal(method)
		}
		ranks := midranks(a, b)
		sum := 0
		for _, r := range ranks[:10] {
			sum += r
		}
		far := int(math.Abs(float64(sum - 10*23)))
		drawn := draw.sum(ranks, 10, 10*23, far)
		if math.Abs(drawn-exact) > 5*math.Sqrt(exact*(1-exact)/draws)+2.0/draws {
			t.Errorf("drawn p = %v, exact %v", drawn, exact)
		}
		if normal := normalSum(ranks, 10, far); math.Abs(normal-exact) > 0.01+0.1*exact {
			t.Errorf("normal p = %v, exact %v", normal, exact)
		}
	}
}

func TestKnownValues(t *testing.T) {
	// Mann and Whitney's table of U: three against four, U = 0 has one-sided p 1/35.
	if p, _ := rankTest([]float64{1, 2, 3}, []float64{4, 5, 6, 7}, &drawer{}); math.Abs(p-2.0/35) > 1e-15 {
		t.Errorf("p = %v", p)
	}
	// Student's own table: t with 4 degrees of freedom at 2.776445 leaves 5 %, with 10 at 3.169273 1 %.
	for _, c := range []struct{ t, df, want float64 }{{2.7764451051977987, 4, 0.05}, {3.1692726716917837, 10, 0.01}, {12.706204736432095, 1, 0.05}, {1.9719, 200, 0.05}} {
		if p := tails(c.t, 1, c.df); math.Abs(p-c.want) > 1e-6 {
			t.Errorf("t = %v, %v degrees: p = %v, want %v", c.t, c.df, p, c.want)
		}
	}
	// One case against many: Crawford and Howell's formula by hand.
	b := []float64{10, 12, 11, 9, 13}
	tt := (20 - 11.0) / (math.Sqrt(2.5) * math.Sqrt(6.0/5))
	if got, want := student([]float64{20}, b), tails(tt, 1, 4); math.Abs(got-want) > 1e-12 {
		t.Errorf("p = %v, want %v", got, want)
	}
}

func TestShiftAndDeltaEqualAllPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		a, b := sets(random)
		var all, walsh []float64
		delta := 0.0
		for _, x := range a {
			for _, y := range b {
				all = append(all, x-y)
				if x > y {
					delta++
				} else if x < y {
					delta--
				}
			}
		}
		if got, want := Shift(a, b), orderstat.Median(all); got != want {
			t.Fatalf("%v against %v: shift %v, want %v", a, b, got, want)
		}
		if got, want := Delta(a, b), delta/float64(len(all)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v against %v: delta %v, want %v", a, b, got, want)
		}
		d := differences(a, b)
		for i, x := range d {
			for _, y := range d[i:] {
				walsh = append(walsh, (x+y)/2)
			}
		}
		if _, got := signed(a, b); got != orderstat.Median(walsh) {
			t.Fatalf("%v against %v: paired shift %v, want %v", a, b, got, orderstat.Median(walsh))
		}
	}
}

// noise gives comparisons of one distribution with itself.
func noise(random *rand.Rand, quantities, na, nb int, wild bool) []Comparison {
	list := make([]Comparison, quantities)
	for i := range list {
		draw := func() float64 {
			if wild {
				return math.Exp(random.NormFloat64())
			}
			return 10 + random.NormFloat64()
		}
		for range na {
			list[i].A = append(list[i].A, draw())
		}
		for range nb {
			list[i].B = append(list[i].B, draw())
		}
		list[i].Whole = 30
	}
	return list
}

func TestInjectedDifferencesAreFoundAndNoiseIsNot(t *testing.T) {
	for _, size := range [][2]int{{1, 7}, {1, 200}, {4, 12}, {8, 8}, {20, 20}, {3, 5000}, {300, 700}} {
		for _, wild := range []bool{false, true} {
			t.Run(fmt.Sprint(size, wild), func(t *testing.T) {
				random := rand.New(rand.NewPCG(9, uint64(size[0])))
				wrong := 0
				repeats, quantities := 20, 50
				if size[0]+size[1] > 500 {
					repeats, quantities = 2, 20
				}
				for range repeats {
					list := noise(random, quantities, size[0], size[1], wild)
					for _, j := range Judge(list) {
						if j.Clear {
							wrong++
						}
					}
					for i := range list[17].A {
						list[17].A[i] += 20
					}
					got := Judge(list)
					if j := got[17]; !j.Clear && !(wild && size[1] < 12) {
						t.Errorf("planted and not clear: %+v", j)
					}
					if wild && size[0] == 1 {
						continue // one value drawn so may be as large as what was planted
					}
					best := 0
					for i := range got {
						if got[i].Score() > got[best].Score() {
							best = i
						}
					}
					if j := got[17]; best != 17 || j.Delta < 0.8 || math.Abs(j.Shift-20) > 8 {
						t.Fatalf("planted: best is %d, %+v", best, j)
					}
				}
				t.Logf("%d of %d that do not differ are called clear", wrong, quantities*repeats)
				most := 10
				if wild && size[0] == 1 {
					most = 40 // Student's t is fooled by tails that long; docs/contrast.md says so
				}
				if wrong > most {
					t.Errorf("%d are too many", wrong)
				}
			})
		}
	}
}

func TestTheSameOnBothSidesIsNoDifference(t *testing.T) {
	for _, v := range [][]float64{{}, {0}, {5}, {5, 5, 5, 5, 5, 5, 5, 5}} {
		for _, paired := range []bool{false, true} {
			j := Judge([]Comparison{{A: v, B: v, Paired: paired, Whole: 10}})[0]
			if j.Clear || j.Delta != 0 || j.Shift != 0 || j.P != 1 {
				t.Errorf("%v, paired %v: %+v", v, paired, j)
			}
		}
	}
	j := Judge([]Comparison{{A: []float64{5, 5, 5, 5}, B: []float64{5, 5, 5, 5, 5, 5, 5}, Whole: 0}})[0]
	if j.Effect != 0 || j.Tested {
		t.Errorf("without a whole: %+v", j)
	}
}

func TestPairedTestsFindChangesSmallerThanTheSpread(t *testing.T) {
	var a, b []float64
	for i := range 12 { // ranks differ widely, each is 3 longer
		b = append(b, float64(100*i))
		a = append(a, float64(100*i)+3+float64(i%3))
	}
	apart := Judge([]Comparison{{A: a, B: b, Whole: 200}})[0]
	pairs := Judge([]Comparison{{A: a, B: b, Whole: 200, Paired: true}})[0]
	if apart.Clear || !pairs.Clear || pairs.Delta != 1 || math.Abs(pairs.Shift-4) > 0.5 {
		t.Errorf("sets %+v, pairs %+v", apart, pairs)
	}
}

func TestCorrectionIsThatOfBenjaminiAndHochberg(t *testing.T) {
	p := []float64{0.01, 0.04, 0.03, 0.005, 0.9}
	list := make([]Judgement, len(p)+1)
	for i := range p {
		list[i] = Judgement{P: p[i], Tested: true}
	}
	correct(list)
	// By hand: sorted 0.005 0.01 0.03 0.04 0.9, times 5/k: 0.025 0.025 0.05 0.05 0.9.
	for i, want := range []float64{0.025, 0.05, 0.05, 0.025, 0.9} {
		if math.Abs(list[i].Q-want) > 1e-12 {
			t.Errorf("q of %v is %v, want %v", p[i], list[i].Q, want)
		}
	}
	if !math.IsNaN(list[5].Q) {
		t.Errorf("q of what was not tested is %v", list[5].Q)
	}
}

// From tables of Student's distribution, two-sided.
func TestStudentQuantile(t *testing.T) {
	for _, c := range []struct{ probability, df, want float64 }{
		{0.05, 1, 12.70620}, {0.05, 2, 4.302653}, {0.05, 10, 2.228139}, {0.01, 1, 63.65674}, {0.01, 30, 2.749996},
		{0.05, 1e6, 1.959966},
	} {
		if got := studentQuantile(c.probability, c.df); math.Abs(got/c.want-1) > 1e-6 {
			t.Errorf("%v with %v degrees of freedom: %v, want %v", c.probability, c.df, got, c.want)
		}
	}
}
