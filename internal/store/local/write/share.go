package write

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var _ match.Sharer = (*Writer)(nil)

// A shared is what the writer of a part keeps for the others.
type shared struct {
	halves   [2]*blockFile[match.Half]
	attended *blockFile[match.Participation]
	facts    match.Facts
	before   []trace.ReportEntry // reports when definitions were complete, and when all files were read
	during   []trace.ReportEntry
}

// Files of a part that is read.
const (
	ChunkFile    = "chunks"
	TextFile     = "text.bytes.u8"
	TextOffsets  = "text.offset.u64"
	LinkFile     = "links"
	UntimedFile  = "untimed"
	MeetingFile  = "meetings"
	AttendedFile = "attended"
)

// HalfFiles are those of causes and of effects.
var HalfFiles = [2]string{"causes", "effects"}

func (w *Writer) startShared() (err error) {
	s := &shared{}
	for side, name := range HalfFiles {
		if s.halves[side], err = newBlockFile[match.Half](filepath.Join(w.Dir, name), w.Opt.Parts); err != nil {
			return err
		}
	}
	s.attended, err = newBlockFile[match.Participation](filepath.Join(w.Dir, AttendedFile), w.Opt.Parts)
	w.shared = s
	return err
}

// Share implements match.Sharer.
func (w *Writer) Share() (part, parts int) {
	if w.shared == nil {
		return 0, 0
	}
	return w.Opt.Part, w.Opt.Parts
}

// Halves implements match.Sharer.
func (w *Writer) Halves(side int, list []match.Half) {
	f := w.shared.halves[side]
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range list {
		f.add(list[i].PartOf(w.Opt.Parts), &list[i])
	}
}

// Attend implements match.Sharer.
func (w *Writer) Attend(list []match.Participation) {
	f := w.shared.attended
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range list {
		f.add(list[i].PartOf(w.Opt.Parts), &list[i])
	}
}

// Tell implements match.Sharer.
func (w *Writer) Tell(f match.Facts) {
	w.reportMu.Lock()
	defer w.reportMu.Unlock()
	w.shared.facts, w.shared.during = f, slices.Clone(w.Told.Entries)
}

// since returns what was reported since there were some entries.
func since(before, now []trace.ReportEntry) (out []trace.ReportEntry) {
	for i, e := range now {
		if i < len(before) {
			e.Count -= before[i].Count
		}
		if e.Count > 0 {
			out = append(out, e)
		}
	}
	return out
}

// A Block is records for one part in a file.
type Block struct {
	Part  uint32
	Count uint32
	At    int64 // bytes
}

// A blockFile holds records for each part in blocks.
type blockFile[T any] struct {
	mu     sync.Mutex
	file   *os.File
	to     *bufio.Writer
	at     int64
	bufs   [][]T
	each   int
	Blocks []Block
	err    error
}

const (
	blockMemory = 16 << 20 // bytes of a blockFile
	mostInBlock = 4096     // records
)

func newBlockFile[T any](path string, parts int) (*blockFile[T], error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	each := int(blockMemory / spool.SizeOf[T]() / int64(parts))
	return &blockFile[T]{file: file, to: bufio.NewWriterSize(file, 1<<18), bufs: make([][]T, parts),
		each: max(min(each, mostInBlock), 16)}, nil
}

func (f *blockFile[T]) add(part int, r *T) {
	if f.bufs[part] = append(f.bufs[part], *r); len(f.bufs[part]) >= f.each {
		f.write(part)
	}
}

func (f *blockFile[T]) write(part int) {
	b := spool.BytesOf(f.bufs[part])
	if len(b) == 0 {
		return
	}
	_, err := f.to.Write(b)
	f.err = errors.Join(f.err, err)
	f.Blocks = append(f.Blocks, Block{uint32(part), uint32(len(f.bufs[part])), f.at})
	f.at += int64(len(b))
	f.bufs[part] = f.bufs[part][:0]
}

// finish writes the rest and closes the file.
func (f *blockFile[T]) finish() error {
	for part := range f.bufs {
		f.write(part)
	}
	f.bufs = nil
	return errors.Join(f.err, f.to.Flush(), f.file.Close())
}

func (f *blockFile[T]) close() {
	if f != nil {
		f.file.Close()
	}
}

func (s *shared) close() {
	if s != nil {
		s.halves[0].close()
		s.halves[1].close()
		s.attended.close()
	}
}

// EachBlock reads the blocks for one part.
func EachBlock[T any](path string, list []Block, part int, f func([]T) error) error {
	if len(list) == 0 {
		return nil // an empty file is not kept
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var buf []T
	for _, b := range list {
		if int(b.Part) != part {
			continue
		}
		if b.Count > 1<<24 {
			return fmt.Errorf("%s: a block of %d records", path, b.Count)
		}
		buf = slices.Grow(buf[:0], int(b.Count))[:b.Count]
		if _, err := file.ReadAt(spool.BytesOf(buf), b.At); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("it is cut off")
			}
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := f(buf); err != nil {
			return err
		}
	}
	return nil
}
