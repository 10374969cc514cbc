package recorder

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
)

// still is a set whose clock does not move by itself.
func still(o Options) *Set {
	s := New(o)
	s.start = time.Now().Add(time.Hour) // Now is negative: nothing open is counted
	return s
}

func TestMomentsAreThoseOfTheWholeRunHoweverLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, windows := range []int{2, 7, 128} {
		set := still(Options{Windows: windows, Window: 16})
		w := set.Worker("w")
		before := len(w.sums)
		var want moment.Cubic
		now := int64(0)
		for range 20_000 {
			now += rng.Int64N(1000)
			end := now + rng.Int64N(5000)
			w.BeginAt(now)
			w.EndAt(end)
			want.AddNS(now, end)
			now = end
		}
		m, exact := w.Moments(), want.Moments(0)
		for _, x := range [][2]float64{{m.Busy, exact.M0}, {m.Mean, exact.M1}, {m.Deviation, exact.M2}} {
			if math.Abs(x[0]-x[1]) > 1e-10*x[1] {
				t.Errorf("%d windows: %+v, want %+v", windows, m, exact)
			}
		}
		if math.Abs(m.Skew-exact.M3) > 1e-6*exact.M2 { // the root of a small difference
			t.Errorf("%d windows: skew %v, want %v", windows, m.Skew, exact.M3)
		}
		if len(w.sums) != before {
			t.Errorf("storage grew from %d windows to %d", before, len(w.sums))
		}
		if used := now >> w.shift; used >= int64(len(w.sums)) || used < int64(len(w.sums))/2-1 {
			t.Errorf("%d windows, the last in use is %d", len(w.sums), used)
		}
	}
}

func TestIntervalsNestAndMistakesAreCounted(t *testing.T) {
	w := still(Options{}).Worker("w")
	w.EndAt(5) // nothing open
	w.BeginAt(10)
	w.BeginAt(20)
	w.EndAt(30)
	w.EndAt(40)
	if m := w.Moments(); m.Busy != 30 || m.Mean != 25 || m.Deviation != 15 || m.Skew != 0 {
		t.Errorf("nested: %+v", m)
	}
	w.BeginAt(50)
	w.EndAt(45)
	w.BeginAt(-3)
	w.EndAt(3)
	if s := w.snapshot(); s.dropped != 2 || w.Moments().Busy != 30 {
		t.Errorf("dropped %d, %+v", s.dropped, w.Moments())
	}
}

func TestOpenIntervalsCountUpToNow(t *testing.T) {
	set := New(Options{})
	w := set.Worker("w")
	w.Begin()
	time.Sleep(2 * time.Millisecond)
	if m := w.Moments(); m.Busy < 1e6 || m.Deviation < m.Busy/2*(1-1e-9) {
		t.Errorf("open: %+v", m)
	}
	w.End()
	if m := w.Moments(); m.Busy < 2e6 {
		t.Errorf("closed: %+v", m)
	}
}

// Run with -race: readers and writers at once.
func TestEverythingMayBeReadWhileItRuns(t *testing.T) {
	set := New(Options{Name: "p", Windows: 4, Window: time.Microsecond})
	var wg, readers sync.WaitGroup
	done := make(chan struct{})
	readers.Go(func() {
		for {
			if _, err := set.WriteTo(io.Discard); err != nil {
				t.Error(err)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for range 4 {
		w := set.Worker("w")
		var closed atomic.Int64 // ns of intervals that have ended
		wg.Go(func() {
			for range 2000 {
				begin := set.Now()
				w.BeginAt(begin)
				end := set.Now()
				w.EndAt(end)
				closed.Add(end - begin)
			}
		})
		readers.Go(func() {
			for range 200 {
				before := float64(closed.Load())
				m := w.Moments()
				if m.Busy < before*(1-1e-9) || m.Busy > float64(set.Now()) || 2*m.Deviation < m.Busy*(1-1e-9) {
					t.Errorf("%+v, of which %v ns had ended before", m, before)
				}
			}
		})
	}
	wg.Wait()
	close(done)
	readers.Wait()
}

func TestRecordingAllocatesNothing(t *testing.T) {
	w := New(Options{}).Worker("w")
	if n := testing.AllocsPerRun(1000, func() { w.Begin(); w.End() }); n != 0 {
		t.Errorf("%v allocations a pair", n)
	}
}

func TestFilesAreSmallAndWhole(t *testing.T) {
	set := still(Options{Name: "p", Rank: 3, Ranked: true})
	for range 8 {
		w := set.Worker("worker")
		for i := range int64(100_000) {
			w.BeginAt(i * 1000)
			w.EndAt(i*1000 + 400)
		}
	}
	var b bytes.Buffer
	n, err := set.WriteTo(&b)
	if err != nil || n != int64(b.Len()) || n > 40_000 {
		t.Errorf("%d bytes, %v", n, err)
	}
	name := filepath.Join(t.TempDir(), "run.moments")
	if err := set.WriteFile(name); err != nil {
		t.Fatal(err)
	}
	if err := set.WriteFile(filepath.Join(name, "below a file")); err == nil {
		t.Error("writing below a file succeeds")
	}
}

// BenchmarkPair prints the cost of a pair beside that of its two clock reads.
func BenchmarkPair(b *testing.B) {
	set := New(Options{})
	w := set.Worker("w")
	b.ReportAllocs()
	for b.Loop() {
		w.Begin()
		w.End()
	}
	pair := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.StopTimer()
	begin := time.Now()
	for range b.N {
		set.Now()
		set.Now()
	}
	reads := float64(time.Since(begin).Nanoseconds()) / float64(b.N)
	b.ReportMetric(reads, "ns/two-clock-reads")
	b.ReportMetric(pair-reads, "ns/pair-beyond")
}

// BenchmarkPairOwnClock is the same with the caller's clock: no reads at all.
func BenchmarkPairOwnClock(b *testing.B) {
	w := New(Options{}).Worker("w")
	b.ReportAllocs()
	t := int64(0)
	for b.Loop() {
		w.BeginAt(t)
		w.EndAt(t + 300)
		t += 1000
	}
}
