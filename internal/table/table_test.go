package table

import (
	"context"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/storetest"
)

func TestConditionsLeaveARange(t *testing.T) {
	const lowest, highest = math.MinInt64, math.MaxInt64
	for _, c := range []struct {
		op     Op
		value  any
		lo, hi int64
	}{
		{Equal, int64(5), 5, 5}, {Equal, 5.0, 5, 5}, {Equal, 5.5, 1, 0},
		{Less, int64(5), lowest, 4}, {Less, 5.5, lowest, 5}, {AtMost, int64(5), lowest, 5}, {AtMost, -5.5, lowest, -6},
		{More, int64(5), 6, highest}, {More, 5.5, 6, highest}, {AtLeast, int64(5), 5, highest}, {AtLeast, -5.5, -5, highest},
		{More, int64(highest), 1, 0}, {Less, int64(lowest), 1, 0},
		{Equal, "five", lowest, highest}, {Less, nil, lowest, highest}, {Less, math.NaN(), lowest, highest}, {More, 1e300, lowest, highest}, {Like, int64(5), lowest, highest},
	} {
		f := Filter{Conditions: []Condition{{"begin", c.op, c.value}}}
		if lo, hi := f.Between("begin"); lo != c.lo || hi != c.hi {
			t.Errorf("%s %v: %d to %d, want %d to %d", c.op, c.value, lo, hi, c.lo, c.hi)
		}
	}
	f := Filter{Conditions: []Condition{{"begin", AtLeast, int64(3)}, {"begin", Less, int64(9)}, {"end", Less, int64(5)}}}
	if lo, hi := f.Between("begin"); lo != 3 || hi != 8 {
		t.Errorf("together: %d to %d", lo, hi)
	}
}

func TestLikeIsThatOfSQLite(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"MPI_%", "MPI_Send", true}, {"mpi%", "MPI_Send", true}, {"%send", "MPI_Send", true}, {"%e%d", "MPI_Send", true}, {"MPI_Sen", "MPI_Send", false},
		{"", "", true}, {"%", "", true}, {"_", "", false}, {"_", "é", true}, {"É", "é", false}, {"a%b%c", "a-b-b-c", true}, {"a%b%c", "a-b-b-", false},
	} {
		if got := like(c.pattern, c.text); got != c.want {
			t.Errorf("%q like %q: %v", c.text, c.pattern, got)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range append(append([]*Table{}, Tables...), Functions...) {
		if seen[x.Name] || x.Help == "" || len(x.Columns) == 0 || x.Size == nil || x.List == nil && x.Scan == nil {
			t.Errorf("table %q is declared twice, or not whole", x.Name)
		}
		seen[x.Name] = true
		columns := map[string]bool{}
		for _, c := range append(append([]Column{}, x.Columns...), x.Arguments...) {
			if columns[c.Name] || c.Kind == 0 {
				t.Errorf("%s.%s is declared twice, or has no type", x.Name, c.Name)
			}
			columns[c.Name] = true
		}
	}
}

// Every table of an empty run is empty but for the run, and none fails.
func TestAnEmptyRunHasEmptyTables(t *testing.T) {
	r := &Run{Name: "empty", Store: storetest.Text(t, "")}
	for _, x := range append(append([]*Table{}, Tables...), Functions...) {
		rows := 0
		err := x.Each(context.Background(), r, &Filter{}, &Output{Emit: func(b *Batch) error { rows += b.Rows; return nil }})
		if want := map[bool]int{true: 1}[x.Name == "runs"]; err != nil || rows != want {
			t.Errorf("%s: %d rows, %v", x.Name, rows, err)
		}
	}
}
