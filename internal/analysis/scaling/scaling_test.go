package scaling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// What BSC's basic analysis gives for EPOCH on 1 to 16 ranks, with the sums that it comes from
// (numericalalgorithmsgroup/pypop, modelfactors.csv).
func TestFactorsOfEPOCHAreBSCs(t *testing.T) {
	ns := func(us ...float64) []float64 {
		for i := range us {
			us[i] *= 1000
		}
		return us
	}
	spread := func(n int, mean, most float64) []float64 { // any ranks with this mean and maximum
		out := make([]float64, n)
		for i := range out {
			out[i] = mean
			if n > 1 {
				out[i] = mean - (most-mean)/float64(n-1)
			}
		}
		out[0] = most
		return ns(out...)
	}
	runs := []Run{
		{1, 21898659.14e3, spread(1, 21882362.82, 21882362.82), 84790848422, 45294421893},
		{2, 11528373.56e3, spread(2, 11456696.18, 11484151.34), 87640358419, 46855679955},
		{4, 6082352.21e3, spread(4, 5921167.02, 5999910.80), 88518412143, 47406198069},
		{8, 3513565.33e3, spread(8, 3362753.84, 3421581.67), 90063308642, 51191361663},
		{16, 2339560.72e3, spread(16, 2226119.73, 2242981.13), 93158874793, 60494538119},
	}
	if k := KindOf(runs); k != Strong {
		t.Errorf("EPOCH on one problem is %s scaling", k)
	}
	got := map[string][]float64{}
	for _, f := range Table(runs, Strong) {
		got[f.Name] = f.Values
	}
	for name, want := range map[string][]float64{
		"Parallel efficiency":      {.99925583, .99378252, .97349953, .95707736, .95151184},
		"Load balance":             {1, .99760930, .98687584, .98280683, .99248259},
		"Communication efficiency": {.99925583, .99616405, .98644580, .97382042, .95871892},
		"Computation scalability":  {1, .95500319, .92390414, .81340933, .61436394},
		"Global efficiency":        {.99925583, .94906548, .89942024, .77849566, .58457456},
		"IPC scalability":          {1, .99916598, .99745711, .93982492, .82262861},
		"Instruction scalability":  {1, .96748633, .95788940, .94145829, .91017467},
		"Frequency scalability":    {1, .98792129, .96697961, .91930815, .82053509},
		"Speedup":                  {1, 1.899545, 3.600360, 6.232603, 9.360158},
		"Average IPC":              {1.871993, 1.870432, 1.867233, 1.759346, 1.539955},
		"Average frequency (GHz)":  {2.069905, 2.044904, 2.001556, 1.902881, 1.698430},
	} {
		for i := range want {
			if math.Abs(got[name][i]-want[i]) > 2e-6 {
				t.Errorf("%s on %v ranks: %v, want %v", name, runs[i].Size, got[name][i], want[i])
			}
		}
	}
}

func TestAProblemThatGrowsWithTheRanksIsWeakScaling(t *testing.T) {
	runs := []Run{
		{8, 100, []float64{90, 90}, 8e9, 8e9},
		{64, 110, []float64{90, 90}, 64e9, 66e9},
	}
	if k := KindOf(runs); k != Weak {
		t.Errorf("eight times the instructions on eight times the ranks is %s", k)
	}
	runs[1].Instructions, runs[0].Useful, runs[1].Useful = math.NaN(), []float64{80, 80}, []float64{20, 20, 20, 20, 20, 20, 20, 20}
	if k := KindOf(runs); k != Strong {
		t.Errorf("the same useful time on more ranks is %s", k)
	}
}

func TestModelsAreRecovered(t *testing.T) {
	sizes := []float64{8, 16, 32, 64, 128, 256}
	for _, c := range []struct {
		c0 float64
		t  Term
	}{
		{10, Term{0.5, 1, 0}}, {3, Term{2, 0.5, 0}}, {100, Term{0.25, 1, 1}}, {1, Term{1, 0, 1}}, {5, Term{0.001, 2, 0}}, {7, Term{400, -1, 0}}, {2, Term{0.1, 0, 2}},
	} {
		for _, noise := range []float64{0, 0.002} {
			draw := rand.New(rand.NewPCG(7, 7))
			values := make([]float64, len(sizes))
			for k, n := range sizes {
				values[k] = (c.c0 + c.t.C*c.t.shape(n)) * (1 + noise*draw.NormFloat64())
			}
			m, ok := Fit(sizes, values)
			if !ok || len(m.Terms) != 1 {
				t.Errorf("%v + %v: %+v", c.c0, c.t, m)
				continue
			}
			if noise == 0 && (m.Terms[0].I != c.t.I || m.Terms[0].J != c.t.J || math.Abs(m.C0-c.c0) > 1e-6*c.c0 || m.Error > 1e-9) {
				t.Errorf("%v + %+v was taken for %s with an error of %v", c.c0, c.t, m.String(), m.Error)
			}
			// What matters of a model is what it foretells.
			if want, got := c.c0+c.t.C*c.t.shape(1024), m.At(1024); math.Abs(got/want-1) > 0.1 {
				t.Errorf("%v + %+v with noise %v: %v at 1,024, want %v (%s)", c.c0, c.t, noise, got, want, m.String())
			}
		}
	}
}

func TestNoiseAboutAConstantIsAConstant(t *testing.T) {
	curves := 0
	for seed := range uint64(40) {
		draw := rand.New(rand.NewPCG(seed, 3))
		values := make([]float64, 6)
		for k := range values {
			values[k] = 50 * (1 + 0.02*draw.NormFloat64())
		}
		if m, _ := Fit([]float64{8, 16, 32, 64, 128, 256}, values); len(m.Terms) > 0 {
			curves++
		}
	}
	if curves > 8 {
		t.Errorf("%d of 40 series of noise have a curve", curves)
	}
}

func TestTwoTermsAreRecovered(t *testing.T) {
	sizes := []float64{8, 16, 32, 64, 128, 256, 512}
	for _, c := range []struct {
		c0   float64
		a, b Term
	}{
		{2, Term{800, -1, 0}, Term{0.05, 1, 0}},     // work shared out, an exchange with all
		{1, Term{400, -1, 0}, Term{3, 0, 1}},        // work shared out, a tree of messages
		{5, Term{0.5, 0.5, 0}, Term{0.0005, 2, 0}},  // two that grow
		{10, Term{300, -0.5, 0}, Term{0.002, 1, 2}}, // and with a logarithm
	} {
		for _, noise := range []float64{0, 0.002} {
			draw := rand.New(rand.NewPCG(11, 7))
			values := make([]float64, len(sizes))
			truth := func(n float64) float64 { return c.c0 + c.a.C*c.a.shape(n) + c.b.C*c.b.shape(n) }
			for k, n := range sizes {
				values[k] = truth(n) * (1 + noise*draw.NormFloat64())
			}
			m, ok := Fit(sizes, values)
			if !ok || noise == 0 && (len(m.Terms) != 2 || m.Error > 1e-6) {
				t.Errorf("%v + %+v + %+v was taken for %s with an error of %v", c.c0, c.a, c.b, m.String(), m.Error)
				continue
			}
			if want, got := truth(2048), m.At(2048); math.Abs(got/want-1) > 0.15 {
				t.Errorf("%v + %+v + %+v with noise %v: %v at 2,048, want %v (%s)", c.c0, c.a, c.b, noise, got, want, m.String())
			}
		}
	}
}

func TestFourSizesAreTooFew(t *testing.T) {
	if _, ok := Fit([]float64{1, 2, 4, 8}, []float64{1, 2, 4, 8}); ok {
		t.Error("a model of four sizes")
	}
}

func ExampleModel_String() {
	m, _ := Fit([]float64{1, 4, 16, 64, 256}, []float64{3, 5, 9, 17, 33})
	fmt.Println(strings.TrimSpace(m.String()))
	// Output: 1 + 2 · n^(1/2)
}
