package findings_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/clock"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A skewed writer gives every process a clock of its own.
type skewed struct {
	trace.Writer
	clock func(rank int) clock.Line
	lines map[trace.LocationID]clock.Line
}

func (s *skewed) Location(l trace.Location) trace.LocationID {
	id := s.Writer.Location(l)
	if line, ok := s.lines[l.Parent]; ok {
		s.lines[id] = line
	} else if l.Rank >= 0 {
		s.lines[id] = s.clock(l.Rank)
	}
	return id
}

func (s *skewed) Link(l trace.Link) {
	l.From.Time, l.To.Time = s.lines[l.From.Location].At(l.From.Time), s.lines[l.To.Location].At(l.To.Time)
	s.Writer.Link(l)
}

func (s *skewed) Stream(id trace.LocationID, o trace.StreamOptions) trace.Stream {
	return &skewedStream{s.Writer.Stream(id, o), s.lines[id]}
}

type skewedStream struct {
	trace.Stream
	line clock.Line
}

func (s *skewedStream) Enter(t trace.Time, r trace.RegionID) { s.Stream.Enter(s.line.At(t), r) }
func (s *skewedStream) Leave(t trace.Time, r trace.RegionID) { s.Stream.Leave(s.line.At(t), r) }
func (s *skewedStream) Interval(a, b trace.Time, r trace.RegionID) {
	s.Stream.Interval(s.line.At(a), s.line.At(b), r)
}
func (s *skewedStream) Instant(t trace.Time, r trace.RegionID) { s.Stream.Instant(s.line.At(t), r) }
func (s *skewedStream) Sample(c trace.CounterID, t trace.Time, v float64) {
	s.Stream.Sample(c, s.line.At(t), v)
}

func skewedStencil(t *testing.T, clocks func(rank int) clock.Line) store.Reader {
	t.Helper()
	d, _ := demo.Find("stencil?locations=16&intervals=20000")
	return viewtest.Local(t, func(w trace.Writer) {
		if err := d.Write(context.Background(), d.Options, &skewed{w, clocks, map[trace.LocationID]clock.Line{}}); err != nil {
			t.Fatal(err)
		}
	})
}

// Offsets and drifts that are put on the clocks of a clean run are found, and the run is told as it was.
func TestCorrectedClockSkewGivesTheFindingsOfTheCleanRun(t *testing.T) {
	clean := skewedStencil(t, func(int) clock.Line { return clock.Line{} })
	want := read(t, clean)
	if clean.Info().Properties["clock alignment"] != "" {
		t.Fatal("clocks that agree are moved")
	}
	for name, clocks := range map[string]func(rank int) clock.Line{
		"offsets": func(rank int) clock.Line { return clock.Line{Offset: float64(rank*rank%7) * 3e7} },
		"offsets and drifts": func(rank int) clock.Line {
			return clock.Line{Offset: float64(rank*5%11) * 1e7, Drift: float64(rank%5-2) * 2e-5}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := skewedStencil(t, clocks)
			// The first clock is kept, so the run is as long as that one says.
			if off := math.Abs(float64(r.Info().End-clean.Info().End)) / float64(clean.Info().End); off > 1e-3 {
				t.Errorf("the run takes %v, want %v: %s", r.Info().End, clean.Info().End, r.Info().Properties["clock alignment"])
			}
			got := read(t, r)
			for name, x := range map[string][2]float64{"load balance": {*got.POP.LoadBalance, *want.POP.LoadBalance},
				"communication efficiency": {*got.POP.Communication, *want.POP.Communication}, "parallel efficiency": {*got.POP.Parallel, *want.POP.Parallel}} {
				if math.Abs(x[0]-x[1]) > 0.001 {
					t.Errorf("%s is %v, want %v", name, x[0], x[1])
				}
			}
			if len(got.Findings) != len(want.Findings) {
				t.Fatalf("findings %+v, want %+v", got.Findings, want.Findings)
			}
			for i, f := range want.Findings {
				g := got.Findings[i]
				if g.Kind != f.Kind || math.Abs(float64(g.Lost-f.Lost)) > 0.05*float64(f.Lost) {
					t.Errorf("%d. %s, %d lost: %s\nwant %s, %d lost: %s", i+1, g.Kind, g.Lost, g.Text, f.Kind, f.Lost, f.Text)
				}
			}
		})
	}
}

// Recorders that start a clock in every process are common: what they recorded is put on one clock.
func TestClocksThatDisagreeAreFitted(t *testing.T) {
	for name, fitted := range map[string]int64{"otf2-pingpong4": 3, "otf2-hpl8": 7, "otf2-hpl32": 31, "otf2-lammps-balanced16": 15, "otf2-lammps-imbalanced16": 15,
		"otf2-hpl16-deep-a": 0, "public/otf2/sst-macro-mpi-coverage-10ranks": 0} {
		run := viewtest.Import(t, "data", name)
		info := run.Info()
		var got int64
		for _, e := range info.Report {
			if strings.HasPrefix(e.What, "clocks of processes fitted") {
				got = e.Count
			}
			if strings.Contains(e.What, "arrive before they are sent") || strings.Contains(e.What, "leaves before another") {
				t.Errorf("%s: %d %s", name, e.Count, e.What)
			}
		}
		for _, f := range read(t, run).Findings {
			if f.Kind == finding.Clock {
				t.Errorf("%s: %s", name, f.Text)
			}
		}
		if got != fitted || (fitted > 0) != (info.Properties["clock alignment"] != "") {
			t.Errorf("%s: %d clocks are fitted, want %d; %q", name, got, fitted, info.Properties["clock alignment"])
		}
	}
}
