package rows

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A pass over all rows unpacks those of a job into memory. If a location has too many for that they are unpacked into
// temporary files, which are mapped, and whose pages are given back as those of plain columns are.

// MostUnpacked is the number of rows that are unpacked into memory as one: 36 MB for each core. Tests take fewer.
var MostUnpacked uint64 = 1 << 20

// A spread is rows [first, end) in files.
type spread struct {
	first, end uint64
	rows       disk.RowSlices
	names      []string
	maps       []*spool.Mapping
}

// spreadRows are unpacked at a time.
const spreadRows = 64 * disk.Frame

// Spread unpacks rows [a, b), all of some lanes, into files, if they are packed and too many for memory; their lanes
// are read from there until done is called.
func (r *Table) Spread(ctx context.Context, dir string, a, b uint64) (done func() error, err error) {
	if r.Sure == nil || b-a <= MostUnpacked {
		return func() error { return nil }, nil
	}
	s := &spread{first: a, end: b}
	if err := s.fill(ctx, r.Sure, dir); err != nil {
		return nil, errors.Join(fmt.Errorf("unpack rows: %w", err), s.close())
	}
	r.change(func(list []*spread) []*spread { return append(list, s) })
	return func() error {
		r.change(func(list []*spread) []*spread {
			return slices.DeleteFunc(list, func(x *spread) bool { return x == s })
		})
		return s.close()
	}, nil
}

// change replaces the table's list of spread rows; others may be reading the present one.
func (r *Table) change(f func([]*spread) []*spread) {
	r.spreading.Lock()
	defer r.spreading.Unlock()
	var list []*spread
	if old := r.spreads.Load(); old != nil {
		list = slices.Clone(*old)
	}
	if list = f(list); len(list) == 0 {
		r.spreads.Store(nil)
		return
	}
	r.spreads.Store(&list)
}

// spreadOf returns rows [a, b) if they are spread.
func (r *Table) spreadOf(a, b uint64) (disk.RowSlices, bool) {
	if list := r.spreads.Load(); list != nil {
		for _, s := range *list {
			if s.first <= a && b <= s.end {
				return s.rows.Slice(int(a-s.first), int(b-s.first)), true
			}
		}
	}
	return disk.RowSlices{}, false
}

// releaseSpread releases the pages of spread rows.
func (r *Table) releaseSpread() {
	if r.spreads.Load() == nil {
		return
	}
	r.spreading.Lock() // so that none is closed meanwhile
	defer r.spreading.Unlock()
	if list := r.spreads.Load(); list != nil {
		for _, s := range *list {
			for _, m := range s.maps {
				m.Release(0, int64(len(m.Bytes)))
			}
		}
	}
}

// fill writes and maps the files.
func (s *spread) fill(ctx context.Context, sure *disk.RowCheck, dir string) (err error) {
	var files [6]*os.File
	defer func() {
		for _, f := range files {
			if f != nil {
				err = errors.Join(err, f.Close())
			}
		}
	}()
	for k := range files {
		if files[k], err = os.CreateTemp(dir, "rows-"); err != nil {
			return err
		}
		s.names = append(s.names, files[k].Name())
	}
	pieces := int((s.end - s.first + spreadRows - 1) / spreadRows)
	err = parallel.Each(ctx, pieces, func() *disk.RowSlices { return new(disk.RowSlices) },
		func(_ context.Context, own *disk.RowSlices, i int) error {
			return disk.Guard(func() error {
				from := s.first + uint64(i)*spreadRows
				at := int64(i) * spreadRows
				for k, b := range columnBytes(sure.Copy(own, from, min(from+spreadRows, s.end), true)) {
					if _, err := files[k].WriteAt(b, at*columnWidths[k]); err != nil {
						return err
					}
				}
				return nil
			})
		})
	if err != nil {
		return err
	}
	var all [6][]byte
	for k, f := range files {
		m, err := spool.MapOpen(f, int64(s.end-s.first)*columnWidths[k], false)
		if err != nil {
			return err
		}
		s.maps, all[k] = append(s.maps, m), m.Bytes
	}
	s.rows = disk.RowSlices{
		Begin: spool.ViewOf[trace.Time](all[0]), Duration: spool.ViewOf[trace.Time](all[1]),
		Exclusive: spool.ViewOf[trace.Time](all[2]),
		Region:    spool.ViewOf[trace.RegionID](all[3]), Parent: spool.ViewOf[int32](all[4]),
		Depth: spool.ViewOf[uint16](all[5]),
	}
	return nil
}

func (s *spread) close() (err error) {
	for _, m := range s.maps {
		err = errors.Join(err, m.Close())
	}
	for _, name := range s.names {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

var columnWidths = [6]int64{8, 8, 8, 4, 4, 2}

func columnBytes(r disk.RowSlices) [6][]byte {
	return [6][]byte{spool.BytesOf(r.Begin), spool.BytesOf(r.Duration), spool.BytesOf(r.Exclusive),
		spool.BytesOf(r.Region), spool.BytesOf(r.Parent), spool.BytesOf(r.Depth)}
}
