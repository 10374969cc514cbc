package rows

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestNearFindsWhatABinarySearchFinds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		rows := make([]uint64, rnd.IntN(50))
		at := rnd.Uint64N(100)
		for i := range rows {
			rows[i] = at
			at += 1 + rnd.Uint64N(4)
			if rnd.IntN(10) == 0 {
				at += rnd.Uint64N(1000) // far from even
			}
		}
		for row := range at + 5 {
			want, wanted := slices.BinarySearch(rows, row)
			if got, found := near(rows, row); found != wanted || found && got != want {
				t.Fatalf("row %d of %v: %d, %v; want %d, %v", row, rows, got, found, want, wanted)
			}
		}
	}
}

// Wherever one begins to look, a row is found where it is, and none where it is not.
func TestARowIsFoundFromAnyPlace(t *testing.T) {
	rows := []uint64{2, 3, 4, 9, 10, 11, 12, 40, 41, 90}
	for row := range uint64(100) {
		want, is := slices.BinarySearch(rows, row)
		for at := range rows {
			if got, found := gallop(rows, row, at); found != is || found && got != want {
				t.Errorf("row %d from place %d: %d, %v; want %d, %v", row, at, got, found, want, is)
			}
		}
	}
}
