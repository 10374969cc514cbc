package local

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// shortLanes writes locations with some calls each: some have none, some another region, and some have two lanes.
func shortLanes(t *testing.T, locations int) string {
	return build(t, Options{}, func(w trace.Writer) {
		work := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
		inner := w.Region(trace.Region{Name: "inner", Role: trace.RoleCommunication})
		rare := w.Region(trace.Region{Name: "rare", Role: trace.RoleIO})
		rng := rand.New(rand.NewPCG(7, 9))
		for i := range locations {
			id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: strconv.Itoa(i), Rank: i})
			s := w.Stream(id, trace.StreamOptions{})
			if i%10 != 9 {
				s.Interval(0, trace.Time(1000+rng.IntN(1000)), work)
				for k := range rng.IntN(30) {
					s.Interval(trace.Time(30*k), trace.Time(30*k+10+rng.IntN(15)), inner)
				}
			}
			if i%100 == 3 {
				s.Interval(500, 2500, rare) // overlaps work: a lane of its own
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// The time of each location by region is stored with a run of many short lanes, and is what the rows say: when it is made,
// from the file, and where that is damaged or of another run.
func TestTimesOfShortLanesAreStoredWithTheRun(t *testing.T) {
	ctx := context.Background()
	path := shortLanes(t, 9500)
	kept := filepath.Join(path, "kept.times")
	ask := func(path string, w func(end trace.Time) store.Window) *store.TimeTable {
		t.Helper()
		r, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		x, err := r.Time(ctx, w(r.Info().End))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	whole := func(end trace.Time) store.Window { return store.Window{End: end} }
	// Another route to the same numbers: the locations by name, which no file answers.
	byRows := ask(path, func(end trace.Time) store.Window {
		w := store.Window{End: end}
		for id := range 9500 {
			w.Locations = append(w.Locations, trace.LocationID(id))
		}
		return w
	})
	if _, err := os.Stat(kept); err == nil {
		t.Fatal("a question about listed locations stores the table")
	}
	if len(byRows.Locations) < 8192 || len(byRows.Region) < 2*8192 {
		t.Fatalf("%d locations, %d cells", len(byRows.Locations), len(byRows.Region))
	}
	check := func(when string, x *store.TimeTable) {
		t.Helper()
		if !reflect.DeepEqual(x, byRows) {
			t.Errorf("%s: the times are not those of the rows", when)
		}
	}
	check("computed", ask(path, whole))
	good, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	check("from the file", ask(path, whole))
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 60 {
		bad, at := bytes.Clone(good), k
		if k >= 40 {
			at = rng.IntN(len(bad))
		}
		bad[at] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(kept, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		check("byte "+strconv.Itoa(at)+" is damaged", ask(path, whole))
	}
	for _, n := range []int{0, 10, 24, 40, len(good) - 3} {
		if err := os.WriteFile(kept, good[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		check("the file is cut", ask(path, whole))
	}
	if again, err := os.ReadFile(kept); err != nil || !bytes.Equal(again, good) {
		t.Error("a damaged file was not replaced", err)
	}
	other := shortLanes(t, 9300)
	want := ask(other, whole)
	if err := os.WriteFile(filepath.Join(other, "kept.times"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(other, whole); !reflect.DeepEqual(got, want) {
		t.Error("the times of another run were taken")
	}
	part := ask(path, func(end trace.Time) store.Window { return store.Window{Begin: 100, End: end} })
	if reflect.DeepEqual(part, byRows) {
		t.Error("a window has the times of all")
	}
}

// Rows of short lanes that are passed through memory of each core are those that are unpacked in place.
func TestPassedRowsAreThoseUnpackedInPlace(t *testing.T) {
	defer func(n int64) { rows.MostHeld = n }(rows.MostHeld)
	ctx := context.Background()
	path := shortLanes(t, 3000)
	type lane struct {
		id   trace.LocationID
		lane int
	}
	all := func(held int64) (calls map[lane][]trace.Time, times *store.TimeTable, total *store.TotalTable) {
		rows.MostHeld = held
		r := reopen(t, path)
		calls = map[lane][]trace.Time{}
		found := make(chan map[lane][]trace.Time, 1)
		found <- calls
		err := r.Intervals(ctx, store.Window{End: r.Info().End}, func(c *trace.Columns) error {
			m := <-found
			for i := range c.Begin {
				key := lane{c.Location, c.Lane}
				m[key] = append(m[key], c.Begin[i], c.Duration[i], c.Exclusive[i], trace.Time(c.Region[i]),
					trace.Time(c.Parent[i]), trace.Time(c.Depth[i]))
			}
			found <- m
			return nil
		})
		if err == nil {
			times, err = r.Time(ctx, store.Window{End: r.Info().End})
		}
		if err == nil {
			total, err = r.TotalTime(ctx, store.Window{End: r.Info().End})
		}
		if err != nil {
			t.Fatal(err)
		}
		return calls, times, total
	}
	calls, times, total := all(0) // no row stays
	wantCalls, wantTimes, wantTotal := all(1 << 40)
	if len(calls) < 2700 || !reflect.DeepEqual(calls, wantCalls) {
		t.Errorf("rows of %d lanes differ from those of %d", len(calls), len(wantCalls))
	}
	if !reflect.DeepEqual(times, wantTimes) || !reflect.DeepEqual(total, wantTotal) {
		t.Error("times differ")
	}
}
