package local

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// callsOnly writes ranks by write and opens the run.
func callsOnly(t *testing.T, write func(w *Writer, rank int, s trace.Stream)) *Reader {
	t.Helper()
	return ranks(t, Options{Infer: true}, write)
}

// ranks writes three ranks by write and opens the run.
func ranks(t *testing.T, o Options, write func(w *Writer, rank int, s trace.Stream)) *Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.plx")
	w, err := Create(path, o)
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 3 {
		id := w.Location(trace.Location{Name: string(rune('a' + rank)), Kind: trace.KindProcess, Rank: rank, Parent: trace.NoLocation})
		s := w.Stream(id, trace.StreamOptions{})
		write(w, rank, s)
		if err := s.Close(); err != nil {
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

type stay struct {
	begin, end trace.Time
	name       string
	depth      uint16
}

// staysOf reads the intervals of a location, in order.
func staysOf(t *testing.T, r *Reader, id trace.LocationID) (out []stay) {
	t.Helper()
	w := store.Window{End: r.Info().End + 1, Locations: []trace.LocationID{id}}
	err := r.Intervals(t.Context(), w, func(c *trace.Columns) error {
		for i, g := range c.Region {
			out = append(out, stay{c.Begin[i], c.End(i), r.Regions()[g].Name, c.Depth[i]})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Calls of ranks that record communication only lie in work, within annotations too, in any form of records.
func TestTimeBetweenCallsIsWork(t *testing.T) {
	const lost = "(not recorded)"
	want := []stay{{0, 70, "solve", 0}, {0, 70, lost, 1}, {5, 15, "MPI_Recv", 2}, {6, 9, "MPI_Wait", 3},
		{40, 50, "MPI_Allreduce", 2}, {70, 90, lost, 0}, {80, 90, "MPI_Barrier", 1}}
	for name, intervals := range map[string]bool{"enter and leave": false, "intervals": true} {
		r := callsOnly(t, func(w *Writer, rank int, s trace.Stream) {
			fact := w.Attribute("bytes")
			note := w.Region(trace.Region{Name: "solve", Role: trace.RoleAnnotation})
			recv, wait := w.Region(trace.Region{Name: "MPI_Recv"}), w.Region(trace.Region{Name: "MPI_Wait"})
			reduce, barrier := w.Region(trace.Region{Name: "MPI_Allreduce"}), w.Region(trace.Region{Name: "MPI_Barrier"})
			if intervals { // in any order
				s.Interval(80, 90, barrier)
				s.Interval(40, 50, reduce)
				s.Attribute(fact, trace.Integer(7))
				s.Interval(0, 70, note)
				s.Interval(6, 9, wait)
				s.Interval(5, 15, recv)
				return
			}
			s.Enter(0, note)
			s.Enter(5, recv)
			s.Enter(6, wait)
			s.Leave(9, wait)
			s.Leave(15, recv)
			s.Enter(40, reduce)
			s.Attribute(fact, trace.Integer(7))
			s.Leave(50, reduce)
			s.Leave(70, note)
			s.Enter(80, barrier)
			s.Leave(90, barrier)
		})
		got := staysOf(t, r, 1)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v\nwant %v", name, got, want)
		}
		if n, all := r.Info().Inferred, r.Info().Intervals; n != 3*int64(len(want)-5) || all != 3*int64(len(want)) {
			t.Errorf("%s: %d of %d intervals are inferred", name, n, all)
		}
		err := r.AttributeColumn(t.Context(), store.Window{End: 100, Locations: []trace.LocationID{1}}, 0, func(c *store.AttributeColumns) error {
			for _, row := range c.Row {
				if got[row].name != "MPI_Allreduce" {
					t.Errorf("%s: the attribute is that of %v", name, got[row])
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A run that records work anywhere has none inferred.
func TestNoWorkIsInferredWhereSomeIsRecorded(t *testing.T) {
	r := callsOnly(t, func(w *Writer, rank int, s trace.Stream) {
		call, work := w.Region(trace.Region{Name: "MPI_Barrier"}), w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
		s.Enter(0, call)
		s.Leave(10, call)
		if rank == 2 {
			s.Enter(20, work)
			s.Leave(30, work)
		}
		s.Enter(100, call)
		s.Leave(110, call)
	})
	if n := r.Info().Inferred; n != 0 {
		t.Errorf("%d intervals are inferred", n)
	}
}

// Time between windows of a recorder that was on now and then is no work; that between the calls of long steps is.
func TestNoWorkIsInferredWhileTheRecorderWasOff(t *testing.T) {
	run := func(windows, rounds int, work, between trace.Time) *Reader {
		return callsOnly(t, func(w *Writer, rank int, s trace.Stream) {
			send, reduce := w.Region(trace.Region{Name: "MPI_Send"}), w.Region(trace.Region{Name: "MPI_Allreduce"})
			now := trace.Time(rank)
			enter := func(g trace.RegionID) {
				s.Enter(now, g)
				now += 5
				s.Leave(now, g)
			}
			for range windows {
				for range rounds {
					for range 64 / rounds {
						enter(send)
						now += work
					}
					enter(reduce)
					now += work
				}
				now += between
			}
		})
	}
	for _, c := range []struct {
		windows, rounds int
		work, between   trace.Time
		off             int
	}{
		{4, 16, 20, 100_000, 3},   // a recorder that is on for 16 steps
		{4, 1, 20, 100_000, 0},    // 4 steps that compute long
		{40, 16, 20, 100_000, 0},  // 40 such steps
		{4, 16, 2000, 100_000, 0}, // too short to be told from the work
	} {
		r := run(c.windows, c.rounds, c.work, c.between)
		if got, want := r.Info().Inferred, int64(3*(1+c.off)); got != want {
			t.Errorf("%+v: %d intervals are inferred, want %d", c, got, want)
		}
		longest := trace.Time(0)
		for _, x := range staysOf(t, r, 1) {
			longest = max(longest, x.end-x.begin)
		}
		if (longest < c.between) != (c.off > 0) {
			t.Errorf("%+v: the longest interval takes %d", c, longest)
		}
	}
}

// Records that do not match are repaired as ever, and rows stay in order.
func TestWorkIsInferredFromRecordsThatDoNotMatch(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		r := callsOnly(t, func(w *Writer, rank int, s trace.Stream) {
			regions := []trace.RegionID{w.Region(trace.Region{Name: "MPI_Send"}), w.Region(trace.Region{Name: "MPI_Wait"}),
				w.Region(trace.Region{Name: "step", Role: trace.RoleAnnotation}), trace.NoRegion}
			now := trace.Time(1000)
			for range 2000 {
				now += trace.Time(random.IntN(5)) - trace.Time(random.IntN(40)/39)
				if g := regions[random.IntN(4)]; g == trace.NoRegion || random.IntN(2) == 0 {
					s.Leave(now, g)
				} else {
					s.Enter(now, g)
				}
			}
		})
		for id := range trace.LocationID(3) {
			last := trace.Time(0)
			for _, x := range staysOf(t, r, id) {
				if x.begin < last || x.end < x.begin {
					t.Fatalf("seed %d: %v after %d", seed, x, last)
				}
				last = x.begin
			}
		}
	}
}

// Work takes few rows however many calls there are, so that a store of calls alone does not grow by them.
func TestWorkBetweenManyCallsIsOneRow(t *testing.T) {
	for name, intervals := range map[string]bool{"enter and leave": false, "intervals": true} {
		r := callsOnly(t, func(w *Writer, rank int, s trace.Stream) {
			send := w.Region(trace.Region{Name: "MPI_Send"})
			for i := range trace.Time(1000) {
				if intervals {
					s.Interval(10*i, 10*i+4, send)
				} else {
					s.Enter(10*i, send)
					s.Leave(10*i+4, send)
				}
			}
		})
		if n := r.Info().Inferred; n != 3 {
			t.Errorf("%s: %d rows of work on three ranks", name, n)
		}
		list := staysOf(t, r, 1)
		if list[1] != (stay{4, 9994, "(not recorded)", 0}) || list[2] != (stay{10, 14, "MPI_Send", 1}) {
			t.Errorf("%s: begins with %v", name, list[:3])
		}
	}
}

// Around calls that overlap without nesting there is no interval of work: part of them is in another lane.
func TestNoWorkIsAroundCallsThatCross(t *testing.T) {
	r := callsOnly(t, func(w *Writer, rank int, s trace.Stream) {
		send, recv := w.Region(trace.Region{Name: "MPI_Send"}), w.Region(trace.Region{Name: "MPI_Recv"})
		for _, x := range [][2]trace.Time{{0, 10}, {20, 30}, {40, 60}, {70, 80}, {90, 95}} {
			s.Interval(x[0], x[1], send)
		}
		s.Interval(50, 65, recv)
	})
	var work []stay
	for _, x := range staysOf(t, r, 1) {
		if x.name == "(not recorded)" {
			work = append(work, x)
		}
	}
	want := []stay{{10, 40, "(not recorded)", 0}, {65, 95, "(not recorded)", 0}}
	if !slices.Equal(work, want) {
		t.Errorf("work is %v, want %v", work, want)
	}
}

// A call without an end ends with the trace, and so does the work around it, which stays what it is.
func TestWorkAroundACallWithoutAnEnd(t *testing.T) {
	r := callsOnly(t, func(w *Writer, rank int, s trace.Stream) {
		send, recv := w.Region(trace.Region{Name: "MPI_Send"}), w.Region(trace.Region{Name: "MPI_Recv"})
		s.Enter(0, send)
		s.Leave(10, send)
		s.Enter(20, recv)
		if rank != 1 {
			s.Leave(50, recv)
		}
	})
	got := staysOf(t, r, 1)
	if len(got) != 3 || got[1] != (stay{10, 50, "(not recorded)", 0}) || got[2].name == "MPI_Recv" || got[2].end != 50 {
		t.Errorf("%v", got)
	}
}
