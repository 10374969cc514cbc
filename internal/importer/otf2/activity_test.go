package otf2

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/activity"
)

// What Vampir's function summary shows of the ping-pong, in 62 equal bins over
// both ranks; the tests of pipit demand the same.
var vampirBins = map[int]map[string]float64{
	0: {"MPI_Init": 0.93999815, "int main(int, char**)": 0.00299437},
	60: {
		"int main(int, char**)": 0.39464799, "MPI_Init": 0.14843661, "MPI_Send": 0.24594134, "MPI_Recv": 0.21017099,
		"MPI_Comm_size": 0.00046047, "MPI_Comm_rank": 0.00034261,
	},
	61: {"int main(int, char**)": 0.43560727, "MPI_Send": 0.29640222, "MPI_Recv": 0.24300865, "MPI_Finalize": 0.01614835},
}

func TestActivityOfThePingPongIsVampirs(t *testing.T) {
	r := importertest.Import(t, Format, "testdata/ping-pong-2ranks")
	values, err := view.NewValues(activity.View, map[string][]string{"by": {"regions"}, "bins": {"62"}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := activity.View.Compute(t.Context(), &view.Request{
		Runs: []view.Run{{Name: "ping-pong", Store: r}}, Values: values, Selection: trace.Selection{Begin: 0, End: r.Info().End},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result.Data())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Bins []struct{ Shares map[string]float64 }
	}
	if err := json.Unmarshal(text, &got); err != nil || len(got.Bins) != 62 {
		t.Fatalf("%d bins: %v", len(got.Bins), err)
	}
	for i, bin := range got.Bins {
		want, said := vampirBins[i]
		if !said { // all others are MPI_Init alone
			want = map[string]float64{"MPI_Init": 1}
		}
		for name, share := range bin.Shares {
			if name != "none" && math.Abs(share-want[name]) > 1e-6 { // a bin ends on a whole nanosecond
				t.Errorf("bin %d: the share of %s is %v, want %v", i, name, share, want[name])
			}
		}
		for name := range want {
			if _, ok := bin.Shares[name]; !ok {
				t.Errorf("bin %d: no share of %s", i, name)
			}
		}
	}
}
