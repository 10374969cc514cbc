package disk

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// What the parts of a file are checked by joins to what the whole is checked by,
// wherever it is cut.
func TestChecksumsOfPartsJoinToThatOfTheWhole(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 10_000)
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}
	for n := range 300 {
		whole := data[:rnd.IntN(len(data)+1)]
		want, got, at := crc32.Checksum(whole, Castagnoli), uint32(0), 0
		for at < len(whole) {
			end := min(at+1+rnd.IntN(1+n*n), len(whole))
			got = JoinChecksums(got, crc32.Checksum(whole[at:end], Castagnoli), int64(end-at))
			at = end
		}
		if got != want {
			t.Fatalf("%d bytes in parts: %08x, want %08x", len(whole), got, want)
		}
	}
}
