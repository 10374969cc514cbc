package recorder

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
)

// magic begins a file; the last byte is the version.
const magic = "PLXMOM\x00\x01"

// WriteTo writes the recording so far. It may be called while workers run.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	s.mu.Lock()
	workers := slices.Clone(s.workers)
	s.mu.Unlock()
	e := encoder{b: []byte(magic)}
	e.u64(uint64(s.start.UnixNano()))
	e.u32(uint32(s.rank))
	e.text(s.name)
	e.u32(uint32(len(workers)))
	for _, x := range workers {
		e.worker(x.snapshot())
	}
	e.u32(crc32.ChecksumIEEE(e.b))
	n, err := w.Write(e.b)
	return int64(n), err
}

var temporary atomic.Int64

// WriteFile writes the recording so far to a file, which appears when it is whole.
func (s *Set) WriteFile(name string) error {
	temp := filepath.Join(filepath.Dir(name),
		fmt.Sprintf(".%s.%d.%d", filepath.Base(name), os.Getpid(), temporary.Add(1)))
	f, err := os.Create(temp)
	if err != nil {
		return fmt.Errorf("write moments: %w", err)
	}
	_, err = s.WriteTo(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		os.Remove(temp)
		return fmt.Errorf("write moments: %w", err)
	}
	return nil
}

type encoder struct{ b []byte }

func (e *encoder) u32(x uint32)  { e.b = binary.LittleEndian.AppendUint32(e.b, x) }
func (e *encoder) u64(x uint64)  { e.b = binary.LittleEndian.AppendUint64(e.b, x) }
func (e *encoder) f64(x float64) { e.u64(math.Float64bits(x)) }

func (e *encoder) text(s string) {
	s = s[:min(len(s), math.MaxUint16)]
	e.b = binary.LittleEndian.AppendUint16(e.b, uint16(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) worker(w *Worker) {
	e.text(w.name)
	e.b = append(e.b, w.shift)
	e.u64(uint64(w.ended))
	e.u64(w.dropped)
	n := uint32(0)
	for i := range w.sums {
		if !w.sums[i].Empty() {
			n++
		}
	}
	e.u32(n)
	for i := range w.sums {
		c := &w.sums[i]
		if c.Empty() {
			continue
		}
		e.u32(uint32(i))
		e.f64(c.Weight)
		e.f64(float64(int64(c.Origin)-int64(i)<<w.shift) + c.Mean)
		e.f64(c.M2)
		e.f64(c.M3)
	}
}
