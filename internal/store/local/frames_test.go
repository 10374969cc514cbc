package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
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

// Who looks for rows here and there, in frames that are packed, finds those that a search in plain columns does.
func TestRowsAreFoundInPackedFrames(t *testing.T) {
	r := randomStore(t, 12, 20_000)
	frames := r.Frames()
	rnd := rand.New(rand.NewPCG(12, 12))
	for n := range len(r.C.LaneRow) - 1 {
		v := r.Lane(n)
		if v.Len() == 0 {
			continue
		}
		first, end := r.C.LaneRow[n], r.C.LaneRow[n+1]
		for range 300 {
			at, near := v.Begin[rnd.IntN(v.Len())]+trace.Time(rnd.IntN(3)-1), rnd.IntN(v.Len()+2)
			after := rows.FirstFrom(v.Begin, at+1)
			if got := frames.FirstAfter(first, end, at, near); got != after {
				t.Fatalf("lane %d: row %d is the first after %d, looked for from %d on, want %d", n, got, at, near, after)
			}
			if got, want := frames.OpenFrom(first, after-1, at, trace.NoRegion), rows.OpenFrom(&v, after-1, at, trace.NoRegion); got != want {
				t.Fatalf("lane %d: row %d is open at %d, want %d", n, got, at, want)
			}
		}
		for i := range v.Len() {
			row := first + uint64(i)
			if frames.Begin(row) != v.Begin[i] || frames.End(row) != v.End(i) || frames.Region(row) != v.Region[i] || frames.Parent(row) != int(v.Parent[i]) {
				t.Fatalf("lane %d: row %d is another one", n, i)
			}
		}
	}
}
