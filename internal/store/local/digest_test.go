package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A countDigest keeps how many rows a lane has; lanes of few rows have none.
type countDigest struct{ version int }

func (countDigest) Name() string                      { return "count" }
func (d countDigest) Version() int                    { return d.version }
func (d countDigest) Builder(int) trace.DigestBuilder { return d }
func (countDigest) Build(dst []byte, c *trace.Columns) []byte {
	if c.Len() < 100 {
		return dst
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(c.Len()))
}

// TestDigestsAreKeptRebuiltAndSaved: the record of each lane is what its builder
// made at import; a store without it, or with another version, makes and saves it.
func TestDigestsAreKeptRebuiltAndSaved(t *testing.T) {
	fill := func(w trace.Writer) { writeRandom(w, 3, 4000) }
	with := build(t, Options{Digests: []trace.Digest{countDigest{1}}}, fill)
	without := build(t, Options{}, fill)
	for _, c := range []struct {
		path   string
		digest countDigest
	}{{with, countDigest{1}}, {without, countDigest{1}}, {without, countDigest{1}}, {with, countDigest{2}}, {with, countDigest{2}}} {
		r, err := Open(c.path, nil, c.digest)
		if err != nil {
			t.Fatal(err)
		}
		checkRecords(t, r)
		if err := r.Verify(); err != nil {
			t.Error(err)
		}
		r.Close()
		name := fmt.Sprintf("digest.%s.%d.", c.digest.Name(), c.digest.Version())
		records, offsets := name+"records", name+"offsets"
		files := filesOf(t, c.path)
		digests := 0
		for name := range files {
			if strings.HasPrefix(name, "digest.") {
				digests++
			}
		}
		if digests != 2 || len(files[records]) == 0 || len(files[offsets]) == 0 {
			t.Errorf("version %d: %d files of digests, want the two of it", c.digest.version, digests)
		}
	}
	if a, b := filesOf(t, without), filesOf(t, with); !bytes.Equal(a["interval.begin.i64"], b["interval.begin.i64"]) {
		t.Error("a digest changes the rows")
	}
}

// checkRecords: lanes, their rows, and what is open at the ends of windows are
// those that Intervals gives.
func checkRecords(t *testing.T, r *Reader) {
	t.Helper()
	end := r.Info().End
	windows := []store.Window{{End: end}, {Begin: end / 3, End: end / 2}, {Begin: end / 2, End: end}}
	for k := range trace.Time(20) {
		windows = append(windows, store.Window{Begin: k * end / 23, End: k*end/23 + end/(2+k)})
	}
	for _, w := range windows {
		type lane struct {
			rows, open, left int
			sum              trace.Time // of all that the rows have but when they begin
			innermost        trace.Time // times of the open ones, weighted
		}
		open := func(l *trace.DigestedLane) (sum trace.Time) {
			times, err := l.OpenTime()
			if err != nil || len(times) != len(l.Open) {
				t.Errorf("%v of %d open calls: %v", times, len(l.Open), err)
			}
			for i, x := range times {
				sum += trace.Time(i+1) * x
			}
			return sum
		}
		add := func(x *lane, c *trace.Columns) {
			for i := range c.Region {
				x.sum = 31*x.sum + c.Duration[i] + 7*c.Exclusive[i] + 3*trace.Time(c.Region[i]) + 5*trace.Time(c.Depth[i])
			}
		}
		var mu sync.Mutex
		got, want := map[[2]int]lane{}, map[[2]int]lane{}
		err := r.Digests(context.Background(), "count", w, func(l *trace.DigestedLane) error {
			x := lane{rows: l.Hi - l.Lo, open: len(l.Open), left: len(l.Left), innermost: open(l)}
			all, _ := r.Lookup(l.Location, l.Lane)
			if kept := all.Len() >= 100; kept != (l.Record != nil) || kept && binary.LittleEndian.Uint64(l.Record) != uint64(all.Len()) {
				t.Errorf("location %d: record %v of %d rows", l.Location, l.Record, all.Len())
			}
			err := l.Read(l.Lo, l.Hi, func(c *trace.Columns) error { add(&x, c); return nil })
			mu.Lock()
			defer mu.Unlock()
			if x != (lane{}) {
				got[[2]int{int(l.Location), l.Lane}] = x
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		// A Reader without digests is asked for its intervals.
		err = store.Digests(context.Background(), struct{ store.Reader }{r}, "count", w, func(l *trace.DigestedLane) error {
			key := [2]int{int(l.Location), l.Lane}
			return l.Read(l.Lo, l.Hi, func(c *trace.Columns) error {
				mu.Lock()
				defer mu.Unlock()
				x, met := want[key]
				add(&x, c)
				if x.rows += c.Len(); !met {
					x.open, x.left, x.innermost = len(l.Open), len(l.Left), open(l)
				}
				want[key] = x
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("%d lanes, want %d", len(got), len(want))
		}
		for key, x := range want {
			if got[key] != x {
				t.Errorf("lane %v of [%d, %d): %+v, want %+v", key, w.Begin, w.End, got[key], x)
			}
		}
	}
}
