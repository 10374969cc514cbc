package finish

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Ranges of links, one after the other, are the links in the order of a whole import: also where many start at one time,
// in several lists, and a range ends among them.
func TestRangesOfLinksAreAllOfThem(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, times := range []int{1, 7, 300, 1 << 40} {
		const locations = 5
		f := &finisher{Writer: &write.Writer{}, numbered: slices.Repeat([]uint32{1 << 20}, locations)}
		for i := range trace.LocationID(locations) { // the store's order is not that of their definition
			f.order.number = append(f.order.number, (i*2+1)%locations)
		}
		lists, all := make(linkHeap, 4), []write.LinkRecord(nil)
		n := 0
		for i := range lists {
			lists[i].part = i
			for range random.IntN(400) + 1 {
				n++
				lists[i].rows = append(lists[i].rows, write.LinkRecord{FromTime: trace.Time(random.IntN(times)), ToTime: trace.Time(random.IntN(9)),
					FromLocation: trace.LocationID(random.IntN(locations)), ToLocation: trace.LocationID(random.IntN(locations)), FromNumber: uint32(n), ToNumber: 1, Tag: int64(n)})
			}
			slices.SortStableFunc(lists[i].rows, func(a, b write.LinkRecord) int { return write.ByStart.Compare(&a, &b) })
		}
		take := func(first, end int) (out []write.LinkRecord) {
			copied := slices.Clone(lists)
			for i := range copied {
				copied[i].rows = slices.Clone(copied[i].rows)
			}
			err := f.linksBetween(context.Background(), copied, first, end, false, func(batch []write.LinkRecord, places [][2]linkPlace) error {
				for i := range batch {
					if places[i][0] != (linkPlace{0, int32(batch[i].FromNumber) - 1}) {
						t.Fatalf("link %d is at %v", batch[i].FromNumber, places[i])
					}
				}
				out = append(out, batch...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		for _, l := range lists {
			for _, r := range l.rows {
				r.FromLocation, r.ToLocation = f.order.numberOf(r.FromLocation), f.order.numberOf(r.ToLocation)
				all = append(all, r)
			}
		}
		slices.SortStableFunc(all, func(a, b write.LinkRecord) int { return write.ByStart.Compare(&a, &b) })
		for _, parts := range []int{1, 2, 3, 16} {
			var got []write.LinkRecord
			for k := range parts {
				got = append(got, take(n*k/parts, n*(k+1)/parts)...)
			}
			if !slices.Equal(got, all) {
				t.Fatalf("%d links at %d times in %d parts: %d, or in another order", n, times, parts, len(got))
			}
		}
		f.numbered[2] = 0
		if err := f.linksBetween(context.Background(), lists, 0, n, false, func([]write.LinkRecord, [][2]linkPlace) error { return nil }); err == nil {
			t.Error("an end that is not named is no error")
		}
	}
}
