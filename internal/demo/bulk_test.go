package demo

import (
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// timeIn adds up the time of each rank in a region.
func timeIn(t *testing.T, c *collected, region string) []float64 {
	t.Helper()
	out := make([]float64, len(c.locations))
	for at, r := range c.rows {
		for _, i := range r.intervals {
			if c.regions[i.region].Name == region {
				out[c.locations[at].Rank] += float64(i.end - i.begin)
			}
		}
	}
	return out
}

func TestS3DCoresWorkInHighAndLowPairs(t *testing.T) {
	c := collect(t, "s3d?intervals=65536", Options{})
	reduce := timeIn(t, c, "MPI_Allreduce")
	if len(reduce) != 4096 {
		t.Fatalf("%d ranks", len(reduce))
	}
	var mean [4]float64
	mixed := 0
	for rank, v := range reduce {
		mean[rank/1024] += v / 1024
		if node := rank % 1024; rank < 1024 && (reduce[node] <= reduce[node+1024] || reduce[node+2048] <= reduce[node+3072]) {
			mixed++
		}
	}
	if !(mean[0] > 3*mean[1] && mean[2] > 3*mean[3]) || mixed > 0 {
		t.Errorf("cores have %.0f on average, and %d nodes are no pairs", mean, mixed)
	}
	balanced := timeIn(t, collect(t, "s3d?balanced&intervals=65536", Options{}), "MPI_Allreduce")
	mean = [4]float64{}
	for rank, v := range balanced {
		mean[rank/1024] += v / 1024
	}
	if math.Abs(mean[0]/mean[1]-1) > 0.05 {
		t.Errorf("balanced cores have %.0f", mean)
	}
	if at := c.topologies[0].Coordinates[3000].At; len(at) != 4 || at[3] != 2 || at[0] != 3000%8 {
		t.Errorf("rank 3000 lies at %v", at)
	}
}

func TestS3DBurnsInTheMiddle(t *testing.T) {
	work := timeIn(t, collect(t, "s3d?intervals=65536", Options{}), "rhsf")
	plane := make([]float64, 16)
	for rank, v := range work {
		plane[rank%1024/64] += v
	}
	for z, v := range plane {
		if z != 8 && v >= plane[8] {
			t.Errorf("plane %d works %.0f, the middle one %.0f", z, v, plane[8])
		}
	}
}

func TestZGrdWritersStandApart(t *testing.T) {
	c := collect(t, "zgrd?intervals=81920", Options{})
	solve, reduce, file := timeIn(t, c, "solve_vertical"), timeIn(t, c, "MPI_Allreduce"), timeIn(t, c, "MPI_File_write")
	writers := 0
	var x, y []float64
	for rank := range solve {
		if file[rank] > 0 {
			writers++
			continue
		}
		x, y = append(x, solve[rank]), append(y, reduce[rank])
	}
	if writers != 160 || len(solve) != 10240 {
		t.Errorf("%d writers of %d", writers, len(solve))
	}
	if r := pearson(x, y); r > -0.8 {
		t.Errorf("the others have a correlation of %.3f", r)
	}
	// A writer waits less than the rank beside it, whose work is nearly the same.
	for rank := 0; rank < len(reduce); rank += 64 {
		if reduce[rank] >= reduce[rank+1] {
			t.Errorf("writer %d waits %.0f, its neighbour %.0f", rank, reduce[rank], reduce[rank+1])
		}
	}
}

func pearson(x, y []float64) float64 {
	var mx, my, xy, xx, yy float64
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(y))
	}
	for i := range x {
		xy, xx, yy = xy+(x[i]-mx)*(y[i]-my), xx+(x[i]-mx)*(x[i]-mx), yy+(y[i]-my)*(y[i]-my)
	}
	return xy / math.Sqrt(xx*yy)
}

func TestNeighboursWaitForEachOther(t *testing.T) {
	b := newBulk(3)
	for rank, length := range []trace.Time{10, 30, 20} {
		b.work(rank, 0, length)
	}
	b.exchange(1, 1, func(rank int, visit func(int)) { visit((rank + 1) % 3) })
	for rank, want := range []trace.Time{31, 31, 21} {
		if b.now[rank] != want {
			t.Errorf("rank %d has its neighbour's at %d, want %d", rank, b.now[rank], want)
		}
	}
	b.reduce(2, 5)
	if last := b.steps[2][2]; last.begin != 21 || last.end != 36 {
		t.Errorf("rank 2 reduces from %d to %d", last.begin, last.end)
	}
}
