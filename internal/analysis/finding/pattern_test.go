package finding

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestUpperFindsTheGroupWithLargerValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   string
	}{
		{"one", []float64{100, 101, 99, 150, 100, 100}, "[3]"},
		{"half", []float64{200, 201, 199, 200, 300, 301, 299, 300}, "[4 5 6 7]"},
		{"all but one", []float64{300, 200, 301, 299, 300}, "[0 2 3 4]"},
		{"two by different amounts: the larger first", []float64{100, 100, 100, 100, 130, 150, 100, 100}, "[5]"},
		{"a gradient has no gap", []float64{100, 110, 120, 130, 140, 150, 160, 170}, "[]"},
		{"noise", []float64{100, 101, 99, 100.5, 99.5, 100.2}, "[]"},
		{"equal", []float64{5, 5, 5, 5}, "[]"},
	} {
		if got := fmt.Sprint(append([]int32{}, Upper(c.values)...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPlaceFollowsTheIndex(t *testing.T) {
	if p := Place([]float64{1, 2, 3, 4, 5}); p != 1 {
		t.Errorf("growing: %v", p)
	}
	if p := Place([]float64{5, 4, 3, 2, 1}); p != -1 {
		t.Errorf("falling: %v", p)
	}
	if p := Place([]float64{3, 1, 3, 1, 3, 1, 3, 1}); p > 0.5 || p < -0.5 {
		t.Errorf("alternating: %v", p)
	}
}

// turns plants who is late in each of n steps; -1 for nobody.
func turns(culprits, steps int, who func(step int) int) []Turn {
	const bins = 256
	cost := make([][]float64, culprits)
	for i := range cost {
		cost[i] = make([]float64, bins)
	}
	for s := range steps {
		if c := who(s); c >= 0 {
			cost[c][s*bins/steps] += 100
		}
	}
	list, _ := Turns(cost, bins)
	return list
}

func TestRotationIsDistinguishedFromChance(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		last := -1
		for name, c := range map[string]struct {
			who  func(int) int
			want bool
		}{
			"round robin": {func(s int) int { return s % 16 }, true},
			"every third": {func(s int) int {
				if s%3 == 0 {
					return s / 3 % 5
				}
				return -1
			}, true},
			"another each time": {func(int) int {
				next := rnd.IntN(15)
				if next >= last && last >= 0 {
					next++
				}
				last = next
				return next
			}, true},
			"now and then": {func(int) int {
				if rnd.Float64() < 0.35 {
					return rnd.IntN(16)
				}
				return -1
			}, false},
		} {
			if got := TakeTurns(turns(16, 60, c.who)); got != c.want {
				t.Errorf("%s, seed %d: rotating is %v", name, seed, got)
			}
		}
	}
}

func TestTheCourseOfACost(t *testing.T) {
	series := func(f func(x float64) float64) []float64 {
		out := make([]float64, 256)
		for i := range out {
			out[i] = f(float64(i) / 256)
		}
		return out
	}
	for _, c := range []struct {
		name     string
		f        func(float64) float64
		grows    bool
		from, to float64
	}{
		{"even", func(float64) float64 { return 1 }, false, 0.02, 0.98},
		{"grows", func(x float64) float64 { return x }, true, 0.14, 0.99},
		{"begins", func(x float64) float64 { return float64(int(x + 0.5)) }, false, 0.51, 0.99},
		{"comes and goes", func(x float64) float64 { return float64(int(x*4+0.5) % 2) }, false, 0, 1},
		{"ends", func(x float64) float64 { return 1 - float64(int(x+0.7)) }, false, 0, 0.3},
	} {
		got := CourseOf(series(c.f))
		if got.Grows != c.grows || got.From < c.from-0.03 || got.From > c.from+0.03 || got.To < c.to-0.03 || got.To > c.to+0.03 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
