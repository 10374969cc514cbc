package local

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Records take two, one or half a word, as their numbers ask for.
func TestRecordsOfEverySizeComeBack(t *testing.T) {
	gaps := []trace.Time{0, 1, 1<<halfTime - 1, 1 << halfTime, 1 << 30, 1<<(timeBits-1) - 1, 1 << (timeBits - 1), 1 << 45}
	type call struct {
		begin, end trace.Time
		region     trace.RegionID
	}
	for _, known := range []int{1<<halfID - 1, 1<<halfID + 1} {
		var want []call
		path := build(t, Options{}, func(w trace.Writer) {
			place := w.Location(trace.Location{Name: "thread", Parent: trace.NoLocation})
			var last trace.RegionID
			for i := range known {
				last = w.Region(trace.Region{Name: fmt.Sprint("f", i)})
			}
			s := w.Stream(place, trace.StreamOptions{})
			now := trace.Time(0)
			for _, before := range gaps {
				for _, within := range gaps {
					now += before
					begin := now
					now += within
					s.Enter(begin, last)
					s.Leave(now, last)
					want = append(want, call{begin, now, last})
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		r := reopen(t, path)
		v := r.lane(0)
		if v.len() != len(want) {
			t.Fatalf("%d rows, want %d", v.len(), len(want))
		}
		for i, c := range want {
			if got := (call{v.begin[i], v.end(i), v.region[i]}); got != c {
				t.Errorf("row %d of %d regions is %v, want %v", i, known, got, c)
			}
		}
	}
}
