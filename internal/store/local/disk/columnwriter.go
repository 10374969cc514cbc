package disk

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
)

// A ColumnWriter writes a packed column: its frames in order, then a directory of where each begins. Positions are
// counted in words of 8 bytes, and the directory is padded to a whole word. A column that fits into the buffer is
// written in one piece by Close.
type ColumnWriter struct {
	dir, name string
	temp      string // directory of the file until it is whole; "": dir
	file      *os.File
	buf       []byte
	starts    []uint32 // where frames begin, and where the next one will
	// Passing files are soon used and removed: they are not sent to the disk.
	Passing bool

	written, started int64 // bytes in the file; those on their way to the disk
}

// NewColumnWriter returns a writer of dir/name. If temp is not empty, the file is made there, and replaces dir/name
// when it is whole.
func NewColumnWriter(dir, name, temp string) *ColumnWriter {
	return &ColumnWriter{dir: dir, name: name, temp: temp, starts: []uint32{0}}
}

const (
	columnBuffer = 256 << 10 // bytes that are written at a time
	longColumn   = 4 << 20   // bytes that are worth being sent to the disk before the end
)

// Append appends frames, given how many words each has.
func (w *ColumnWriter) Append(frames []byte, words []uint32) error {
	return errors.Join(w.note(words), w.write(frames))
}

// Drain appends frames that were held elsewhere, which are gone then.
func (w *ColumnWriter) Drain(frames *spool.Spill, words []uint32) error {
	return errors.Join(w.note(words), frames.Drain(w.write))
}

// note enters the lengths of frames into the directory.
func (w *ColumnWriter) note(words []uint32) error {
	at := uint64(w.starts[len(w.starts)-1])
	for _, n := range words {
		if at += uint64(n); at > math.MaxUint32 {
			return fmt.Errorf("column %s takes more than 32 GB", w.name)
		}
		w.starts = append(w.starts, uint32(at))
	}
	return nil
}

// write buffers bytes.
func (w *ColumnWriter) write(b []byte) error {
	if w.buf = append(w.buf, b...); len(w.buf) < columnBuffer {
		return nil
	}
	return w.flush()
}

// flush writes the buffer to the file, which it makes if there is none yet.
func (w *ColumnWriter) flush() (err error) {
	if w.file == nil {
		if w.temp != "" {
			w.file, err = os.CreateTemp(w.temp, "packed-")
		} else {
			w.file, err = os.Create(filepath.Join(w.dir, w.name))
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", w.name, err)
		}
	}
	if _, err = w.file.Write(w.buf); err != nil {
		return fmt.Errorf("write %s: %w", w.name, err)
	}
	if w.written += int64(len(w.buf)); w.written-w.started >= longColumn && !w.Passing {
		spool.StartWriting(w.file, w.started, w.written-w.started)
		w.started = w.written
	}
	w.buf = w.buf[:0]
	return nil
}

// Close writes the directory and puts the column in its place; one without frames has no file. After an error, which it
// returns, it only closes the file.
func (w *ColumnWriter) Close(err error) error {
	if err == nil {
		err = w.finish()
	}
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
		if w.temp != "" && err != nil {
			_ = os.Remove(w.file.Name())
		}
		w.file = nil
	}
	return err
}

func (w *ColumnWriter) finish() error {
	path := filepath.Join(w.dir, w.name)
	if len(w.starts) == 1 {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	w.buf = append(w.buf, spool.BytesOf(w.starts)...)
	if len(w.starts)%2 == 1 {
		w.buf = append(w.buf, 0, 0, 0, 0)
	}
	if w.file == nil {
		if err := os.WriteFile(path, w.buf, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", w.name, err)
		}
		return nil
	}
	if err := w.flush(); err != nil || w.temp == "" {
		return err
	}
	made := w.file.Name()
	if err := errors.Join(w.file.Chmod(0o644), w.file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", w.name, err)
	}
	w.file = nil
	return os.Rename(made, path)
}

// A FrameFile is a packed column with a given number of values, read frame by frame while a store is made.
type FrameFile struct {
	mapping *spool.Mapping
	starts  []uint32
	rows    uint64
	per     uint64 // values a row
}

// OpenFrames maps a packed column, and returns ErrDamaged if its directory does not fit its length.
func OpenFrames(path string, values int64, per int) (*FrameFile, error) {
	m, err := spool.MapWhole(path)
	if err != nil {
		return nil, err
	}
	f := &FrameFile{mapping: m, rows: uint64(values) / uint64(per), per: uint64(per)}
	entries := (f.rows+pack.Frame-1)/pack.Frame*f.per + 1
	at := int64(len(m.Bytes)) - int64(entries+1)/2*8
	if values > 0 && at >= 0 {
		f.starts = spool.ViewOf[uint32](m.Bytes[at:])[:entries]
	}
	if f.starts == nil || int64(f.starts[entries-1])*8 != at {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, ErrDamaged), m.Close())
	}
	return f, nil
}

// Close unmaps the file.
func (f *FrameFile) Close() error { return f.mapping.Close() }

// Rows returns the number of rows frame i has.
func (f *FrameFile) Rows(i uint64) int { return int(min(f.rows-i/f.per*pack.Frame, pack.Frame)) }

// Len returns the number of frames.
func (f *FrameFile) Len() uint64 { return uint64(len(f.starts) - 1) }

// Decode unpacks frame i.
func (f *FrameFile) Decode(i uint64, values []uint64) []uint64 {
	values = values[:f.Rows(i)]
	from, to := f.starts[i], f.starts[i+1]
	pack.Decode(values, f.mapping.Bytes[int(from)*8:], from == to)
	return values
}

// CopyTo appends frames [from, to) to a column as they are.
func (f *FrameFile) CopyTo(w *ColumnWriter, from, to uint64) error {
	words := make([]uint32, 0, to-from)
	for i := from; i < to; i++ {
		words = append(words, f.starts[i+1]-f.starts[i])
	}
	return w.Append(f.mapping.Bytes[int(f.starts[from])*8:int(f.starts[to])*8], words)
}

// Rewrite writes a packed column with one value per row again. Frames that are not chosen are copied; nil chooses all.
// The values of the others are handed to change with the number of their frame.
func (c *column) Rewrite(dir, temp string, rows int64, chosen func(frame uint64) bool,
	change func(frame uint64, values []uint64)) error {
	if rows == 0 {
		return nil
	}
	path := filepath.Join(dir, c.File())
	old, err := OpenFrames(path, rows, 1)
	if err != nil {
		return err
	}
	w := NewColumnWriter(dir, c.File(), temp)
	err = Guard(func() error {
		var buf [pack.Frame]uint64
		var packed []byte
		var words []uint32
		for i := range old.Len() {
			if chosen != nil && !chosen(i) {
				if err := old.CopyTo(w, i, i+1); err != nil {
					return err
				}
				continue
			}
			values := old.Decode(i, buf[:])
			change(i, values)
			packed, words = c.appendFrame(packed[:0], words[:0], values)
			if err := w.Append(packed, words); err != nil {
				return err
			}
		}
		return nil
	})
	return w.Close(errors.Join(err, old.Close()))
}
