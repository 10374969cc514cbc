package local

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Records take two, one or half a word, as their numbers ask for.
func TestRecordsOfEverySizeComeBack(t *testing.T) {
	gaps := []trace.Time{0, 1, 1<<write.HalfTime - 1, 1 << write.HalfTime, 1 << 30, 1<<(write.TimeBits-1) - 1, 1 << (write.TimeBits - 1), 1 << 45}
	type call struct {
		begin, end trace.Time
		region     trace.RegionID
	}
	for _, known := range []int{1<<write.HalfID - 1, 1<<write.HalfID + 1} {
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
		v := r.Lane(0)
		if v.Len() != len(want) {
			t.Fatalf("%d rows, want %d", v.Len(), len(want))
		}
		for i, c := range want {
			if got := (call{v.Begin[i], v.End(i), v.Region[i]}); got != c {
				t.Errorf("row %d of %d regions is %v, want %v", i, known, got, c)
			}
		}
	}
}

// A stream that takes calls in batches keeps what one that takes them one by one does,
// whatever is wrong with them.
func TestCallsInBatchesAreCallsOneByOne(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 15))
	for round := range 12 {
		var list []trace.StackRecord
		now := trace.Time(1000)
		for range random.IntN(3000) {
			switch random.IntN(40) {
			case 0:
				now -= trace.Time(random.IntN(900)) // falls back
			case 1:
				now += 1 << 41
			case 2, 3:
				now += trace.Time(random.IntN(1 << 24))
			default:
				now += trace.Time(random.IntN(2000))
			}
			region := trace.RegionID(random.IntN(4))
			switch random.IntN(60) {
			case 0:
				region = 1<<write.HalfID + 1
			case 1:
				region = trace.RegionID(1<<write.HalfID + 2 + random.IntN(2)) // the last is not defined
			case 2:
				region = trace.NoRegion
			}
			leave := random.IntN(2) == 0 || region == trace.NoRegion
			list = append(list, trace.StackRecord{Time: now, Region: region, Leave: leave})
		}
		fill := func(give func(trace.Stream)) string {
			return build(t, Options{Memory: int64(random.IntN(2)) << 20}, func(w trace.Writer) {
				place := w.Location(trace.Location{Name: "thread", Parent: trace.NoLocation})
				for i := range 1<<write.HalfID + 3 {
					w.Region(trace.Region{Name: fmt.Sprint("f", i)})
				}
				s := w.Stream(place, trace.StreamOptions{Unordered: round%2 == 0})
				give(s)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		want := reopen(t, fill(func(s trace.Stream) {
			for _, r := range list {
				if r.Leave {
					s.Leave(r.Time, r.Region)
				} else {
					s.Enter(r.Time, r.Region)
				}
			}
		}))
		got := reopen(t, fill(func(s trace.Stream) {
			for rest := list; len(rest) > 0; {
				n := min(random.IntN(300), len(rest))
				trace.AddCalls(s, rest[:n])
				rest = rest[n:]
			}
		}))
		if a, b := tracetest.Dump(want), tracetest.Dump(got); a != b {
			t.Fatalf("round %d: one by one\n%s\nin batches\n%s", round, a, b)
		}
	}
}
