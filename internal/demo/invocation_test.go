package demo

import (
	"context"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store/storetest"
)

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
