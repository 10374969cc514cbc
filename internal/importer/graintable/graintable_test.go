package graintable

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "fib-top.csv", Anywhere: true},
		{Path: "odd.csv", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.csv", "testdata/odd.csv", "testdata/fib-top.csv")
}

// 8,192 tasks on 48 cores, a tree of 14 levels with 4,096 leaves.
func TestTheWholeTreeOfFibonacciIsThere(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/task-tree/grain-fib-48cores"))
	type place struct {
		location  trace.LocationID
		lane, row int32
	}
	parent := map[place]place{}
	inner := map[place]bool{}
	err := r.Links(t.Context(), store.Window{End: r.Info().End}, func(l *store.LinkColumns) error {
		for i := range l.Kind {
			from := place{l.FromLocation[i], l.FromLane[i], l.FromRow[i]}
			to := place{l.ToLocation[i], l.ToLane[i], l.ToRow[i]}
			if _, twice := parent[to]; twice || from.row < 0 || to.row < 0 || l.FromTime[i] > l.ToTime[i] {
				t.Fatalf("link %d joins %v and %v", i, from, to)
			}
			parent[to], inner[from] = from, true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	levels := 0
	for at := range parent {
		n := 1
		for p, ok := parent[at]; ok; p, ok = parent[p] {
			n++
		}
		levels = max(levels, n)
	}
	if len(parent) != 8191 || 8192-len(inner) != 4096 || levels != 14 || r.Info().Rows != 48 {
		t.Errorf("%d links, %d leaves, %d levels, %d cores; want 8191, 4096, 14, 48", len(parent), 8192-len(inner), levels, r.Info().Rows)
	}
	tasks, work := int64(0), int64(0)
	table, err := r.Time(t.Context(), store.Window{End: r.Info().End})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range table.Calls {
		if r.Regions()[table.Region[i]].Name != "taskwait" {
			tasks += n
		}
	}
	for id, name := range r.Attributes() {
		if name != "work cycles" {
			continue
		}
		total := make(chan int64, 1<<16)
		err = r.AttributeColumn(t.Context(), store.Window{End: r.Info().End}, trace.AttributeID(id), func(c *store.AttributeColumns) error {
			for _, v := range c.Value {
				n, _ := v.Integer()
				total <- n
			}
			return nil
		})
		close(total)
		for n := range total {
			work += n
		}
	}
	if err != nil || tasks != 8192 || work != 26_368_583_089 {
		t.Errorf("%d tasks of %d cycles, want 8192 of 26368583089: %v", tasks, work, err)
	}
}
