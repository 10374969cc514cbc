package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A SlowReader takes some milliseconds for each query and counts them, as a store on another machine would. Data
// that a reader holds in memory (Info, Locations, Regions …) is free.
type SlowReader struct {
	store.Reader
	delay time.Duration
	mu    sync.Mutex
	calls map[string]int
}

// Slow wraps a reader.
func Slow(r store.Reader, delay time.Duration) *SlowReader {
	return &SlowReader{Reader: r, delay: delay, calls: map[string]int{}}
}

// AtMost fails a test whose frame makes more than n queries. A view makes a handful per frame, however many
// locations it shows: ask for all of them at once.
func AtMost(tb testing.TB, n int, r store.Reader, frame func(store.Reader)) {
	tb.Helper()
	s := Slow(r, 2*time.Millisecond)
	frame(s)
	if s.Calls() > n {
		tb.Errorf("one frame makes %d queries of the store, want at most %d: %s", s.Calls(), n, s)
	}
}

// Calls is the number of queries so far.
func (s *SlowReader) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.calls {
		n += c
	}
	return n
}

// String returns the number of queries of each kind.
func (s *SlowReader) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.calls)) {
		out = append(out, fmt.Sprintf("%s %d", name, s.calls[name]))
	}
	return strings.Join(out, ", ")
}

// wait counts a query and takes its time; a context that ends meanwhile ends it.
func (s *SlowReader) wait(ctx context.Context, name string) {
	s.mu.Lock()
	s.calls[name]++
	s.mu.Unlock()
	timer := time.NewTimer(s.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (s *SlowReader) Count(w store.Window) (int64, error) {
	s.wait(context.Background(), "Count")
	return s.Reader.Count(w)
}

func (s *SlowReader) Intervals(ctx context.Context, w store.Window, f func(*trace.Columns) error) error {
	s.wait(ctx, "Intervals")
	return s.Reader.Intervals(ctx, w, f)
}

func (s *SlowReader) Interval(at store.Row) (*trace.Columns, error) {
	s.wait(context.Background(), "Interval")
	return s.Reader.Interval(at)
}

func (s *SlowReader) At(location trace.LocationID, lane int, t trace.Time) (at store.Row, found bool, err error) {
	s.wait(context.Background(), "At")
	return s.Reader.At(location, lane, t)
}

func (s *SlowReader) Children(ctx context.Context, at store.Row, f func(*trace.Columns) error) error {
	s.wait(ctx, "Children")
	return s.Reader.Children(ctx, at, f)
}

func (s *SlowReader) Time(ctx context.Context, w store.Window) (*store.TimeTable, error) {
	s.wait(ctx, "Time")
	return s.Reader.Time(ctx, w)
}

func (s *SlowReader) Summaries(ctx context.Context, name string, w store.Window, level int, v store.Visitor) error {
	s.wait(ctx, "Summaries")
	return s.Reader.Summaries(ctx, name, w, level, v)
}

func (s *SlowReader) RoleTime(ctx context.Context, locations []trace.LocationID, edges []trace.Time) ([]trace.Sum,
	error) {
	s.wait(ctx, "RoleTime")
	return s.Reader.RoleTime(ctx, locations, edges)
}

// RoleRuns is one query, however the reader answers it.
func (s *SlowReader) RoleRuns(ctx context.Context, locations []trace.LocationID, edges []trace.Time,
	f func(k int, runs []store.RoleRun) error) error {
	s.wait(ctx, "RoleRuns")
	return store.RoleRuns(ctx, s.Reader, locations, edges, f)
}

func (s *SlowReader) Groups(ctx context.Context, locations []trace.LocationID, begin, end trace.Time,
	level int) (*store.GroupBins, error) {
	s.wait(ctx, "Groups")
	return s.Reader.Groups(ctx, locations, begin, end, level)
}

func (s *SlowReader) Links(ctx context.Context, w store.Window, f func(*store.LinkColumns) error) error {
	s.wait(ctx, "Links")
	return s.Reader.Links(ctx, w, f)
}

func (s *SlowReader) LinkCount(w store.Window) (int64, error) {
	s.wait(context.Background(), "LinkCount")
	return s.Reader.LinkCount(w)
}

func (s *SlowReader) Instants(ctx context.Context, w store.Window, f func(*store.InstantColumns) error) error {
	s.wait(ctx, "Instants")
	return s.Reader.Instants(ctx, w, f)
}

func (s *SlowReader) Samples(ctx context.Context, counters []trace.CounterID, begin, end trace.Time,
	f func(*store.SampleColumns) error) error {
	s.wait(ctx, "Samples")
	return s.Reader.Samples(ctx, counters, begin, end, f)
}

func (s *SlowReader) IntervalAttributes(at store.Row) ([]trace.Attribute, error) {
	s.wait(context.Background(), "IntervalAttributes")
	return s.Reader.IntervalAttributes(at)
}

func (s *SlowReader) AttributeColumn(ctx context.Context, w store.Window, a trace.AttributeID,
	f func(*store.AttributeColumns) error) error {
	s.wait(ctx, "AttributeColumn")
	return s.Reader.AttributeColumn(ctx, w, a, f)
}

func (s *SlowReader) InstantAttribute(ctx context.Context, w store.Window, a trace.AttributeID,
	f func(*store.InstantValues) error) error {
	s.wait(ctx, "InstantAttribute")
	return s.Reader.InstantAttribute(ctx, w, a, f)
}

func (s *SlowReader) Profile(ctx context.Context, locations []trace.LocationID,
	f func([]trace.ProfileRow) error) error {
	s.wait(ctx, "Profile")
	return s.Reader.Profile(ctx, locations, f)
}

func (s *SlowReader) Atomics(ctx context.Context, locations []trace.LocationID, f func([]trace.AtomicRow) error) error {
	s.wait(ctx, "Atomics")
	return s.Reader.Atomics(ctx, locations, f)
}

func (s *SlowReader) Moments(ctx context.Context, locations []trace.LocationID, f func([]trace.MomentRow) error) error {
	s.wait(ctx, "Moments")
	return s.Reader.Moments(ctx, locations, f)
}
