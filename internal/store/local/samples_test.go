package local

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// However samples come, they lie by counter and time, those of one time as they came: of few counters in order, where one is out of
// order, and of more counters than are written at once.
func TestSamplesLieByCounterAndTime(t *testing.T) {
	for name, c := range map[string]struct {
		counters, samples int
		back              bool
	}{
		"in order":      {3, 10000, false},
		"out of order":  {3, 10000, true},
		"many counters": {70, 50, false},
		"none of some":  {5, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string][][2]float64{}
			path := build(t, Options{Memory: 1 << 20}, func(w trace.Writer) {
				for _, process := range []string{"a", "b"} {
					id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: process, Rank: trace.NoRank})
					s := w.Stream(id, trace.StreamOptions{})
					var counters []trace.CounterID
					for k := range c.counters {
						counters = append(counters, w.Counter(trace.Counter{Location: id, Name: process + strconv.Itoa(k)}))
					}
					for i := range c.samples {
						for k := range counters {
							if k == 1 && name == "none of some" {
								continue
							}
							at, key := trace.Time(i/2), process+strconv.Itoa(k)
							if c.back && k == 2 {
								at = trace.Time((i * 7919) % c.samples)
							}
							s.Sample(counters[k], at, float64(i))
							want[key] = append(want[key], [2]float64{float64(at), float64(i)})
						}
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}
			})
			r, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for id, counter := range r.Counters() {
				var got [][2]float64
				err := r.Samples(context.Background(), []trace.CounterID{trace.CounterID(id)}, 0, r.Info().End+1, func(s *store.SampleColumns) error {
					for i := range s.Time {
						got = append(got, [2]float64{float64(s.Time[i]), s.Value[i]})
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				list := want[counter.Name]
				slices.SortStableFunc(list, func(a, b [2]float64) int { return int(a[0] - b[0]) })
				if !slices.Equal(got, list) {
					t.Errorf("counter %s has %d samples, want %d, or others", counter.Name, len(got), len(list))
				}
			}
		})
	}
}
