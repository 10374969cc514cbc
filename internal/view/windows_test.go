package view_test

import (
	"context"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A watched store writes down which edges it is asked for.
type watched struct {
	store.Reader
	asked [][]trace.Time
}

func (w *watched) RoleTime(ctx context.Context, locations []trace.LocationID, edges []trace.Time) ([]trace.Sum, error) {
	w.asked = append(w.asked, edges)
	return w.Reader.RoleTime(ctx, locations, edges)
}

// runOf records intervals of one region at two locations.
func runOf(t *testing.T, intervals ...[2]trace.Time) *watched {
	m := storetest.NewMemory()
	f := m.Region(trace.Region{Name: "f"})
	for _, name := range []string{"a", "b"} {
		s := m.Stream(m.Location(trace.Location{Parent: trace.NoLocation, Name: name, Kind: trace.KindThread, Rank: trace.NoRank}), trace.StreamOptions{})
		for _, x := range intervals {
			s.Enter(x[0], f)
			s.Leave(x[1], f)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return &watched{Reader: m.Reader()}
}

func TestWindowsOfARunThatIsMostlyBlank(t *testing.T) {
	const s = trace.Time(1e9)
	r := runOf(t, [2]trace.Time{0, s}, [2]trace.Time{470*s + 1, 471*s + 7})
	got, err := runfacts.Windows(context.Background(), r)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	for k, want := range [][2]trace.Time{{0, s}, {470*s + 1, 471*s + 7}} {
		near := (want[1] - want[0]) / 100
		if a, b := want[0]-got[k][0], got[k][1]-want[1]; a < 0 || b < 0 || a > near || b > near {
			t.Errorf("window %d is %v, want %v and little more", k, got[k], want)
		}
	}
}

// Bins that are not those which a store keeps cost rows at each edge of each location: seconds of a large run, for every picture.
func TestARunWithoutWindowsIsAskedForKeptBinsAlone(t *testing.T) {
	r := runOf(t, [2]trace.Time{0, 123_456_789_012})
	if got, err := runfacts.Windows(context.Background(), r); err != nil || got != nil {
		t.Fatalf("%v, %v", got, err)
	}
	if len(r.asked) != 1 {
		t.Fatalf("asked %d times", len(r.asked))
	}
	edges := r.asked[0]
	width := edges[1]
	if width&(width-1) != 0 || len(edges) > 513 || edges[len(edges)-1] != r.Info().End {
		t.Errorf("%d edges, the first %v, the last %v", len(edges), width, edges[len(edges)-1])
	}
	for i, e := range edges[:len(edges)-1] {
		if e != trace.Time(i)*width {
			t.Fatalf("edge %d is %v, want a multiple of %v", i, e, width)
		}
	}
}

// Rates are over the time in which the recorder was on, however many windows that is and whatever part is asked for.
func TestRecordedTimeIsThatOfTheWindows(t *testing.T) {
	const s = trace.Time(1e9)
	var many [][2]trace.Time
	for i := range trace.Time(20) {
		many = append(many, [2]trace.Time{100 * i * s, 100*i*s + s})
	}
	for _, c := range []struct {
		intervals  [][2]trace.Time
		begin, end trace.Time
		want       float64 // seconds
	}{
		{[][2]trace.Time{{0, s}, {470 * s, 471 * s}}, 0, 471 * s, 2},
		{[][2]trace.Time{{0, s}, {470 * s, 471 * s}}, s / 2, 471 * s, 1.5},
		{[][2]trace.Time{{0, s}, {470 * s, 471 * s}}, 100 * s, 200 * s, 100}, // nothing of it: the time that was asked for
		{[][2]trace.Time{{0, 3 * s}, {4 * s, 5 * s}}, 0, 5 * s, 5},           // a pause
		{many, 0, 1901 * s, 20},
	} {
		got, err := runfacts.RecordedTime(context.Background(), runOf(t, c.intervals...), c.begin, c.end)
		if err != nil || float64(got)/1e9 < c.want*0.999 || float64(got)/1e9 > c.want*1.02 {
			t.Errorf("%v from %v to %v: %v recorded, want %v s; %v", c.intervals, c.begin, c.end, got, c.want, err)
		}
	}
}

func TestFirstAndLastAreThoseOfTheLocations(t *testing.T) {
	r := runOf(t, [2]trace.Time{17, 40}, [2]trace.Time{1000, 1003}, [2]trace.Time{5000, 9000})
	first, last, err := runfacts.FirstAndLast(context.Background(), r, []trace.LocationID{1}, 100, 4000) // the origin is the first record
	if err != nil || first != 1000-17 || last != 1003-17 {
		t.Errorf("%v to %v, %v; want 983 to 986", first, last, err)
	}
}
