package spool

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// However records come, and whether they fit in memory or not, they are handed out by
// key, by ties, and then as they came.
func TestSpoolsHandOutInOrder(t *testing.T) {
	type record struct {
		key, tie int64
		came     int
	}
	byKey := func(r *record) int64 { return r.key }
	orders := []Order[record]{{Key: byKey}, {Key: byKey, Ties: func(a, b *record) int { return cmp.Compare(a.tie, b.tie) }}}
	const count = 8_000
	random := rand.New(rand.NewPCG(1, 2))
	for name, key := range map[string]func(i int) int64{
		"in order":           func(i int) int64 { return int64(i) },
		"in order, many tie": func(i int) int64 { return int64(i / 7) },
		"nearly in order":    func(i int) int64 { return int64(i + random.IntN(50)) },
		"ordered by parts":   func(i int) int64 { return int64(i % (count / 3)) },
		"backwards":          func(i int) int64 { return int64(-i) },
		"in no order":        func(int) int64 { return int64(random.IntN(count)) },
		"groups backwards":   func(i int) int64 { return int64(-i / 5) },
		"all the same":       func(int) int64 { return 5 },
	} {
		records := make([]record, count)
		for i := range records {
			records[i] = record{key(i), int64(random.IntN(3)), i}
		}
		for _, way := range []struct {
			by     Order[record]
			memory int64 // runs of 64, a few, one
			ahead  bool
		}{
			{orders[0], 1, false}, {orders[0], 1 << 17, false}, {orders[0], 1 << 22, false},
			{orders[1], 1, false}, {orders[1], 1 << 17, false}, {orders[1], 1 << 22, false},
			{orders[0], 1 << 17, true}, {orders[1], 1, true}, {orders[1], 1 << 17, true}, {orders[1], 1 << 22, true},
		} {
			by, memory, ahead := way.by, way.memory, way.ahead
			if testing.Short() && !ahead {
				continue // no goroutine sorts
			}
			want := slices.Clone(records)
			slices.SortStableFunc(want, func(a, b record) int { return by.Compare(&a, &b) })
			s := NewSpool[record](t.TempDir(), memory)
			if ahead {
				s = NewSortedSpool(t.TempDir(), memory, by)
			}
			for _, r := range records {
				x, err := s.Next()
				if err != nil {
					t.Fatal(err)
				}
				*x = r
			}
			if s.Len() != count {
				t.Errorf("%s: %d records, want %d", name, s.Len(), count)
			}
			var got []record
			const most = 500
			take := func(block []record) error {
				if len(block) == 0 || len(block) > most {
					return fmt.Errorf("a block of %d", len(block))
				}
				got = append(got, block...)
				clear(block) // it is the receiver's
				return nil
			}
			err := s.SortedBlocks(nil, by, most, take)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, memory %d, sorted as they come %v: not in order, %v", name, memory, ahead, err)
			}
			s.Close()
			if !ahead {
				continue
			}
			for _, keeps := range []bool{true, false} { // changed before they are merged, in the same order or in the opposite one
				s, sign := NewSortedSpool(t.TempDir(), memory, by), int64(2)
				if !keeps {
					sign = -2
				}
				want, got = slices.Clone(records), nil
				change := func(r *record) { r.key *= sign }
				for i := range want {
					change(&want[i])
				}
				slices.SortStableFunc(want, func(a, b record) int { return by.Compare(&a, &b) })
				if err := errors.Join(s.AddAll(records), s.SortedAs(change, keeps, most, take)); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, memory %d, changed, in order %v: not in order, %v", name, memory, keeps, err)
				}
				s.Close()
			}
		}
	}
}
