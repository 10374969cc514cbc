package disk

import (
	"fmt"
	"hash/crc32"
)

var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

func Checksum(b []byte) string { return Word8(crc32.Checksum(b, Castagnoli)) }

// Word8 writes a checksum as manifests do.
func Word8(sum uint32) string { return fmt.Sprintf("%08x", sum) }
