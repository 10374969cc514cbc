package match

import (
	"cmp"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestHalvesAreSortedWhateverTheirNumber(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, spool.BlockRecords, 3*spool.BlockRecords + 7, 20 * spool.BlockRecords} {
		s := spool.NewGrouped(1<<18, halfOrder) // some thousand
		b := s.Block()
		for i := range n {
			h := Half{Key: Key{A: uint32(random.IntN(50))}, Order: trace.Time(random.IntN(1000)), At: uint32(random.IntN(3)), Seq: uint32(i)}
			h.SetHash()
			if b = append(b, h); len(b) == spool.BlockRecords {
				b = s.Add(b)
			}
		}
		s.Add(b)
		for range 2 { // it can be gone through again
			it, err := s.Sorted()
			if err != nil {
				t.Fatal(err)
			}
			var last Half
			for i := range n {
				h, err := it.Next()
				if err != nil || h == nil {
					t.Fatalf("%d of %d records: %v", i, n, err)
				}
				if i > 0 && cmp.Or(cmp.Compare(h.Hash, last.Hash), cmp.Compare(h.Order, last.Order), halfOrder.Compare(h, &last)) < 0 {
					t.Fatalf("record %d of %d comes before the one before it", i, n)
				}
				last = *h
			}
			if h, _ := it.Next(); h != nil {
				t.Errorf("more than %d records", n)
			}
		}
		s.Close()
	}
}
