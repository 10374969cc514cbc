package finish

import (
	"fmt"
	"os"

	"github.com/parallax-hpc/parallax/internal/spool"
)

// A placeTable says where each record of a location came to lie. It is written
// out of order, so past its limit it is a mapped temporary file.
type placeTable struct {
	at    []uint64 // by arrival; nil while not in use
	dir   string
	limit int64
	kept  []uint64
	file  *spool.Mapping
}

func (p *placeTable) init(dir string, memory int64) {
	p.dir, p.limit = dir, max(memory/8, 64)
}

// make allocates n places in p.at.
func (p *placeTable) make(n int64) error {
	if n <= p.limit {
		if int64(len(p.kept)) < n {
			p.kept = make([]uint64, n)
		}
		p.at = p.kept[:n]
		return nil
	}
	file, err := os.CreateTemp(p.dir, "places-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := fillZero(file, n*8); err != nil {
		return err
	}
	if p.file, err = spool.MapOpen(file, n*8, true); err != nil {
		return err
	}
	p.at = spool.ViewOf[uint64](p.file.Bytes)
	return nil
}

// fillZero reserves the disk space of a file: a map of a file with holes would end
// the process where the disk is full.
func fillZero(file *os.File, size int64) error {
	zeros := make([]byte, min(size, 1<<20))
	for size > 0 {
		n, err := file.Write(zeros[:min(size, int64(len(zeros)))])
		if err != nil {
			return fmt.Errorf("write temporary file: %w", err)
		}
		size -= int64(n)
	}
	return nil
}

// drop ends the use of p.at.
func (p *placeTable) drop() error {
	err := p.file.Close()
	p.at, p.file = nil, nil
	return err
}
