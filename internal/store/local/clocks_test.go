package local

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/clock"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// exchange is a run of two processes that send each other a message in turn; the second has a clock of its own.
func exchange(t *testing.T, align string, line clock.Line) *Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.plx")
	w, err := Create(path, Options{Align: align})
	if err != nil {
		t.Fatal(err)
	}
	lines := [2]clock.Line{{}, line}
	call, inner := w.Region(trace.Region{Name: "call"}), w.Region(trace.Region{Name: "inner"})
	var ids [2]trace.LocationID
	var streams [2]trace.Stream
	for p := range ids {
		ids[p] = w.Location(trace.Location{Name: string(rune('a' + p)), Kind: trace.KindProcess, Rank: p, Parent: trace.NoLocation})
		streams[p] = w.Stream(ids[p], trace.StreamOptions{})
	}
	now := trace.Time(1_000_000_000_000)
	for k := range 4000 {
		now += 50_000
		for p := range ids {
			at := func(t trace.Time) trace.Time { return lines[p].At(t) }
			streams[p].Enter(at(now), call)
			streams[p].Enter(at(now+1), inner)
			streams[p].Leave(at(now+4), inner)
			streams[p].Interval(at(now+5), at(now+30_000), inner)
			streams[p].Leave(at(now+40_000), call)
		}
		from, to := k%2, 1-k%2
		latency := trace.Time(2000 + k*7919%1500)
		w.Link(trace.Link{Kind: trace.LinkMessage, From: trace.End{Location: ids[from], Time: lines[from].At(now + 10), Region: trace.NoRegion},
			To: trace.End{Location: ids[to], Time: lines[to].At(now + 10 + latency), Region: trace.NoRegion}})
	}
	for p := range streams {
		if err := streams[p].Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// early counts messages that arrive before they are sent.
func early(t *testing.T, r *Reader) (n int) {
	t.Helper()
	err := r.Links(t.Context(), store.Window{End: r.Info().End + 1}, func(l *store.LinkColumns) error {
		for i := range l.Kind {
			if l.ToTime[i] < l.FromTime[i] {
				n++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestClocksThatDisagreeAreFittedAndRowsStayNested(t *testing.T) {
	for _, line := range []clock.Line{{Offset: 3e6}, {Offset: -2e6, Drift: 5e-5, Origin: 1_000_000_000_000}} {
		r := exchange(t, "auto", line)
		if n := early(t, r); n > 0 {
			t.Errorf("%v: %d messages are early", line, n)
		}
		offset := math.NaN()
		for _, a := range r.Locations().Attributes[1] {
			if a.Key == "clock offset ns" {
				offset = float64(int64(a.Value.Bits()))
			}
		}
		if line.Drift == 0 && math.Abs(offset+line.Offset) > 1000 || math.IsNaN(offset) {
			t.Errorf("the clock is moved by %v, was put off by %v", offset, line.Offset)
		}
		err := r.Intervals(t.Context(), store.Window{End: r.Info().End + 1}, func(c *trace.Columns) error {
			for i := range c.Begin {
				if p := int(c.Parent[i]) - c.First; p >= 0 && (c.Begin[i] < c.Begin[p] || c.End(i) > c.End(p)) || c.Duration[i] < 1 {
					t.Fatalf("row %d: %d to %d", i, c.Begin[i], c.End(i))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		kept := exchange(t, "none", line)
		if n := early(t, kept); n < 1000 || len(kept.Info().Report) != 1 || !strings.Contains(kept.Info().Report[0].What, "--align none") {
			t.Errorf("with none %d messages are early: %+v", n, kept.Info().Report)
		}
	}
	if r := exchange(t, "auto", clock.Line{}); len(r.Info().Report) > 0 || r.Info().Properties["clock alignment"] != "" {
		t.Errorf("clocks that agree: %+v", r.Info().Report)
	}
}
