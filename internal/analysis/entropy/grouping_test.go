package entropy

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// TestScoresOfGroupings: groups by levels of hosts and by lines of the rank
// grid, of runs whose scores were computed in 40 digits.
func TestScoresOfGroupings(t *testing.T) {
	b, err := os.ReadFile("testdata/groupings.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name   string
		Values []float64
		Group  []int32
		Score  float64
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if got, ok := GroupScore([][]float64{c.Values}, c.Group); !ok || math.Abs(got-c.Score) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.Name, got, c.Score)
		}
	}
	for name, group := range map[string][]int32{"one group": {0, 0, 0}, "one a leaf": {0, 1, 2}} {
		if _, ok := GroupScore([][]float64{{1, 2, 3}}, group); ok {
			t.Errorf("%s has a score", name)
		}
	}
	if _, ok := GroupScore([][]float64{{2, 2, 2}}, []int32{0, 0, 1}); ok {
		t.Error("a score where nothing differs")
	}
}
