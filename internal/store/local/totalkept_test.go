package local

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Of a run of many lanes the sums of all are stored with it. They are those of the lanes, whoever reads them: when they are
// made, from the file, and where that is damaged or of another run.
func TestSumsOfAllLanesAreStoredWithTheRun(t *testing.T) {
	make := func(lanes int) string {
		return build(t, Options{}, func(w trace.Writer) {
			work := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
			inner := w.Region(trace.Region{Name: "inner", Role: trace.RoleCompute})
			last := w.Region(trace.Region{Name: "last", Role: trace.RoleSynchronization})
			for i := range lanes {
				id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: strconv.Itoa(i), Rank: i})
				s := w.Stream(id, trace.StreamOptions{})
				s.Interval(0, trace.Time(1000+i%7), work)
				s.Interval(trace.Time(10+i%5), trace.Time(50+i%11), inner)
				if i%3 == 0 {
					s.Interval(2000, trace.Time(2000), last) // without length, at the end of the run
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	ctx := context.Background()
	total := func(path string, w store.Window) *store.TotalTable {
		r, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var last *store.TotalTable
		for range 2 { // computed or from the file, then from memory
			x, err := store.TotalTime(ctx, r, w)
			if err != nil {
				t.Fatal(err)
			}
			if last != nil && !reflect.DeepEqual(x, last) {
				t.Error("asked twice, the sums differ")
			}
			last = x
		}
		return last
	}
	path := make(9000)
	kept := filepath.Join(path, "kept.totals")
	r := reopen(t, path)
	end := r.Info().End
	table, err := r.Time(ctx, store.Window{End: end + 1})
	if err != nil {
		t.Fatal(err)
	}
	exclusive, calls := map[trace.RegionID]trace.Time{}, map[trace.RegionID]int64{}
	for i, id := range table.Region {
		exclusive[id] += table.Exclusive[i]
		calls[id] += table.Calls[i]
	}
	check := func(when string, x *store.TotalTable) {
		t.Helper()
		if len(x.Region) != 3 {
			t.Errorf("%s: %d regions, want 3", when, len(x.Region))
		}
		for i, id := range x.Region {
			if x.Exclusive[i] != trace.SumOf(exclusive[id]) || x.Calls[i] != calls[id] {
				t.Errorf("%s, region %d: %v in %d calls, want %v in %d", when, id, x.Exclusive[i], x.Calls[i], exclusive[id], calls[id])
			}
		}
	}
	check("computed", total(path, store.Window{End: end}))
	good, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	check("from the file", total(path, store.Window{End: end + 1}))
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if err := os.WriteFile(kept, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		check("byte "+strconv.Itoa(i)+" is damaged", total(path, store.Window{End: end}))
	}
	if err := os.WriteFile(kept, good[:len(good)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	check("the file is cut", total(path, store.Window{End: end}))
	if again, err := os.ReadFile(kept); err != nil || !bytes.Equal(again, good) {
		t.Error("a damaged file was not replaced", err)
	}

	other := make(8500)
	if err := os.WriteFile(filepath.Join(other, "kept.totals"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if x := total(other, store.Window{End: end}); x.Calls[0] != 8500 {
		t.Errorf("the sums of another run were taken: %d calls, want 8500", x.Calls[0])
	}
	if x := total(path, store.Window{Begin: 500, End: end}); reflect.DeepEqual(x, total(path, store.Window{End: end})) {
		t.Error("a window has the sums of all")
	}
	few := make(100)
	total(few, store.Window{End: end})
	if _, err := os.Stat(filepath.Join(few, "kept.totals")); err == nil {
		t.Error("a run of 100 lanes stores its sums")
	}
}
