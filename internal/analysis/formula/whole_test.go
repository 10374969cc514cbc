package formula

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// rounded is the float64 next to a whole number.
func rounded(n *big.Int) float64 {
	x, _ := new(big.Float).SetInt(n).Float64()
	return x
}

// evaluate gives the value of an expression of no rank.
func evaluate(t *testing.T, expression string) float64 {
	t.Helper()
	layouts, err := Parse("BEGIN_VIZ=t\nx=" + expression + "\ny=0\nz=0\nEND_VIZ")
	if err != nil {
		t.Fatal(err)
	}
	return apply(t, layouts[0], &Input{N: 1}).Points[0].X[0]
}

func TestCombinationsAreExactWhileTheyFit(t *testing.T) {
	for n := range int64(1100) {
		for k := int64(0); k <= n; k += 1 + n/64 {
			exact := new(big.Int).Binomial(n, k)
			got, want := combinations(float64(n), float64(k)), rounded(exact)
			if got == want || !exact.IsUint64() && math.Abs(got-want) <= 1e-13*want {
				continue
			}
			t.Fatalf("combin(%d, %d) = %.17g, want %.17g", n, k, got, want)
		}
	}
	for expression, want := range map[string]float64{
		"combin(50,25)": 126410606437752, "combin(60,30)": 118264581564861424, "combin(5.9,2.9)": 10, "combin(3,4)": 0, "combin(3,-1)": 0,
		"combin(1000000,2)": 499999500000, "combin(1000000,999998)": 499999500000, "combin(2000,1000)": math.Inf(1),
		"combin(pow(2,60),1)": 1 << 60, "combin(0,0)": 1,
	} {
		if got := evaluate(t, expression); got != want {
			t.Errorf("%s = %.17g, want %.17g", expression, got, want)
		}
	}
}

func TestFactorialsAreRoundedOnce(t *testing.T) {
	for n := range int64(171) {
		if got, want := evaluate(t, fmt.Sprintf("fact(%d)", n)), rounded(new(big.Int).MulRange(1, n)); got != want {
			t.Errorf("fact(%d) = %.17g, want %.17g", n, got, want)
		}
	}
	if x := evaluate(t, "fact(171)"); !math.IsInf(x, 1) {
		t.Errorf("fact(171) = %v", x)
	}
	if x := evaluate(t, "fact(3.7)"); x != 6 {
		t.Errorf("fact(3.7) = %v", x)
	}
	for _, n := range []float64{-1, -2, -0.5, math.NaN(), math.Inf(-1)} {
		if x := factorial(n); !math.IsNaN(x) {
			t.Errorf("fact(%v) = %v", n, x)
		}
	}
}

// TestPowersAreRoundedOnce compares with roots that are exact in big numbers: r is next
// to a^(p/q) if the middles to its neighbours, to the power q, enclose a^p.
func TestPowersAreRoundedOnce(t *testing.T) {
	for a := int64(2); a < 3000; a++ {
		for _, e := range [][2]int64{{3, 2}, {1, 4}, {5, 2}, {-3, 4}, {9, 8}, {30, 1}, {-7, 1}} {
			p, q := e[0], e[1]
			got := Power(float64(a), float64(p)/float64(q))
			middle := func(next float64) *big.Rat {
				m := new(big.Rat).SetFloat64(got)
				m.Add(m, new(big.Rat).SetFloat64(next)).Quo(m, big.NewRat(2, 1))
				return ratPower(m, q)
			}
			exact := ratPower(big.NewRat(a, 1), p)
			if middle(math.Nextafter(got, 0)).Cmp(exact) > 0 || middle(math.Nextafter(got, math.Inf(1))).Cmp(exact) < 0 {
				t.Errorf("pow(%d, %d/%d) = %.17g is not the next number", a, p, q, got)
			}
		}
	}
	for expression, want := range map[string]float64{
		"pow(8,1/3)": 2, "pow(27,1/3)": 3, "8^(1/3)": 2, "floor(pow(27,1/3))": 3, "pow(0,0)": 1, "pow(10,22)": 1e22, "pow(-2,3)": -8, "pow(-3,-1)": -1. / 3,
		"pow(-1.5,3)": -3.375, "pow(2,-1074)": math.SmallestNonzeroFloat64, "pow(2,1024)": math.Inf(1), "pow(2,0.5)": math.Sqrt2, "pow(0,-1)": math.Inf(1),
	} {
		if got := evaluate(t, expression); got != want {
			t.Errorf("%s = %.17g, want %.17g", expression, got, want)
		}
	}
	if x := evaluate(t, "pow(-8,1/3)"); !math.IsNaN(x) {
		t.Errorf("the root of a negative number is %v", x)
	}
}

func ratPower(x *big.Rat, k int64) *big.Rat {
	if k < 0 {
		return ratPower(new(big.Rat).Inv(x), -k)
	}
	p := big.NewRat(1, 1)
	for range k {
		p.Mul(p, x)
	}
	return p
}
