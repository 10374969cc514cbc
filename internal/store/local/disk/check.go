package disk

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"sync/atomic"
)

// Checks at first touch. The manifest holds a checksum for every block of a file, and code that is about to use bytes
// of a mapped file touches them first. A block that was not verified since the store was opened is verified then, and
// damage ends the query with an error that names the file. A verified block costs one load and a test.
//
// It handles files and bytes, not their meaning: the layout of columns in a file may change without it.

// blockSize of a file's checksums. One that is not named in the manifest has one block.
const blockSize = 16 << 10

// blockSizeOf gives larger files larger blocks, so that the manifest stays small: 4 bytes for each.
func BlockSizeOf(size int64) int64 {
	b := int64(blockSize)
	for size/b > 1<<16 {
		b *= 2
	}
	return b
}

// BlockSums returns the checksums of the blocks of a file, as a manifest holds them; empty if there is but one
// block.
func BlockSums(b []byte) string { return encodeSums(appendSums(nil, b, BlockSizeOf(int64(len(b))))) }

// appendSums appends the checksums of blocks.
func appendSums(sums, b []byte, size int64) []byte {
	for at := int64(0); at < int64(len(b)); at += size {
		sums = binary.LittleEndian.AppendUint32(sums, crc32.Checksum(b[at:min(at+size, int64(len(b)))], Castagnoli))
	}
	return sums
}

func encodeSums(sums []byte) string {
	if len(sums) <= 4 {
		return ""
	}
	return base64.RawStdEncoding.EncodeToString(sums)
}

// A Check records which blocks of a mapped file are verified. A nil Check verifies nothing: it is that of files that
// are being made.
type Check struct {
	frames int64 // of a packed file: where its directory begins
	name   string
	bytes  []byte
	shift  uint // the size of a block as a power of two
	sums   []uint32
	done   []atomic.Uint64 // a bit for each block that was looked at
	fresh  []atomic.Uint64 // of a remote packed file: those that came since some were given back

	packed *Packed  // of a packed column: its values are touched
	from   *Fetcher // of a remote file
}

// NewCheck returns the check of a file as its entry describes it.
func NewCheck(e FileEntry, b []byte) (*Check, error) {
	c := &Check{name: e.Name, bytes: b}
	raw, err := base64.RawStdEncoding.DecodeString(e.Blocks)
	blocks := (int64(len(b)) + BlockSizeOf(e.Size) - 1) / BlockSizeOf(e.Size)
	if err != nil || len(raw) > 0 && int64(len(raw)) != 4*blocks {
		return nil, fmt.Errorf("%s: checksums of its blocks do not fit its %d bytes: %w", e.Name, e.Size, ErrDamaged)
	}
	if len(raw) == 0 {
		var sum uint32
		if n, err := fmt.Sscanf(e.CRC32C, "%08x", &sum); n != 1 || err != nil {
			return nil, fmt.Errorf("%s: %q is no checksum: %w", e.Name, e.CRC32C, ErrDamaged)
		}
		c.shift, c.sums = 62, []uint32{sum}
	} else {
		for size := BlockSizeOf(e.Size); size > 1; size >>= 1 {
			c.shift++
		}
		for ; len(raw) > 0; raw = raw[4:] {
			c.sums = append(c.sums, binary.LittleEndian.Uint32(raw))
		}
	}
	c.done = make([]atomic.Uint64, (len(c.sums)+63)/64)
	return c, nil
}

// Name of the file.
func (c *Check) Name() string { return c.name }

// Bytes of the file.
func (c *Check) Bytes() []byte { return c.bytes }

// Touch looks at bytes [from, to) before they are used.
func (c *Check) Touch(from, to int64) {
	if c == nil {
		return
	}
	if c.packed != nil {
		c.packed.touch(from, to)
		return
	}
	if to = min(to, int64(len(c.bytes))); from >= to {
		return // a column of offsets has one value more than the others of its table
	}
	if c.from != nil {
		c.from.bring(c.missing(nil, from, to))
	}
	for b, last := from>>c.shift, (to-1)>>c.shift; b <= last; b++ {
		if b < 0 || b>>6 >= int64(len(c.done)) || c.done[b>>6].Load()>>(b&63)&1 == 0 {
			c.look(b)
		}
	}
}

// look checks one block.
func (c *Check) look(b int64) {
	if b < 0 || b >= int64(len(c.sums)) {
		panic(Damage(c.name))
	}
	from, to := c.bounds(b)
	if sum, ok := c.sum(from, to); !ok || sum != c.sums[b] {
		panic(Damage(fmt.Sprintf("%s, bytes %d to %d", c.name, from, to)))
	}
	for bit := uint64(1) << (b & 63); ; {
		old := c.done[b>>6].Load()
		if old&bit != 0 || c.done[b>>6].CompareAndSwap(old, old|bit) {
			return
		}
	}
}

// bounds of a block.
func (c *Check) bounds(b int64) (from, to int64) {
	from, to = b<<c.shift, int64(len(c.bytes))
	if c.shift < 62 {
		to = min((b+1)<<c.shift, to)
	}
	return from, to
}

// sum returns false if the disk gives no bytes: a file that was cut under the map, or a network that is gone.
func (c *Check) sum(from, to int64) (sum uint32, ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return crc32.Checksum(c.bytes[from:to], Castagnoli), true
}

// Trust marks every block as verified, to measure the cost of verification.
func (c *Check) Trust() {
	if c == nil {
		return
	}
	if c.packed != nil {
		c = c.packed.check
	}
	for i := range c.done {
		c.done[i].Store(^uint64(0))
	}
}

// Bad lists the blocks that are damaged, as ranges of bytes.
func (c *Check) Bad() (bad [][2]int64) {
	for b := range c.sums {
		from, to := c.bounds(int64(b))
		if sum, ok := c.sum(from, to); ok && sum == c.sums[b] {
			continue
		}
		if n := len(bad); n > 0 && bad[n-1][1] == from {
			bad[n-1][1] = to
		} else {
			bad = append(bad, [2]int64{from, to})
		}
	}
	return bad
}

// A TableCheck is the checks of the columns of a table, with how many bytes a row has in each.
type TableCheck struct {
	columns []*Check
	widths  []int64
}

// Touch looks at rows [lo, hi) of all columns.
func (t *TableCheck) Touch(lo, hi uint64) {
	if t.IsRemote() {
		Bring(Rows{t, [][2]uint64{{lo, hi}}})
	}
	for i, c := range t.columns {
		c.Touch(int64(lo)*t.widths[i], int64(hi)*t.widths[i])
	}
}

// TouchFrom looks at rows [lo, hi) of all columns from one on.
func (t *TableCheck) TouchFrom(column int, lo, hi uint64) {
	for i, c := range t.columns {
		if i >= column {
			c.Touch(int64(lo)*t.widths[i], int64(hi)*t.widths[i])
		}
	}
}

// TouchFirst verifies row i of the first column, which is searched. If the file is local, a search verifies only the
// row at which it ends.
func (t *TableCheck) TouchFirst(i int) {
	if t.IsRemote() {
		t.columns[0].Touch(int64(i)*t.widths[0], int64(i+1)*t.widths[0])
	}
}

// Checks are the checks of all tables.
type Checks map[string]*TableCheck

// Of returns the check of a table; one without a check verifies nothing.
func (c Checks) Of(table string) *TableCheck {
	if t := c[table]; t != nil {
		return t
	}
	return &noCheck
}

var noCheck TableCheck

// Trust takes every block of every file as looked at.
func (c Checks) Trust() {
	for _, t := range c {
		for _, x := range t.columns {
			x.Trust()
		}
	}
}

// AddOffsets takes the check of packed offsets of a section.
func (c Checks) AddOffsets(check *Check) {
	c[check.name] = &TableCheck{columns: []*Check{check}, widths: []int64{SectionOffsets.Width()}}
}

// Add takes the check of a column. Columns with one value more than rows, and free ones, are in no table: they are
// touched by themselves.
func (c Checks) Add(t *table, i int, check *Check) {
	of := t.Name
	if t.Columns[i].Kind == Free {
		of = t.Name + "." + t.Columns[i].name
	}
	if c[of] == nil {
		c[of] = &TableCheck{}
	}
	c[of].columns = append(c[of].columns, check)
	c[of].widths = append(c[of].widths, t.Columns[i].Width())
}
