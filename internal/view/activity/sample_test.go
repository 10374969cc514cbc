package activity_test

import (
	"os"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// A ping-pong of two ranks, in 62 equal bins: the shares that the tests of the
// repository it comes from demand (hpcgroup/pipit; taken there from Vampir).
func TestPingPongHasTheSharesThatVampirGives(t *testing.T) {
	text, err := os.ReadFile("testdata/ping-pong.trace")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("its enters and leaves", func(t *testing.T) { pingPong(t, storetest.Text(t, string(text), all.Summaries...)) })
	t.Run("its archive", func(t *testing.T) { pingPong(t, viewtest.Import(t, "data", "public", "otf2", "ping-pong-2ranks")) })
}

func pingPong(t *testing.T, r store.Reader) {
	t.Helper()
	got := bins(t, r, viewtest.Case{Options: map[string][]string{"by": {"regions"}, "bins": {"62"}, "top": {"0"}}})
	if len(got) != 62 {
		t.Fatalf("%d bins", len(got))
	}
	const main = "int main(int, char**)"
	check := func(i int, want map[string]float64) {
		t.Helper()
		for name, x := range want {
			if y := got[i].Shares[name]; y < x-1e-6 || y > x+1e-6 {
				t.Errorf("bin %d: %s is %.8f, want %.8f", i, name, y, x)
			}
		}
	}
	check(0, map[string]float64{"MPI_Init": 0.93999815, main: 0.00299437})
	for i := 1; i < 60; i++ {
		check(i, map[string]float64{"MPI_Init": 1})
	}
	check(60, map[string]float64{main: 0.39464799, "MPI_Init": 0.14843661, "MPI_Send": 0.24594134, "MPI_Recv": 0.21017099, "MPI_Comm_size": 0.00046047, "MPI_Comm_rank": 0.00034261})
	check(61, map[string]float64{main: 0.43560727, "MPI_Send": 0.29640222, "MPI_Recv": 0.24300865, "MPI_Finalize": 0.01614835})
}
