package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// runConduct checks the rules of the contract on cancellation, errors, goroutines and effort, on a trace of many
// locations.
func runConduct(t *testing.T, open Open) {
	const locations, rows = 60, 300
	fill := func(w trace.Writer) {
		f, g := w.Region(trace.Region{Name: "f"}), w.Region(trace.Region{Name: "g"})
		var first trace.LocationID
		for i := range locations {
			id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: fmt.Sprint(i),
				Rank: trace.NoRank})
			if i == 0 {
				first = id
			}
			c := w.Counter(trace.Counter{Location: id, Name: "level"})
			s := w.Stream(id, trace.StreamOptions{})
			for k := range trace.Time(rows) {
				s.Enter(k*10, f)
				s.Enter(k*10+2, g)
				s.Attribute(w.Attribute("bytes"), trace.Integer(8))
				s.Sample(c, k*10+3, 1)
				s.Instant(k*10+4, g)
				s.Leave(k*10+5, g)
				s.Leave(k*10+9, f)
				w.Link(trace.Link{Kind: trace.LinkMessage,
					From:         trace.End{Location: id, Time: k * 10, Region: trace.NoRegion},
					To:           trace.End{Location: first, Time: k*10 + 1, Region: trace.NoRegion},
					Communicator: trace.NoCommunicator})
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			w.Profile(trace.ProfileRow{Location: id,
				Path:   w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: f}),
				Metric: w.Metric(trace.Metric{Name: "time"})})
		}
	}
	want, got, _ := both(t, open, fill)
	whole := store.Window{Begin: 0, End: want.info.End}
	queries := allQueries(got, whole)

	t.Run("a query whose context is done returns its error", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for name, q := range queries {
			if err := q(ctx, func() error { return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("a query cancelled on its way stops", func(t *testing.T) {
		for _, name := range []string{"Intervals", "Summaries", "Instants"} {
			ctx, cancel := context.WithCancel(context.Background())
			var calls, all atomic.Int64
			if err := queries[name](context.Background(), func() error { all.Add(1); return nil }); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			err := queries[name](ctx, func() error {
				calls.Add(1)
				cancel()
				return nil
			})
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
			if calls.Load() > all.Load()/2 {
				t.Errorf("%s: %d of %d callbacks ran after the query was cancelled in the first", name, calls.Load(),
					all.Load())
			}
		}
	})
	t.Run("the error of a callback is the error of the query", func(t *testing.T) {
		broken := errors.New("broken")
		for name, q := range queries {
			if name == "Time" || name == "Groups" || name == "RoleTime" {
				continue // no callback
			}
			if err := q(context.Background(), func() error { return broken }); !errors.Is(err, broken) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("a summary that is not kept is refused", func(t *testing.T) {
		if err := got.Summaries(context.Background(), "unknown", whole, 0, store.Visitor{}); !errors.Is(err,
			store.ErrNotKept) {
			t.Error(err)
		}
	})
	t.Run("callbacks of one location never run at once, its lanes and batches come in order", func(t *testing.T) {
		checkOrder(t, got, whole)
	})
	t.Run("the coarsest cover of a wide window has few pieces", func(t *testing.T) {
		checkEffort(t, open)
	})
	t.Run("many goroutines may ask at once", func(t *testing.T) {
		c := newComparison(want, got)
		var wg sync.WaitGroup
		for i := range trace.Time(8) {
			w := store.Window{Begin: i * 100, End: i*300 + 500,
				Locations: []trace.LocationID{trace.LocationID(i), trace.LocationID(i + 9)}}
			wg.Go(func() {
				for _, f := range []func(store.Window) string{c.intervals, c.time, c.summaries, c.groups, c.roleTime,
					c.links, c.instants, c.samples, c.attributes} {
					if d := f(w); d != "" {
						t.Errorf("window [%d, %d): %s", w.Begin, w.End, d)
					}
				}
			})
		}
		wg.Wait()
	})
}

// allQueries are the queries that take a context; f is called for each batch.
func allQueries(r store.Reader, w store.Window) map[string]func(context.Context, func() error) error {
	return map[string]func(context.Context, func() error) error{
		"Intervals": func(ctx context.Context, f func() error) error {
			return r.Intervals(ctx, w, func(*trace.Columns) error { return f() })
		},
		"Time": func(ctx context.Context, f func() error) error { _, err := r.Time(ctx, w); return err },
		"Summaries": func(ctx context.Context, f func() error) error {
			return r.Summaries(ctx, "storetest", w, 6, store.Visitor{
				Block: func(trace.LocationID, int, trace.Time, trace.Time, trace.Block) error { return f() },
				Rows:  func(*trace.Stretch) error { return f() },
			})
		},
		"Groups": func(ctx context.Context, f func() error) error {
			_, err := r.Groups(ctx, []trace.LocationID{0, 1}, w.Begin, w.End, 4)
			return err
		},
		"RoleTime": func(ctx context.Context, f func() error) error {
			_, err := r.RoleTime(ctx, nil, []trace.Time{w.Begin, w.End})
			return err
		},
		"Links": func(ctx context.Context, f func() error) error {
			return r.Links(ctx, w, func(*store.LinkColumns) error { return f() })
		},
		"Instants": func(ctx context.Context, f func() error) error {
			return r.Instants(ctx, w, func(*store.InstantColumns) error { return f() })
		},
		"Samples": func(ctx context.Context, f func() error) error {
			return r.Samples(ctx, nil, w.Begin, w.End, func(*store.SampleColumns) error { return f() })
		},
		"AttributeColumn": func(ctx context.Context, f func() error) error {
			return r.AttributeColumn(ctx, w, 0, func(*store.AttributeColumns) error { return f() })
		},
		"Profile": func(ctx context.Context, f func() error) error {
			return r.Profile(ctx, nil, func([]trace.ProfileRow) error { return f() })
		},
	}
}

// checkOrder asks for intervals and summaries without any lock of its own.
func checkOrder(t *testing.T, r store.Reader, w store.Window) {
	n := r.Locations().Len()
	busy := make([]atomic.Bool, n)
	last := make([]struct {
		lane int
		time trace.Time
	}, n)
	enter := func(id trace.LocationID, lane int, begin trace.Time) func() {
		if busy[id].Swap(true) {
			t.Errorf("two callbacks at once for location %d", id)
		}
		if l := &last[id]; lane < l.lane || lane == l.lane && begin < l.time {
			t.Errorf("location %d: lane %d at %d comes after lane %d at %d", id, lane, begin, l.lane, l.time)
		} else {
			l.lane, l.time = lane, begin
		}
		return func() { busy[id].Store(false) }
	}
	err := r.Intervals(context.Background(), w, func(c *trace.Columns) error {
		begin := w.Begin
		if c.Len() > 0 {
			begin = c.Begin[0]
		}
		enter(c.Location, c.Lane, begin)()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	clear(last)
	err = r.Summaries(context.Background(), "storetest", w, 5, store.Visitor{
		Block: func(id trace.LocationID, lane int, begin, _ trace.Time, _ trace.Block) error {
			enter(id, lane, begin)()
			return nil
		},
		Rows: func(s *trace.Stretch) error { enter(s.Rows.Location, s.Rows.Lane, s.Begin)(); return nil },
	})
	if err != nil {
		t.Error(err)
	}
}

// checkEffort counts the cost of a wide window: it must not grow with the rows.
func checkEffort(t *testing.T, open Open) {
	const rows = 20000
	r := open(t, func(w trace.Writer) {
		id,
			f := w.Location(trace.Location{Parent: trace.NoLocation, Name: "t", Kind: trace.KindThread,
			Rank: trace.NoRank}), w.Region(trace.Region{Name: "f"})
		s := w.Stream(id, trace.StreamOptions{})
		for k := range trace.Time(rows) {
			s.Enter(k*7, f)
			s.Leave(k*7+5, f)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}, []trace.Summary{&digest{}})
	for _, w := range []store.Window{{Begin: 0, End: r.Info().End}, {Begin: 12345, End: 123456}} {
		pieces, handed := 0, 0
		err := r.Summaries(context.Background(), "storetest", w, store.Coarsest, store.Visitor{
			Block: func(trace.LocationID, int, trace.Time, trace.Time, trace.Block) error { pieces++; return nil },
			Rows:  func(s *trace.Stretch) error { pieces++; handed += s.Rows.Len(); return nil },
		})
		if err != nil {
			t.Error(err)
		}
		if whole := w.Begin == 0; pieces > 200 || handed > rows/20 || whole && pieces > 1 {
			t.Errorf("window [%d, %d) over %d rows: %d pieces, %d rows handed out", w.Begin, w.End, rows, pieces,
				handed)
		}
	}
}
