package write

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestLinesComeInOrderOfTime(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines int
		size  int // of a line, at least
	}{
		{"none", 0, 0},
		{"in memory", 1000, 10},
		{"in several runs", 2_000_000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newLineSorter(filepath.Join(t.TempDir(), "sort"))
			defer s.close()
			random := rand.New(rand.NewPCG(1, 2))
			pad := strings.Repeat("x", c.size)
			type line struct{ time, seq int }
			var want, got []line
			for i := range c.lines {
				l := line{random.IntN(c.lines / 4), i}
				want = append(want, l)
				if err := s.add(int64(l.time), fmt.Appendf(nil, "%d %d %s", l.time, l.seq, pad)); err != nil {
					t.Fatal(err)
				}
			}
			slices.SortStableFunc(want, func(a, b line) int { return a.time - b.time })
			if err := s.each(func(text []byte) error {
				var l line
				words := strings.Fields(string(text))
				l.time, _ = strconv.Atoi(words[0])
				l.seq, _ = strconv.Atoi(words[1])
				got = append(got, l)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d lines are not in order of time and arrival", len(got))
			}
		})
	}
}
