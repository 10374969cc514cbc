package budget

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// waited is a run in steps: one actor comes late to each, another now and then, and all
// of them are in one of many regions before.
func waited(t *testing.T, cores, most int) *Result {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	const actors, regions, steps, length = 48, 20, 200, 1000
	rng := rand.New(rand.NewPCG(7, 11))
	b := New(actors, regions, 0, steps*length)
	b.mostDetail = most
	for s := range trace.Time(steps) {
		begin := s * length
		late := begin + 900
		for a := range int32(actors) {
			ready := begin + 300 + trace.Time(rng.IntN(200))
			if a == 5 {
				ready = late
			}
			if a == int32(rng.IntN(actors)) {
				ready = min(ready+250, late)
			}
			b.Add(a, begin, ready, int32(rng.IntN(regions-1)))
			b.Add(a, ready, begin+length, regions-1)
			if ready < late {
				b.Wait(Wait{Actor: a, Late: 5, Kind: Collective, Region: regions - 1, Begin: ready, End: late}, begin+length)
			}
		}
		if s%20 == 19 {
			b.Settle(begin + length)
		}
	}
	return b.Result()
}

func TestDetailDoesNotDependOnCores(t *testing.T) {
	for _, most := range []int{mostDetail, 6 * (48 + Bins)} { // room for all rows, and for six
		want := waited(t, 1, most)
		for _, cores := range []int{2, 5, 16} {
			for range 3 {
				if got := waited(t, cores, most); !reflect.DeepEqual(got, want) {
					t.Fatalf("room for %d: %d cores give another budget than one", most, cores)
				}
			}
		}
	}
}

func TestRowsThatCostMostKeepTheirDetail(t *testing.T) {
	all, few := waited(t, 4, mostDetail), waited(t, 4, 6*(48+Bins))
	if len(all.Rows) < 12 {
		t.Fatalf("%d rows are too few to choose among", len(all.Rows))
	}
	told := 0
	for i := range few.Rows {
		if few.Rows[i].Waiters.Len() == 0 {
			continue
		}
		told++
		if !reflect.DeepEqual(few.Rows[i], all.Rows[i]) {
			t.Errorf("row %d tells other waiters than with room for all", i)
		}
	}
	if told == 0 || told > 6 {
		t.Errorf("%d rows have detail, and there is room for six", told)
	}
	if few.Rows[0].Waiters.Len() == 0 {
		t.Error("the row that costs most lost its detail")
	}
}
