package disk

import (
	"fmt"
	"hash/crc32"
)

var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

func Checksum(b []byte) string { return Word8(crc32.Checksum(b, Castagnoli)) }

// Word8 writes a checksum as manifests do.
func Word8(sum uint32) string { return fmt.Sprintf("%08x", sum) }

// JoinChecksums gives the checksum of two stretches from theirs; n is the length of the
// second. A checksum is a polynomial over the field of two elements, modulo that of
// Castagnoli, its highest power in the lowest bit: the first is moved up by 8 n powers.
// O(log n).
func JoinChecksums(first, second uint32, n int64) uint32 {
	shift, square := uint32(1<<31), uint32(1<<30) // 1 and x
	for bits := 8 * uint64(n); bits > 0; bits >>= 1 {
		if bits&1 == 1 {
			shift = multiply(shift, square)
		}
		square = multiply(square, square)
	}
	return multiply(shift, first) ^ second
}

// multiply gives the product of two polynomials modulo that of Castagnoli.
func multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 == 1 {
			product ^= b
		}
		b = b>>1 ^ b&1*crc32.Castagnoli
	}
	return product
}
