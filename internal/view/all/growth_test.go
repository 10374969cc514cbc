package all

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A countingStore counts the rows that it hands out, and what lies open above them.
type countingStore struct {
	store.Reader
	rows atomic.Int64
}

func (c *countingStore) Intervals(ctx context.Context, w store.Window, f func(*trace.Columns) error) error {
	return c.Reader.Intervals(ctx, w, func(cols *trace.Columns) error {
		c.rows.Add(int64(len(cols.Begin) + 1))
		return f(cols)
	})
}

func (c *countingStore) Children(ctx context.Context, at store.Row, f func(*trace.Columns) error) error {
	return c.Reader.Children(ctx, at, func(cols *trace.Columns) error {
		c.rows.Add(int64(len(cols.Begin) + 1))
		return f(cols)
	})
}

func (c *countingStore) Digests(ctx context.Context, name string, w store.Window, f func(*trace.DigestedLane) error) error {
	return c.Reader.(store.Digester).Digests(ctx, name, w, func(l *trace.DigestedLane) error {
		c.rows.Add(1)
		read := l.Read
		l.Read = func(lo, hi int, g func(*trace.Columns) error) error {
			c.rows.Add(int64(hi - lo))
			return read(lo, hi, g)
		}
		return f(l)
	})
}

func (c *countingStore) Interval(at store.Row) (*trace.Columns, error) {
	c.rows.Add(1)
	return c.Reader.Interval(at)
}

func (c *countingStore) At(location trace.LocationID, lane int, t trace.Time) (store.Row, bool, error) {
	c.rows.Add(1)
	return c.Reader.At(location, lane, t)
}

func (c *countingStore) Links(ctx context.Context, w store.Window, f func(*store.LinkColumns) error) error {
	return c.Reader.Links(ctx, w, func(cols *store.LinkColumns) error {
		c.rows.Add(int64(len(cols.Kind) + 1))
		return f(cols)
	})
}

// growthShapes are traces of about n intervals each.
var growthShapes = []struct {
	name  string
	write func(w trace.Writer, n int)
}{
	{"flat", func(w trace.Writer, n int) { growLocations(w, 16, n/16, false) }},
	{"one location", func(w trace.Writer, n int) { growLocations(w, 1, n, false) }},
	// Of more than 1,000 locations groupings compare a sample of so many each with each (grouping.MostSample), of fewer all:
	// that is quadratic up to there, and the same for whatever is larger.
	{"wide", func(w trace.Writer, n int) { growLocations(w, n/2, 2, false) }},
	{"deep", func(w trace.Writer, n int) { // calls in calls in calls
		work := growRegions(w)
		s := w.Stream(growLocation(w, trace.NoLocation, 0), trace.StreamOptions{})
		for i := range n {
			s.Enter(trace.Time(10*i), work[i%len(work)])
		}
		for i := n - 1; i >= 0; i-- {
			s.Leave(trace.Time(10*(2*n-i)), work[i%len(work)])
		}
		_ = s.Close()
	}},
	{"overlapping", func(w trace.Writer, n int) { growLocations(w, 1, n, true) }},
	{"deep tree of locations", func(w trace.Writer, n int) {
		work, parent := growRegions(w), trace.NoLocation
		for i := range n / 16 {
			parent = growLocation(w, parent, i)
			s := w.Stream(parent, trace.StreamOptions{})
			for k := range 16 {
				s.Interval(trace.Time(100*k), trace.Time(100*k+50), work[(i+k)%len(work)])
			}
			_ = s.Close()
		}
	}},
}

func growRegions(w trace.Writer) (out []trace.RegionID) {
	for i := range 12 {
		g := trace.Region{Name: fmt.Sprint("work", i), Role: trace.RoleCompute}
		if i%3 == 0 {
			g = trace.Region{Name: fmt.Sprint("MPI_Call", i), Role: trace.RoleCommunication}
		}
		out = append(out, w.Region(g))
	}
	return out
}

func growLocation(w trace.Writer, parent trace.LocationID, i int) trace.LocationID {
	return w.Location(trace.Location{Parent: parent, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", i), Rank: i, Order: int64(i)})
}

func growLocations(w trace.Writer, locations, each int, overlap bool) {
	work := growRegions(w)
	for i := range locations {
		s := w.Stream(growLocation(w, trace.NoLocation, i), trace.StreamOptions{})
		for k := range each {
			begin, end := trace.Time(100*k+i%7), trace.Time(100*k+60+k%11+i%5)
			if overlap {
				end = trace.Time(100*each + 50*k)
			}
			s.Interval(begin, end, work[(i+k)%len(work)])
		}
		_ = s.Close()
	}
}

// TestWorkGrowsWithTheTrace: twice the trace is about twice the work, for every view and
// shape of trace, counted in rows that are read and in bytes that are allocated.
func TestWorkGrowsWithTheTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("many traces")
	}
	const n = 1920 // each of 16 ranks calls each of 12 regions equally often, in every size: iterations are found in all
	for _, shape := range growthShapes {
		t.Run(shape.name, func(t *testing.T) {
			var readers [3]store.Reader
			for k := range readers {
				readers[k] = viewtest.Local(t, func(w trace.Writer) { shape.write(w, n<<k) })
			}
			for _, v := range Views {
				var rows, bytes [3]int64
				tried := true
				for k, r := range readers {
					ok := false
					if rows[k], bytes[k], ok = workOf(t, v, r); !ok {
						tried = false
						break
					}
				}
				if !tried {
					continue
				}
				for k := range 2 {
					if grows(rows[k], rows[k+1], n/2) {
						t.Errorf("%s reads %v rows of %v intervals", v.Name, rows, [3]int{n, 2 * n, 4 * n})
					}
					if grows(bytes[k], bytes[k+1], 2<<20) {
						t.Errorf("%s allocates %v bytes for %v intervals", v.Name, bytes, [3]int{n, 2 * n, 4 * n})
					}
				}
			}
		})
	}
}

// grows reports whether twice the trace is more than two and a half times the work. What
// is less than little may meet an edge, such as that of a batch or of a list that doubles.
func grows(one, two, little int64) bool { return float64(two) > 2.5*float64(one)+float64(little) }

// workOf computes and draws a view; it is not ok where there is nothing to show.
func workOf(t *testing.T, v *view.View, r store.Reader) (rows, bytes int64, ok bool) {
	t.Helper()
	if v.Needs.Missing(r) != "" {
		return 0, 0, false
	}
	values, err := view.NewValues(v, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &countingStore{Reader: r}
	selection, err := view.Spec{}.Resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	size := scene.Size{Width: 400, Height: 300}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result, err := v.Compute(context.Background(), &view.Request{Runs: []view.Run{{Store: c}}, Selection: selection, Values: values, Size: size})
	var empty *view.EmptyError
	if errors.As(err, &empty) || err != nil && strings.Contains(err.Error(), "run") {
		return 0, 0, false
	}
	if err != nil {
		t.Errorf("%s: %v", v.Name, err)
		return 0, 0, false
	}
	result.Scene(size)
	runtime.ReadMemStats(&after)
	return c.rows.Load(), int64(after.TotalAlloc - before.TotalAlloc), true
}
