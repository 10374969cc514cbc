package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// The values are those of benchmath's tests, of R's wilcox.test and of scipy.
func TestPIsThatOfPublishedSamples(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		p    float64
	}{
		{"3 against 3 apart", []float64{1, 2, 3}, []float64{4, 5, 6}, 0.1},
		{"4 against 4 apart", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 0.0285714},
		{"4 against 4 mixed", []float64{2, 1, 3, 5}, []float64{0, 4, 6, 7}, 0.4857143},
	} {
		if e := Of(c.a, c.b); !near(e.P, c.p, 1e-7) {
			t.Errorf("%s: p = %v, want %v", c.name, e.P, c.p)
		}
	}
}

// The example of benchstat's documentation (golang.org/x/perf, testdata/old.txt and new.txt):
// json 1.718µ ± 1% to 1.423µ ± 1%, -17.20 %, p = 0.000; gob 3.066µ to 3.070µ, p = 0.446.
func TestExampleOfBenchstatHasItsPublishedP(t *testing.T) {
	jsonOld := []float64{1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774}
	jsonNew := []float64{1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425}
	gobOld := []float64{3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062}
	gobNew := []float64{3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062}
	e := Of(jsonOld, jsonNew)
	if change := 100 * (e.B/e.A - 1); !near(change, -17.20, 0.005) || e.P > 0.0005 {
		t.Errorf("json: %.2f %%, p = %.4f", change, e.P)
	}
	if v := e.Judge(e.P, LeastWorth); v != Changed {
		t.Errorf("json is %s", v)
	}
	e = Of(gobOld, gobNew)
	if !near(e.P, 0.446, 0.0005) {
		t.Errorf("gob: p = %.4f", e.P)
	}
	if v := e.Judge(e.P, 0.03); v != Same {
		t.Errorf("gob is %s within 3 %%, in [%v, %v]", v, e.Low, e.High)
	}
}

// R: wilcox.test(x, y, conf.int = TRUE) of Hollander and Wolfe's permeability data (1973, p. 69):
// 95 % interval of the shift is [-0.15, 0.76], the estimate 0.305.
func TestIntervalOfHollanderAndWolfe(t *testing.T) {
	x := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	y := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	e := Of(y, x)
	if !near(e.Shift, 0.305, 1e-9) || !near(e.Low, -0.15, 1e-9) || !near(e.High, 0.76, 1e-9) {
		t.Errorf("shift %v in [%v, %v], want 0.305 in [-0.15, 0.76]", e.Shift, e.Low, e.High)
	}
	if !near(e.P, 0.2544, 5e-5) {
		t.Errorf("p = %v, want 0.2544", e.P)
	}
}

func TestWaysToDealAddUpToTheBinomial(t *testing.T) {
	for _, c := range []struct{ m, n, all int }{{3, 3, 20}, {4, 4, 70}, {2, 7, 36}, {7, 2, 36}, {10, 5, 3003}} {
		sum := 0.0
		for _, w := range dealt(c.m, c.n) {
			sum += w
		}
		if sum != float64(c.all) {
			t.Errorf("%d against %d: %v ways, want %d", c.m, c.n, sum, c.all)
		}
	}
}

func TestFewRunsHaveWideIntervalsThatSaySo(t *testing.T) {
	e := Of([]float64{10, 11, 12}, []float64{20, 21, 22})
	if !near(e.Confidence, 0.9, 1e-12) || e.Low != 8 || e.High != 12 {
		t.Errorf("3 against 3: [%v, %v] with %v", e.Low, e.High, e.Confidence)
	}
	if v := e.Judge(e.P, LeastWorth); v != Unknown {
		t.Errorf("3 against 3 wholly apart is %s: ranks cannot tell", v)
	}
	one := Of([]float64{10}, []float64{20})
	if one.P != 1 || !math.IsNaN(one.Low) || one.Judge(one.P, LeastWorth) != Unknown {
		t.Errorf("one against one: %+v", one)
	}
}

func TestAnIntervalCoversItsShiftInNineteenOfTwentyCases(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	missed := 0
	const cases = 600
	for range cases {
		a, b := make([]float64, 8), make([]float64, 6)
		for i := range a {
			a[i] = draw.NormFloat64()
		}
		for i := range b {
			b[i] = draw.NormFloat64() + 3
		}
		if e := Of(a, b); e.Low > 3 || e.High < 3 {
			missed++
		}
	}
	if share := float64(missed) / cases; share > 0.07 || share < 0.02 {
		t.Errorf("%.3f of intervals miss the shift, want about 0.05", share)
	}
}

func TestNeededRunsSufficeInFourCasesOfFive(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	sample := func(n int, mean float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = mean + draw.NormFloat64()
		}
		return out
	}
	need := Needed(sample(500, 50), sample(500, 50), 0.02) // a shift of one standard deviation
	if need < 15 || need > 20 {
		t.Fatalf("%d runs a side, want about 17", need)
	}
	found := 0
	for range 300 {
		if e := Of(sample(need, 50), sample(need, 51)); e.P <= Level {
			found++
		}
	}
	if share := float64(found) / 300; share < 0.72 || share > 0.92 {
		t.Errorf("%d runs show it in %.2f of cases, want about 0.8", need, share)
	}
}

func TestCallPathsBelowAnUnchangedOneAreNotTested(t *testing.T) {
	tree := []Question{
		{-1, 0.6},  // 0
		{0, 1e-6},  // 1: changed
		{0, 0.5},   // 2
		{-1, 0.4},  // 3: nothing below it moved
		{3, 0.03},  // 4: by itself it would pass
		{3, 0.9},   // 5
		{1, 2e-5},  // 6: below what changed
		{1, 0.045}, // 7: passes by itself, not among its siblings
		{1, 0.9},   // 8
	}
	q := Down(tree)
	want := []bool{false, true, false, false, false, false, true, false, false}
	for i, w := range want {
		if (q[i] <= Level) != w {
			t.Errorf("question %d: q = %v, want a yes: %v", i, q[i], w)
		}
		if q[i] < tree[i].P {
			t.Errorf("question %d: q = %v is below p = %v", i, q[i], tree[i].P)
		}
	}
}

func TestUnchangedRunsPassInNineteenOfTwentyCases(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	wrong := 0
	const cases = 2000
	for range cases {
		tree := make([]Question, 40)
		for i := range tree {
			tree[i] = Question{(i - 1) / 3, draw.Float64()}
			if i == 0 {
				tree[i].Parent = -1
			}
		}
		for _, q := range Down(tree) {
			if q <= Level {
				wrong++
				break
			}
		}
	}
	if share := float64(wrong) / cases; share > 0.062 {
		t.Errorf("something is found in %.3f of cases without a change, want at most 0.05", share)
	}
}

// Far apart is apart, however few the runs; near or mixed it is not.
func TestFewRunsThatDoNotOverlapDecide(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, b    []float64
		verdict Verdict
	}{
		{"2 against 2, far apart", []float64{100, 101}, []float64{122, 123.2}, Changed},
		{"3 against 3, far apart", []float64{100, 101, 99}, []float64{183, 180, 185}, Changed},
		{"2 against 2, hardly apart", []float64{100, 104}, []float64{105, 112}, Unknown},
		{"3 against 3 that overlap", []float64{100, 130, 99}, []float64{125, 180, 185}, Unknown},
		{"1 against 3", []float64{100}, []float64{180, 183, 185}, Unknown},
		{"3 against 3, new", []float64{0, 0, 0}, []float64{18, 18.3, 18.5}, Changed},
	} {
		e := Of(c.a, c.b)
		if got := e.Judge(e.Decisive(), LeastWorth); got != c.verdict {
			t.Errorf("%s: %s, want %s (p = %v, %+v)", c.name, got, c.verdict, e.P, e.PNormal)
		}
	}
}

// Runs drawn one after another: as soon as the first few of each side decide, and those that follow show the same, all of them do.
func TestMoreRunsNeverWeakenAVerdict(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 45))
		var a, b []float64
		decided := 0
		for n := 1; n <= 12; n++ {
			a, b = append(a, 100*math.Exp(0.01*r.NormFloat64())), append(b, 122*math.Exp(0.01*r.NormFloat64()))
			e := Of(a, b)
			switch v := e.Judge(e.Decisive(), LeastWorth); {
			case v == Changed && decided == 0:
				decided = n
			case v != Changed && decided > 0:
				t.Fatalf("seed %d: changed at %d runs a side, %s at %d (p = %v, %+v)", seed, decided, v, n, e.P, e.PNormal)
			}
		}
		if decided == 0 || decided > 3 {
			t.Errorf("seed %d: +22 %% is told from %d runs a side on", seed, decided)
		}
	}
}

// Of any two sets of runs of which one holds the other, whatever their numbers a side, the larger does not decide less.
func TestNestedSetsOfRunsNeverWeakenAVerdict(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 47))
		all := [2][]float64{}
		for range 6 {
			all[0], all[1] = append(all[0], 100*math.Exp(0.01*r.NormFloat64())), append(all[1], 122*math.Exp(0.01*r.NormFloat64()))
		}
		verdict := func(a, b []float64) Verdict {
			e := Of(a, b)
			return e.Judge(e.Decisive(), LeastWorth)
		}
		decided := 0
		for range 40 {
			r.Shuffle(6, func(i, j int) { all[0][i], all[0][j] = all[0][j], all[0][i] })
			r.Shuffle(6, func(i, j int) { all[1][i], all[1][j] = all[1][j], all[1][i] })
			na, nb := 2+r.IntN(4), 2+r.IntN(4)
			ma, mb := na+r.IntN(7-na), nb+r.IntN(7-nb)
			if verdict(all[0][:na], all[1][:nb]) != Changed {
				continue
			}
			decided++
			if v := verdict(all[0][:ma], all[1][:mb]); v != Changed {
				t.Fatalf("seed %d: %d against %d runs tell, %d against %d of them and others: %s", seed, na, nb, ma, mb, v)
			}
		}
		if decided < 30 {
			t.Errorf("seed %d: %d of 40 sets tell", seed, decided)
		}
	}
}

// As soon as the first few runs of each side tell on which side of a limit they are, all of them do.
func TestMoreRunsNeverWeakenTheAnswerToALimit(t *testing.T) {
	for _, c := range []struct {
		change, limit float64
		answer        Answer
	}{{0.22, 0.05, Broken}, {0, 0.1, Holds}, {-0.2, 0.01, Holds}} {
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 46))
			var a, b []float64
			decided := 0
			for n := 1; n <= 12; n++ {
				a, b = append(a, 100*math.Exp(0.01*r.NormFloat64())), append(b, 100*(1+c.change)*math.Exp(0.01*r.NormFloat64()))
				e := Of(a, b)
				switch got := e.Change.Within(c.limit); {
				case got == c.answer && decided == 0:
					decided = n
				case got != c.answer && (decided > 0 || got != CannotTell):
					t.Fatalf("%+v, seed %d: told from %d runs a side on, with %d: %s, %+v", c, seed, decided, n, got, e.Change)
				}
			}
			if decided < 2 || decided > 4 {
				t.Errorf("%+v, seed %d: told from %d runs a side on", c, seed, decided)
			}
		}
	}
}

// An interval that holds the limit does not tell, whatever the estimate is.
func TestALimitWithinTheIntervalIsUndecided(t *testing.T) {
	for _, c := range []struct {
		a, b   []float64
		limit  float64
		answer Answer
	}{
		{[]float64{100, 101, 99}, []float64{107, 104, 110}, 0.05, CannotTell}, // surely longer, not surely by 5 %
		{[]float64{100, 101, 99}, []float64{107, 104, 110}, 0.005, Broken},
		{[]float64{100, 104, 97}, []float64{101, 105, 99}, 0.05, CannotTell},
		{[]float64{100, 104, 97}, []float64{101, 105, 99}, 0.2, Holds},
		{[]float64{100}, []float64{101}, 0.05, CannotTell},
		{[]float64{100, 100}, []float64{105, 105}, 0.05, Holds},
		{[]float64{0, 0, 0, 5}, []float64{1, 0, 4, 5}, 0.05, CannotTell},
	} {
		e := Of(c.a, c.b)
		if got := e.Change.Within(c.limit); got != c.answer {
			t.Errorf("%v against %v, limit %v: %s, want %s (%+v)", c.a, c.b, c.limit, got, c.answer, e.Change)
		}
	}
}

// The interval of a change and the verdict of the same runs are of one test.
func TestAChangeIsKnownWhereItsIntervalExcludesNone(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for range 2000 {
		a, b := make([]float64, 1+r.IntN(8)), make([]float64, 1+r.IntN(8))
		for i := range a {
			a[i] = 100 * math.Exp(0.03*r.NormFloat64())
		}
		for i := range b {
			b[i] = 103 * math.Exp(0.03*r.NormFloat64())
		}
		e := Of(a, b)
		if e.Decisive() <= Level != (e.Change.Low > 0 || e.Change.High < 0) {
			t.Fatalf("%v against %v: p = %v, the change is %+v", a, b, e.Decisive(), e.Change)
		}
	}
}

// Of 2000 pairs without any change no more than 5 % are told as changed, whatever the number of runs.
func TestFalseAlarmsAreRare(t *testing.T) {
	const pairs = 2000
	for _, n := range []int{2, 3, 5, 10} {
		alarms := 0
		r := rand.New(rand.NewPCG(uint64(n), 400))
		for range pairs {
			a, b := make([]float64, n), make([]float64, n)
			for i := range a {
				a[i], b[i] = 100*math.Exp(0.03*r.NormFloat64()), 100*math.Exp(0.03*r.NormFloat64())
			}
			if e := Of(a, b); e.Judge(e.Decisive(), 0) == Changed {
				alarms++
			}
		}
		if t.Logf("%d runs a side: %.1f %% false alarms", n, 100*float64(alarms)/pairs); alarms > pairs*6/100 {
			t.Errorf("%d runs a side: %d of %d", n, alarms, pairs)
		}
	}
}
