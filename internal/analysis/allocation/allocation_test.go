package allocation

import (
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Blocks that live at the peak are those of a replay by hand, whatever order addresses come back in.
func TestTheBlocksAtThePeakAreThoseOfAReplay(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 5))
	for round := range 200 {
		var list []Event
		live := map[int64]int64{}
		total := int64(rnd.IntN(1000)) // taken before
		before, most, at := total, int64(-1), trace.Time(-1)
		var want map[int64]int64
		for i := range 60 {
			e := Event{At: trace.Time(i * 10), Row: int32(i)}
			if address := int64(rnd.IntN(8)); live[address] > 0 {
				e.Address, e.Bytes = address, -live[address]
				delete(live, address)
			} else {
				e.Address, e.Bytes = address, 1+int64(rnd.IntN(100))
				live[address] = e.Bytes
			}
			total += e.Bytes
			if e.Total = total; total > most {
				most, at, want = total, e.At, map[int64]int64{}
				for k, v := range live {
					want[k] = v
				}
			}
			list = append(list, e)
		}
		rnd.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		p := Find(list)
		sum := int64(0)
		for _, b := range p.Blocks {
			if want[b.Address] != b.Bytes {
				t.Fatalf("round %d: %d bytes at %d, want %d", round, b.Bytes, b.Address, want[b.Address])
			}
			sum += b.Bytes
		}
		if p.At != at || p.Total != most || len(p.Blocks) != len(want) || p.Held != sum || p.Before() != before || p.Unseen != 0 {
			t.Fatalf("round %d: %+v, want %d at %d", round, p, most, at)
		}
	}
}

func TestFreesWithoutAnAllocationAreCounted(t *testing.T) {
	p := Find([]Event{{At: 1, Address: 7, Bytes: -5, Total: -1}, {At: 2, Address: 8, Bytes: 3, Total: -1, Row: 1}, {At: 3, Address: 8, Bytes: 4, Total: -1, Row: 2}})
	if p.Unseen != 1 || p.Twice != 1 || p.Held != 4 || p.Total != 4 || p.Told || p.Before() != 0 {
		t.Errorf("%+v", p)
	}
	if Find(nil) != nil {
		t.Error("nothing has a peak")
	}
}
