package demo

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/storetest"
)

// explained is the share of the variance of values that the means of groups explain.
func explained(group []int, value []float64) float64 {
	sum, count, mean := map[int]float64{}, map[int]float64{}, 0.0
	for i, g := range group {
		sum[g] += value[i]
		count[g]++
		mean += value[i] / float64(len(value))
	}
	var between, total float64
	for i, g := range group {
		between += (sum[g]/count[g] - mean) * (sum[g]/count[g] - mean)
		total += (value[i] - mean) * (value[i] - mean)
	}
	return between / total
}

// TestTimeLiesInRingsOnFivePEsAndInArmsOnOne holds the demo's truth against its own
// records: before calls waited for their arguments the row explained 97 % on five.
func TestTimeLiesInRingsOnFivePEsAndInArmsOnOne(t *testing.T) {
	p := pascal(35)
	level, arm := make([]int, len(p.clause)), make([]int, len(p.clause))
	for i := range p.calls { // callers come before what they call
		for _, c := range p.calls[i] {
			level[c] = level[i] + 1
			if arm[c] = arm[i]; p.clause[c] == pascalRow || i == 0 {
				arm[c] = int(c)
			}
		}
	}
	read := func(workers int) (rings, arms float64, calls []int64) {
		s := newSchedule(p, workers)
		begin := make([]float64, len(p.clause))
		for time := 0; s.left > 0; time++ {
			var now [][2]int32
			for pe := range s.ready {
				if call, ok := s.take(pe); ok {
					s.begin(pe, call, int64(time))
					begin[call] = float64(time)
					now = append(now, [2]int32{int32(pe), call})
				}
			}
			for _, n := range now {
				s.end(int(n[0]), n[1])
			}
		}
		return explained(level, begin), explained(arm, begin), s.count
	}
	rings, arms, calls := read(5)
	if fmt.Sprintf("%.0f %.0f", 100*rings, 100*arms) != "88 75" {
		t.Errorf("on five PEs the level explains %.3f and the row %.3f", rings, arms)
	}
	for pe, n := range calls {
		if n < 425 || n > 470 {
			t.Errorf("PE %d ran %d of 2,235 calls", pe, n)
		}
	}
	if rings, arms, _ := read(1); arms < 0.99 || rings > 0.8 {
		t.Errorf("on one PE the level explains %.3f and the row %.3f", rings, arms)
	}
}

// TestTheHalfRowIsExpandedByTwoLines at the end of the circle, the east.
func TestTheHalfRowIsExpandedByTwoLines(t *testing.T) {
	p := pascal(35)
	var lines []int64
	for _, c := range p.calls[0][1:] {
		length := 1
		for at := c; len(p.calls[at]) == 1; at = p.calls[at][0] {
			length++
		}
		if length != 18 {
			t.Errorf("a line of %d calls, want 18, half of row 35", length)
		}
		lines = append(lines, p.clause[c])
	}
	if !slices.Equal(lines, []int64{pascalReverse, pascalAppend}) {
		t.Errorf("the query calls %v after the first row", lines)
	}
}

func TestReconstructionsHaveThePrintedNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		program       *program
		calls, levels int
	}{
		"pascal":    {pascal(35), 2235, 56},
		"semigroup": {semigroup(), 15419, 174},
	} {
		if n, h := len(c.program.clause), c.program.height(); n != c.calls || h != c.levels {
			t.Errorf("%s has %d calls on %d levels, want %d on %d", name, n, h, c.calls, c.levels)
		}
	}
}

func TestProgramsRunEveryCallOnceOnAnyNumberOfWorkers(t *testing.T) {
	for _, workers := range []int{1, 5, 16} {
		m := storetest.NewMemory()
		if err := pascal(12).run(context.Background(), workers, m); err != nil {
			t.Fatal(err)
		}
		info := m.Reader().Info()
		if n := int64(len(pascal(12).clause)); info.Intervals != n || info.Links != n-1 || info.Rows > workers {
			t.Errorf("%d workers: %d intervals, %d links, %d rows for %d calls", workers, info.Intervals, info.Links, info.Rows, n)
		}
		if info.Rows < min(workers, 8) {
			t.Errorf("only %d of %d workers had work", info.Rows, workers)
		}
	}
}

// height is the number of levels.
func (p *program) height() int {
	level := make([]int, len(p.clause))
	most := 0
	for i := range p.calls { // callers come before what they call
		for _, c := range p.calls[i] {
			level[c] = level[i] + 1
			most = max(most, level[c])
		}
	}
	return most + 1
}
