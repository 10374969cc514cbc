package callgraph

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// TestValuesOfSeveralPathsJoinAsTheirMetricAsks: a minimum of minima is no sum.
func TestValuesOfSeveralPathsJoinAsTheirMetricAsks(t *testing.T) {
	for join, want := range map[trace.Join]float64{trace.JoinSum: 12, trace.JoinMin: 1, trace.JoinMax: 8, trace.JoinMean: 4} {
		p := &ProfileReader{
			Options: Options{Node: []int32{0, 1}, Nodes: 2, Profile: true}, Join: join, Index: []int32{0},
			Paths: []trace.CallPath{{Parent: trace.NoCallPath, Region: 0}, {Parent: 0, Region: 1}, {Parent: trace.NoCallPath, Region: 1}, {Parent: 2, Region: 1}},
		}
		p.Add([]trace.ProfileRow{{Path: 1, Calls: 1, Exclusive: 8, Inclusive: 8}, {Path: 2, Calls: 1, Exclusive: 3, Inclusive: 3}, {Path: 3, Calls: 1, Exclusive: 1, Inclusive: 1}})
		rows := p.Rows()
		if len(rows) != 1 || rows[0].Exclusive != want || rows[0].Count != 3 {
			t.Errorf("%q: %+v, want %v", join, rows, want)
		}
	}
}
