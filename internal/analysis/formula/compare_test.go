package formula

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func value1(t *testing.T, text string, n int) []float64 {
	t.Helper()
	layouts, err := Parse("BEGIN_VIZ=t\nx=" + text + "\ny=0\nz=0\nEND_VIZ")
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return apply(t, layouts[0], &Input{N: n}).Points[0].X
}

// What is compared is 1 or 0, as IEEE says; what has no value is not true.
func TestComparisonsAreNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"1<2": 1, "2<1": 0, "2<=2": 1, "2>=3": 0, "3>2": 1, "1==1": 1, "1!=1": 0, "1==2": 0,
		"0/0==0/0": 0, "0/0!=0/0": 1, "0/0<1": 0, "0/0>=1": 0, "1/0>1e300": 1,
		"!0": 1, "!3": 0, "!(0/0)": 1, "!!5": 1, "-!0": -1,
		"1&&2": 1, "1&&0": 0, "0||0": 0, "0||-1": 1, "1&&0/0": 0, "1||0/0": 1,
		"1||0&&0": 1, "(1||0)&&0": 0, // && binds closer
		"1+1<3": 1, "2*3==6": 1, "1<2&&3<4": 1,
		"if(1<2,10,20)": 10, "if(1>2,10,20)": 20, "if(0/0,1,2)": 2, "if(0.1,1,2)": 1, "IF(1,if(0,1,2),3)": 2,
		"and(1,1)": 1, "or(0,0)": 0, "not(0)": 1, "3*(2>1)": 3, "2^(1==1)": 2,
		"1<\n2": 1, "1\n<=\n2": 1,
	} {
		if got := value1(t, text, 1)[0]; got != want {
			t.Errorf("%s = %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"1<2<3", "1==1==1", "1<", "1&2", "1|2", "if(1,2)", "if(1,2,3,4)", "!", "1=<2", "1 & & 2"} {
		_, err := Parse("BEGIN_VIZ=t\nx=" + text + "\ny=0\nz=0\nEND_VIZ")
		var e *Error
		if !errors.As(err, &e) || e.Line < 2 {
			t.Errorf("%q is read: %v", text, err)
		}
	}
}

// Columns, and single numbers in any place of them, give what the same gives one by one.
func TestChoicesOverColumnsAreMadeRankByRank(t *testing.T) {
	const n = 3*chunk + 7
	type one func(rank float64) float64
	terms := []struct {
		text string
		f    one
	}{
		{"rank", func(r float64) float64 { return r }}, {"2000", func(float64) float64 { return 2000 }},
		{"mod(rank,7)-3", func(r float64) float64 { return Mod(r, 7) - 3 }}, {"ln(rank-100)", func(r float64) float64 { return math.Log(r - 100) }},
		{"0", func(float64) float64 { return 0 }},
	}
	compare := map[string]func(a, b float64) bool{
		"<": func(a, b float64) bool { return a < b }, ">=": func(a, b float64) bool { return a >= b }, "==": func(a, b float64) bool { return a == b },
		"!=": func(a, b float64) bool { return a != b }, ">": func(a, b float64) bool { return a > b }, "<=": func(a, b float64) bool { return a <= b },
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func() int { return rnd.IntN(len(terms)) }
	for sign, holds := range compare {
		for range 12 {
			a, b, c, d := terms[pick()], terms[pick()], terms[pick()], terms[pick()]
			text := fmt.Sprintf("if(%s%s%s,%s,%s)", a.text, sign, b.text, c.text, d.text)
			for rank, got := range value1(t, text, n) {
				r := float64(rank)
				want := d.f(r)
				if holds(a.f(r), b.f(r)) {
					want = c.f(r)
				}
				if !near(got, want) {
					t.Fatalf("%s of rank %d = %v, want %v", text, rank, got, want)
				}
			}
		}
	}
}

// Whoever sets restrictDim wants a cube, whatever it is set to: ParaProf looks for the
// name alone. Points of one location keep their places to each other.
func TestRestrictDimIsSetByItsPresence(t *testing.T) {
	for text, want := range map[string]bool{"restrictDim=1\n": true, "restrictDim=0\n": true, "": false} {
		layouts, err := Parse("BEGIN_VIZ=t\n" + text + "x=rank*10\ny=0\nz=0\nEND_VIZ")
		if err != nil {
			t.Fatal(err)
		}
		r := apply(t, layouts[0], &Input{N: 3})
		if placed := PlaceAll(r.Points, r.Restrict); r.Restrict != want || !placed[0][2] || (r.Points[0].X[2] == 1) != want {
			t.Errorf("%q: restricted %v, the last rank lies at %v", text, r.Restrict, r.Points[0].X[2])
		}
	}
	layouts, err := Parse("BEGIN_VIZ=t\nrestrictDim=1\nx0=rank\ny0=0\nz0=0\nx1=rank+10\ny1=1/0\nz1=0\nEND_VIZ")
	if err != nil {
		t.Fatal(err)
	}
	r := apply(t, layouts[0], &Input{N: 3})
	placed := PlaceAll(r.Points, r.Restrict)
	if !placed[0][0] || placed[1][0] || r.Points[0].X[2] != 1 {
		t.Errorf("placed %v, x of the first points %v", placed, r.Points[0].X)
	}
	layouts, _ = Parse("BEGIN_VIZ=t\nrestrictDim=1\nx0=rank\ny0=0\nz0=0\nx1=rank+8\ny1=0\nz1=0\nEND_VIZ")
	r = apply(t, layouts[0], &Input{N: 3})
	PlaceAll(r.Points, r.Restrict)
	if r.Points[0].X[2] != 0.2 || r.Points[1].X[0] != 0.8 || r.Points[1].X[2] != 1 {
		t.Errorf("two points a location lie at %v and %v; want 0.2 and 0.8 … 1", r.Points[0].X, r.Points[1].X)
	}
}

func TestRanksMayBeGiven(t *testing.T) {
	layouts, err := Parse("BEGIN_VIZ=t\nx=rank\ny=maxRank\nz=lastRank\nEND_VIZ")
	if err != nil {
		t.Fatal(err)
	}
	p := apply(t, layouts[0], &Input{N: 2,
		Column: func(n string) ([]float64, bool) { return []float64{7, 3}, n == "rank" },
		Scalar: func(n string) (float64, bool) { return 16, n == "maxrank" },
	}).Points[0]
	if p.X[0] != 7 || p.X[1] != 3 || p.Y[0] != 16 || p.Z[1] != 15 {
		t.Errorf("ranks %v, of %v, the last %v", p.X, p.Y, p.Z)
	}
	if !layouts[0].Uses("RANK") || layouts[0].Uses("slot") {
		t.Error("what the layout reads is told wrong")
	}
}
