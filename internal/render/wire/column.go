package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
)

// A column is where the numbers of one column lie.
type column struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	// Key names the content of a column that a page may have already; Offset is then -1.
	Key string `json:"key,omitempty"`
}

// keyed places a large column under a name made of its content. Pages that have
// the column are given the name alone.
func (e *encoder) keyed(xs []float32) *column {
	hash := sha256.New()
	var block [4096]byte
	for rest := xs; len(rest) > 0; {
		n := min(len(rest), len(block)/4)
		for i, x := range rest[:n] {
			binary.LittleEndian.PutUint32(block[4*i:], math.Float32bits(x))
		}
		hash.Write(block[:4*n])
		rest = rest[n:]
	}
	key := hex.EncodeToString(hash.Sum(nil)[:12])
	if e.have[key] {
		return &column{Type: "f32", Offset: -1, Length: len(xs), Key: key}
	}
	c := e.f32(xs)
	c.Key = key
	return c
}

func appendU32(b []byte, x uint32) []byte { return binary.LittleEndian.AppendUint32(b, x) }

func (e *encoder) f32(xs []float32) *column {
	return e.column("f32", len(xs), 4, func(b []byte) []byte {
		for _, x := range xs {
			b = appendU32(b, math.Float32bits(x))
		}
		return b
	})
}

// f64 places whole numbers, which are times: exact up to 2^53 ns, a hundred days.
func (e *encoder) f64(xs []int64) *column {
	return e.column("f64", len(xs), 8, func(b []byte) []byte {
		for _, x := range xs {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(x)))
		}
		return b
	})
}

func (e *encoder) u32(xs []uint32) *column {
	return e.column("u32", len(xs), 4, func(b []byte) []byte {
		for _, x := range xs {
			b = appendU32(b, x)
		}
		return b
	})
}

func u16[T ~uint16](e *encoder, xs []T) *column {
	return e.column("u16", len(xs), 2, func(b []byte) []byte {
		for _, x := range xs {
			b = binary.LittleEndian.AppendUint16(b, uint16(x))
		}
		return b
	})
}

func u8[T ~uint8](e *encoder, xs []T) *column {
	if len(xs) == 0 {
		return nil
	}
	return e.column("u8", len(xs), 1, func(b []byte) []byte {
		for _, x := range xs {
			b = append(b, byte(x))
		}
		return b
	})
}
