package disk

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// Every block has a checksum of its own: one that is damaged is noticed when it is touched, and others can be used.
func TestDamageIsNoticedInItsBlockAlone(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 5*blockSize+1234)
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}
	e := FileEntry{Name: "x.u8", Size: int64(len(data)), CRC32C: Checksum(data), Blocks: BlockSums(data)}
	c, err := NewCheck(e, data)
	if err != nil {
		t.Fatal(err)
	}
	data[3*blockSize+7] ^= 4
	touch := func(from, to int64) error { return Guard(func() error { c.Touch(from, to); return nil }) }
	for _, x := range []struct {
		from, to int64
		bad      bool
	}{{0, 3 * blockSize, false}, {4 * blockSize, int64(len(data)), false}, {3*blockSize - 1, 3*blockSize + 1, true}, {3*blockSize + 100, 3*blockSize + 101, true}, {0, int64(len(data)), true}, {int64(len(data)), int64(len(data)) + 8, false}} {
		err := touch(x.from, x.to)
		if errors.Is(err, ErrDamaged) != x.bad || x.bad && !strings.Contains(err.Error(), "x.u8, bytes 49152 to 65536") {
			t.Errorf("bytes %d to %d: %v", x.from, x.to, err)
		}
	}
	if bad := c.Bad(); len(bad) != 1 || bad[0] != [2]int64{3 * blockSize, 4 * blockSize} {
		t.Errorf("bad are %v", bad)
	}
	// Stores from before there were blocks have one checksum, and so one block.
	e.Blocks = ""
	if c, err = NewCheck(e, data); err != nil {
		t.Fatal(err)
	}
	if err := touch(0, 1); !errors.Is(err, ErrDamaged) {
		t.Errorf("a file with one checksum: %v", err)
	}
	e.Blocks = "AAAA"
	if _, err := NewCheck(e, data); !errors.Is(err, ErrDamaged) {
		t.Errorf("checksums that do not fit: %v", err)
	}
}

func BenchmarkTouch(b *testing.B) {
	data := make([]byte, 64<<20)
	e := FileEntry{Name: "x", Size: int64(len(data)), Blocks: BlockSums(data)}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		c, err := NewCheck(e, data)
		if err != nil {
			b.Fatal(err)
		}
		c.Touch(0, int64(len(data)))
	}
}
