package local

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Each rank calls a function under a name that holds an address, by each of the ways to give a record.
func TestAFunctionIsOneRegionOnAllRanks(t *testing.T) {
	for _, folds := range []bool{true, false} {
		o := Options{}
		if folds {
			o.RegionName = trace.FoldName
		}
		path := filepath.Join(t.TempDir(), "run.plx")
		w, err := Create(path, o)
		if err != nil {
			t.Fatal(err)
		}
		const ranks = 16
		for rank := range trace.Time(ranks) {
			at := w.Location(trace.Location{Name: fmt.Sprint("rank ", rank), Rank: int(rank), Parent: trace.NoLocation})
			raw := fmt.Sprintf("size of Tensor object at 0x7f%06x", rank)
			g, plain := w.Region(trace.Region{Name: raw}), w.Region(trace.Region{Name: "solve"})
			if w.Region(trace.Region{Name: raw}) != g {
				t.Fatal("a name has two numbers")
			}
			s := w.Stream(at, trace.StreamOptions{})
			s.Enter(10*rank, plain)
			s.Enter(10*rank+1, g)
			s.Leave(10*rank+2, g)
			trace.AddCalls(s, []trace.StackRecord{{Time: 10*rank + 3, Region: g}, {Time: 10*rank + 4, Region: g, Leave: true}})
			s.Interval(10*rank+5, 10*rank+6, g)
			s.Instant(10*rank+7, g)
			s.Leave(10*rank+8, plain)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if rank > 0 {
				end := func(r trace.Time) trace.End {
					return trace.End{Location: trace.LocationID(r), Time: 10*r + 1, Region: g}
				}
				w.Link(trace.Link{Kind: trace.LinkMessage, From: end(rank), To: end(rank)})
			}
			w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: g})
		}
		if err := w.Finish(context.Background()); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		rowAt := func(rank trace.LocationID, after trace.Time) store.Row {
			row, ok, _ := r.At(rank, 0, 10*trace.Time(rank)+after)
			if !ok {
				t.Fatalf("rank %d is in nothing", rank)
			}
			return row
		}
		regions, names := len(r.Regions()), 0
		for at := range trace.LocationID(ranks) {
			begin, _ := r.Interval(rowAt(at, 1))
			if got := r.Regions()[begin.Region[0]].Name; folds && got != "size of Tensor object at …" {
				t.Errorf("rank %d is in %q", at, got)
			}
			for _, d := range []trace.Time{1, 3, 5} {
				facts, _ := r.IntervalAttributes(rowAt(at, d))
				for _, a := range facts {
					if want := fmt.Sprintf("size of Tensor object at 0x7f%06x", at); a.Key == trace.RawName && a.Value.String() == want {
						names++
					}
				}
			}
		}
		switch {
		case folds && (regions != 2 || names != 3*ranks || len(r.CallPaths()) != 1):
			t.Errorf("%d regions, %d raw names, %d call paths", regions, names, len(r.CallPaths()))
		case !folds && (regions != ranks+1 || names != 0 || len(r.CallPaths()) != ranks):
			t.Errorf("raw: %d regions, %d raw names, %d call paths", regions, names, len(r.CallPaths()))
		}
	}
}
