package span

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

// Ids of sixteen digits are read all at once: each is the number that it says, and what is no digit makes it an odd one.
func TestHexadecimalIDsOfSixteenDigitsAreParsed(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := r.Uint64() >> r.IntN(64)
		if got := ParseID(fmt.Appendf(nil, "%016x", n)); got != BinaryID(n) {
			t.Fatalf("%016x: %+v", n, got)
		}
		if got := ParseID(fmt.Appendf(nil, "%016X", n)).Lower(); got != BinaryID(n) {
			t.Fatalf("%016X: %+v", n, got)
		}
	}
	for at := range 16 {
		for ch := range 256 {
			b := []byte("0123456789abcdef")
			b[at] = byte(ch)
			n, err := strconv.ParseUint(string(b), 16, 64)
			if got := ParseID(b); (got.kind == hexID) != (err == nil) || err == nil && got.number != n {
				t.Fatalf("%q: %+v, want %x, %v", b, got, n, err)
			}
		}
	}
}
