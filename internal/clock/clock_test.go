package clock

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A world has processes whose clocks are wrong in a known way.
type world struct {
	random *rand.Rand
	offset []float64 // of the clock, ns
	drift  []float64
}

func (w *world) clock(p int, t float64) trace.Time {
	return trace.Time(math.Round(t + w.offset[p] + w.drift[p]*t))
}

// message adds one that is sent at t of the true time.
func (w *world) message(f *Fit, from, to int, t float64) {
	latency := 1000 + w.random.ExpFloat64()*3000
	f.Before(from, to, w.clock(from, t), w.clock(to, t+latency))
}

// worst is how far apart the corrected clocks are at any of some true times.
func (w *world) worst(r *Result, length float64) float64 {
	worst := 0.0
	for k := range 11 {
		t := length * float64(k) / 10
		base := float64(r.Lines[0].At(w.clock(0, t)))
		for p := range w.offset {
			worst = max(worst, math.Abs(float64(r.Lines[p].At(w.clock(p, t)))-base))
		}
	}
	return worst
}

func newWorld(n int, drift float64) *world {
	w := &world{random: rand.New(rand.NewPCG(1, uint64(n)))}
	for range n {
		w.offset = append(w.offset, w.random.NormFloat64()*1e9)
		w.drift = append(w.drift, w.random.NormFloat64()*drift)
	}
	return w
}

func TestOffsetsAreFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		pairs func(w *world, f *Fit, length float64)
	}{
		{"everybody with everybody", 8, func(w *world, f *Fit, length float64) {
			for range 20_000 {
				w.message(f, w.random.IntN(8), w.random.IntN(8), w.random.Float64()*length)
			}
		}},
		{"a ring", 30, func(w *world, f *Fit, length float64) {
			for range 30_000 {
				p := w.random.IntN(30)
				w.message(f, p, (p+1)%30, w.random.Float64()*length)
				w.message(f, (p+1)%30, p, w.random.Float64()*length)
			}
		}},
		{"all with the first", 50, func(w *world, f *Fit, length float64) {
			for range 20_000 {
				p := 1 + w.random.IntN(49)
				w.message(f, p, 0, w.random.Float64()*length)
				w.message(f, 0, p, w.random.Float64()*length)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const length = 1e9
			w, f := newWorld(c.n, 0), New(c.n)
			c.pairs(w, f, length)
			r := f.Solve()
			if worst := w.worst(r, length); worst > 1500 { // the fastest messages take 1000
				t.Errorf("corrected clocks are %v ns apart", worst)
			}
			if r.Worst != 0 || r.Groups != 1 || r.Moved != c.n-1 || r.Drifting != 0 {
				t.Errorf("result %+v", *r)
			}
		})
	}
}

func TestDriftIsFound(t *testing.T) {
	const length = 100e9 // 100 s, in which clocks drift by some milliseconds
	w, f := newWorld(6, 2e-5), New(6)
	for range 50_000 {
		w.message(f, w.random.IntN(6), w.random.IntN(6), w.random.Float64()*length)
	}
	r := f.Solve()
	if worst := w.worst(r, length); worst > 30_000 {
		t.Errorf("corrected clocks are %v ns apart", worst)
	}
	if r.Drifting < 5 {
		t.Errorf("%d clocks drift, want 5", r.Drifting)
	}
}

func TestClocksThatAgreeAreNotCorrected(t *testing.T) {
	w, f := newWorld(4, 0), New(4)
	clear(w.offset)
	for range 1000 {
		w.message(f, w.random.IntN(4), w.random.IntN(4), w.random.Float64()*1e9)
	}
	if r := f.Solve(); r.Largest > 2000 || r.Worst != 0 {
		t.Errorf("the largest offset is %d ns, the worst bound is broken by %d", r.Largest, r.Worst)
	}
}

func TestGroupsThatDoNotTalkStayApart(t *testing.T) {
	w, f := newWorld(5, 0), New(5)
	for range 1000 {
		w.message(f, 0, 1, w.random.Float64()*1e9)
		w.message(f, 1, 0, w.random.Float64()*1e9)
		w.message(f, 2, 3, w.random.Float64()*1e9)
		w.message(f, 3, 2, w.random.Float64()*1e9)
	}
	r := f.Solve()
	if r.Groups != 3 || r.Group[0] != r.Group[1] || r.Group[2] != r.Group[3] || r.Group[0] == r.Group[2] || r.Lines[4].Offset != 0 {
		t.Errorf("groups %v, lines %v", r.Group, r.Lines)
	}
}

func TestOneDirectionMovesAsLittleAsItMust(t *testing.T) {
	f := New(3)
	f.Before(0, 1, 1000, 400) // 1 is at least 600 behind
	f.Before(0, 2, 1000, 5000)
	r := f.Solve()
	if got := r.Lines[1].Offset; got < 600 || got > 602 || r.Lines[2].Offset != 0 || r.Worst != 0 {
		t.Errorf("lines %v", r.Lines)
	}
}

func TestClocksWithoutMessagesStay(t *testing.T) {
	r := New(3).Solve()
	if r.Groups != 3 || r.Moved != 0 || r.Residual != 0 {
		t.Errorf("result %+v", *r)
	}
	if got := r.Lines[1].At(77); got != 77 {
		t.Errorf("77 becomes %d", got)
	}
}

func TestTheOrderOfMentionDoesNotMatterMuch(t *testing.T) {
	w := newWorld(10, 0)
	type m struct {
		from, to int
		a, b     trace.Time
	}
	var all []m
	for range 5000 {
		from, to, at := w.random.IntN(10), w.random.IntN(10), w.random.Float64()*1e9
		all = append(all, m{from, to, w.clock(from, at), w.clock(to, at+1000+w.random.ExpFloat64()*2000)})
	}
	solve := func() *Result {
		f := New(10)
		for _, x := range all {
			f.Before(x.from, x.to, x.a, x.b)
		}
		return f.Solve()
	}
	a := solve()
	w.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	b := solve()
	for p := range a.Lines {
		if math.Abs(a.Lines[p].Offset-b.Lines[p].Offset) > 300 {
			t.Errorf("process %d: %v and %v", p, a.Lines[p], b.Lines[p])
		}
	}
}

func BenchmarkFit(b *testing.B) {
	w := newWorld(64, 0)
	for b.Loop() {
		f := New(64)
		for range 100_000 {
			w.message(f, w.random.IntN(64), w.random.IntN(64), w.random.Float64()*1e9)
		}
		f.Solve()
	}
}
