package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func openMemory(_ *testing.T, fill func(trace.Writer), summaries []trace.Summary) store.Reader {
	m := NewMemory(summaries...)
	fill(m)
	return m.Reader()
}

func TestTheReferencePassesItsOwnSuite(t *testing.T) { Run(t, openMemory) }

// The reference walks its rows once with a stack. Here every answer is found a
// second time by trying each nanosecond against each row.
func TestTheReferenceAgreesWithTryingEveryNanosecond(t *testing.T) {
	tried := 0
	for seed := range uint64(20) {
		m := NewMemory()
		randomTrace(m, 500+seed, 25)
		r := m.Reader().(*reader)
		if r.info.End > 5000 {
			continue // too many nanoseconds to try
		}
		tried++
		for id := range r.lanes {
			table, err := r.Time(context.Background(), store.Window{Begin: 10, End: 60, Locations: []trace.LocationID{trace.LocationID(id)}})
			if err != nil {
				t.Fatal(err)
			}
			exclusive, inclusive := map[trace.RegionID]trace.Time{}, map[trace.RegionID]trace.Time{}
			for l := range r.lanes[id] {
				checkLane(t, r, trace.LocationID(id), l)
				for at := trace.Time(10); at < min(60, r.info.End); at++ {
					stack := stackAt(r.lanes[id][l].rows, at)
					if len(stack) > 0 && !hasChildElsewhere(r, trace.LocationID(id), l, at) {
						exclusive[stack[len(stack)-1]]++
					}
					for i, region := range stack {
						if !contains(stack[:i], region) {
							inclusive[region]++
						}
					}
				}
			}
			for i, region := range table.Region[:table.Offsets[1]] {
				if table.Exclusive[i] != exclusive[region] || table.Inclusive[i] != inclusive[region] {
					t.Fatalf("seed %d, location %d, region %d: exclusive %d, inclusive %d; want %d, %d", seed, id, region,
						table.Exclusive[i], table.Inclusive[i], exclusive[region], inclusive[region])
				}
			}
		}
	}
	if tried < 5 {
		t.Errorf("only %d traces were short enough", tried)
	}
}

// hasChildElsewhere reports whether the innermost row of a lane has a child in another, at any location.
func hasChildElsewhere(r *reader, id trace.LocationID, l int, at trace.Time) bool {
	lanes := r.lanes[id]
	innermost := -1
	for i, x := range lanes[l].rows {
		if x.begin <= at && at < x.end {
			innermost = i
		}
	}
	for _, others := range r.lanes {
		for _, o := range others {
			for _, x := range o.rows {
				if x.caller >= 0 && x.callerAt == id && x.callerLane == l && x.caller == innermost && x.begin <= at && at < x.end {
					return true
				}
			}
		}
	}
	return false
}

// stackAt gives the regions open at a time, outermost first.
func stackAt(rows []row, at trace.Time) (out []trace.RegionID) {
	for _, x := range rows {
		if x.begin <= at && at < x.end {
			out = append(out, x.region)
		}
	}
	return out
}

func contains(list []trace.RegionID, x trace.RegionID) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

func checkLane(t *testing.T, r *reader, id trace.LocationID, l int) {
	t.Helper()
	rows := r.lanes[id][l].rows
	for i, x := range rows {
		if i > 0 && x.begin < rows[i-1].begin {
			t.Fatalf("row %d begins before row %d", i, i-1)
		}
		for j, y := range rows[:i] {
			if y.end > x.begin && y.end < x.end {
				t.Fatalf("rows %d [%d, %d) and %d [%d, %d) of one lane cross", j, y.begin, y.end, i, x.begin, x.end)
			}
		}
	}
	next := 0
	for at := trace.Time(0); at < r.info.End; at++ {
		segments := r.lanes[id][l].segments
		for segments[next].End <= at {
			next++
		}
		want := trace.NoRegion
		role := trace.RoleNone
		for _, region := range stackAt(rows, at) {
			want = region
			if k := r.regions[region].Role; k != trace.RoleAnnotation || role == trace.RoleNone {
				role = k
			}
		}
		if s := segments[next]; s.Region != want || s.Role != role {
			t.Fatalf("location %d, lane %d at %d: region %d, role %v; want %d, %v", id, l, at, s.Region, s.Role, want, role)
		}
	}
}

func TestASummaryMergedFromHalvesEqualsThatOfTheWhole(t *testing.T) {
	m := NewMemory()
	randomTrace(m, 42, 200)
	r := m.Reader().(*reader)
	rnd := rand.New(rand.NewPCG(1, 2))
	d := &digest{}
	for id := range r.lanes {
		for l := range r.lanes[id] {
			cut := trace.Time(rnd.Int64N(int64(r.info.End)))
			a := d.Build(nil, r.stretch(trace.LocationID(id), l, 0, cut, false), r.regions)
			b := d.Build(nil, r.stretch(trace.LocationID(id), l, cut, r.info.End, true), r.regions)
			whole := d.Build(nil, r.stretch(trace.LocationID(id), l, 0, r.info.End, true), r.regions)
			if got := d.Merge(nil, a, b); !reflect.DeepEqual(decodeContent(got), decodeContent(whole)) {
				t.Errorf("cut at %d: %+v, want %+v", cut, decodeContent(got), decodeContent(whole))
			}
		}
	}
	if f := d.faults(); len(f) > 0 {
		t.Error(f)
	}
}

// A suite that passes every store proves nothing: stores that break one rule
// each must fail it.
func TestTheSuiteFindsStoresThatBreakARule(t *testing.T) {
	for name, wrap := range map[string]func(*reader) store.Reader{
		"loses the last interval":      func(r *reader) store.Reader { return &lossy{reader: r} },
		"gives full durations as time": func(r *reader) store.Reader { return &unclipped{reader: r} },
		"skips a stretch":              func(r *reader) store.Reader { return &skipping{reader: r} },
		"forgets the open chain":       func(r *reader) store.Reader { return &chainless{reader: r} },
	} {
		t.Run(name, func(t *testing.T) {
			m := NewMemory(&digest{})
			randomTrace(m, 3, 60)
			want := m.Reader().(*reader)
			c := newComparison(want, wrap(m.Reader().(*reader)))
			for _, w := range windowsOf(want, 3) {
				for _, f := range []func(store.Window) string{c.intervals, c.time, c.summaries} {
					if f(w) != "" {
						return
					}
				}
			}
			t.Error("not found")
		})
	}
}

type lossy struct{ *reader }

func (l *lossy) Intervals(ctx context.Context, w store.Window, f func(*trace.Columns) error) error {
	return l.reader.Intervals(ctx, w, func(c *trace.Columns) error {
		short := *c
		if n := c.Len(); n > 0 && n < batchRows {
			short.Begin = c.Begin[:n-1]
		}
		return f(&short)
	})
}

type unclipped struct{ *reader }

func (u *unclipped) Time(ctx context.Context, w store.Window) (*store.TimeTable, error) {
	t, err := u.reader.Time(ctx, w)
	if err == nil && w.Begin > 0 && w.Begin < w.End {
		all, _ := u.reader.Time(ctx, store.Window{Begin: 0, End: u.info.End, Locations: w.Locations})
		return all, nil
	}
	return t, err
}

type skipping struct{ *reader }

func (s *skipping) Summaries(ctx context.Context, name string, w store.Window, level int, v store.Visitor) error {
	v.Rows = func(*trace.Stretch) error { return nil }
	return s.reader.Summaries(ctx, name, w, level, v)
}

type chainless struct{ *reader }

func (s *chainless) Intervals(ctx context.Context, w store.Window, f func(*trace.Columns) error) error {
	return s.reader.Intervals(ctx, w, func(c *trace.Columns) error {
		c.Open = nil
		return f(c)
	})
}

func TestASlowStoreCountsQueriesAndHeedsItsContext(t *testing.T) {
	r := Text(t, "location thread t\n  0..10 main\n")
	s := Slow(r, time.Hour)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Time(ctx, store.Window{End: 10}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Info()
	if s.Calls() != 1 || s.String() != "Time 1" {
		t.Errorf("%d calls: %s", s.Calls(), s)
	}
}

// failures records instead of failing.
type failures struct {
	testing.TB
	text []string
}

func (f *failures) Helper() {}
func (f *failures) Errorf(format string, args ...any) {
	f.text = append(f.text, fmt.Sprintf(format, args...))
}

func TestAFrameThatAsksPerLocationFails(t *testing.T) {
	r := Text(t, "location thread a\n  0..10 f\nlocation thread b\nlocation thread c\n")
	perLocation := func(r store.Reader) {
		for id := range r.Locations().Len() {
			r.Count(store.Window{End: 10, Locations: []trace.LocationID{trace.LocationID(id)}})
		}
	}
	f := &failures{TB: t}
	AtMost(f, 2, r, perLocation)
	if len(f.text) != 1 || !strings.Contains(f.text[0], "makes 3 queries") || !strings.Contains(f.text[0], "Count 3") {
		t.Error(f.text)
	}
	f = &failures{TB: t}
	AtMost(f, 2, r, func(r store.Reader) { r.Count(store.Window{End: 10}) })
	if len(f.text) != 0 {
		t.Error(f.text)
	}
}
