package local

import (
	"context"
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Rows read back as they came, whether their columns are packed as one or in pieces.
func TestRowsReadBackWhateverTheirNumber(t *testing.T) {
	for _, n := range []int{1, 255, 257, 256 * 256, 256*256 + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			path := build(t, Options{}, func(w trace.Writer) {
				region := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
				id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: "a", Rank: trace.NoRank})
				c := w.Counter(trace.Counter{Location: id, Name: "c"})
				s := w.Stream(id, trace.StreamOptions{Unordered: true})
				for i := range n {
					s.Interval(trace.Time(10*i), trace.Time(10*i+i%10), region)
					s.Sample(c, trace.Time(10*i), float64(i))
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			r, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			at := 0
			err = r.Intervals(context.Background(), store.Window{End: r.Info().End + 1}, func(c *trace.Columns) error {
				for i := range c.Begin {
					if c.Begin[i] != trace.Time(10*at) || c.Duration[i] != trace.Time(at%10) {
						return fmt.Errorf("row %d begins at %d and lasts %d", at, c.Begin[i], c.Duration[i])
					}
					at++
				}
				return nil
			})
			if err != nil || at != n {
				t.Errorf("%d rows, want %d: %v", at, n, err)
			}
			at = 0
			err = r.Samples(context.Background(), []trace.CounterID{0}, 0, r.Info().End+1, func(c *store.SampleColumns) error {
				for i := range c.Time {
					if c.Time[i] != trace.Time(10*at) || c.Value[i] != float64(at) {
						return fmt.Errorf("sample %d is %v at %d", at, c.Value[i], c.Time[i])
					}
					at++
				}
				return nil
			})
			if err != nil || at != n {
				t.Errorf("%d samples, want %d: %v", at, n, err)
			}
		})
	}
}
