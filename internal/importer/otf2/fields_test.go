package otf2

import (
	"math/rand/v2"
	"testing"
)

// The numbers of a message are those that are read one by one, whatever the bytes and
// wherever the record ends in the memory it lies in.
func TestNumbersOfMessagesAreReadAtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	good := 0
	for range 200_000 {
		b := make([]byte, 80)
		for i := range b {
			if b[i] = byte(random.IntN(6)); random.IntN(30) == 0 {
				b[i] = byte(random.Uint32())
			}
		}
		n := random.IntN(40)
		one := fields{b: b[: n : n+random.IntN(40)], big: random.IntN(10) == 0}
		all := one
		rank, comm, tag, size := all.message()
		if one.uint32() != rank || one.uint32() != comm || one.uint32() != tag || one.uint64() != size || one.bad != all.bad || len(one.b) != len(all.b) {
			t.Fatalf("% x: %d %d %d %d, %d bytes left, bad %v", b[:n], rank, comm, tag, size, len(all.b), all.bad)
		}
		if !all.bad {
			good++
		}
	}
	if good < 10_000 {
		t.Errorf("only %d of the records could be read", good)
	}
}
