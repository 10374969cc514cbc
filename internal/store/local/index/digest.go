package index

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Digests: one record for each lane, made by the second pass of Finish while the rows are at hand; one of another
// version is rebuilt alone. Lanes are independent of each other; records are written in their order. Memory is a few
// records and that of the builders.
//
//	digest.NAME.VERSION.records   the records, lane after lane
//	digest.NAME.VERSION.offsets   where each begins, one more than lanes

func digestFiles(d trace.Digest) (records, offsets string) {
	return fmt.Sprintf("digest.%s.%d.records", d.Name(), d.Version()),
		fmt.Sprintf("digest.%s.%d.offsets", d.Name(), d.Version())
}

// A digestPart is the records of some lanes.
type digestPart struct {
	records []byte
	sizes   []int
}

// add appends the record of a lane.
func (p *digestPart) add(b trace.DigestBuilder, c trace.Columns) {
	defer disk.PassOn()
	from := len(p.records)
	p.records = b.Build(p.records, &c)
	p.sizes = append(p.sizes, len(p.records)-from)
}

// A digestOutput writes the two files of a digest.
type digestOutput struct {
	disk.Section
	dir     string
	file    *os.File
	offsets []uint64
}

func (o *digestOutput) create(d trace.Digest, dir string) (err error) {
	o.Section, o.dir, o.offsets = disk.Section{Name: d.Name(), Version: d.Version()}, dir, []uint64{0}
	o.Blocks, o.Offsets = digestFiles(d)
	o.file, err = os.Create(filepath.Join(dir, o.Blocks))
	return err
}

// consume appends a part and empties it.
func (o *digestOutput) consume(p *digestPart) error {
	at := o.offsets[len(o.offsets)-1]
	_, err := o.file.WriteAt(p.records, int64(at))
	for _, n := range p.sizes {
		at += uint64(n)
		o.offsets = append(o.offsets, at)
	}
	p.records, p.sizes = p.records[:0], p.sizes[:0]
	return err
}

func (o *digestOutput) finish() error {
	return cmp.Or(o.file.Close(), disk.WriteColumn(o.dir, o.Offsets, o.offsets))
}
