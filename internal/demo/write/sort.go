package write

import (
	"bufio"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/spool"
)

// A lineSorter puts lines in order of time; lines of one time keep the order in which they came. Their text goes to
// a file as it comes, and only positions are sorted: O(n log n), in bounded memory. Each location writes in order
// of time, so the text is read in a few places that move forward.
type lineSorter struct {
	path  string
	text  *os.File
	out   *bufio.Writer
	size  int64
	lines *spool.Spool[timedLine]
}

// A timedLine is the time and position of a line in the text.
type timedLine struct{ time, at, size int64 }

// sortMemory is how much of the order is held in memory.
const sortMemory = 48 << 20

var byTime = spool.Order[timedLine]{Key: func(l *timedLine) int64 { return l.time }}

func newLineSorter(path string) *lineSorter {
	return &lineSorter{path: path, lines: spool.NewSortedSpool(filepath.Dir(path), sortMemory, byTime)}
}

func (s *lineSorter) add(time int64, line []byte) (err error) {
	if s.text == nil {
		if s.text, err = os.Create(s.path); err != nil {
			return err
		}
		s.out = bufio.NewWriterSize(s.text, 1<<20)
	}
	if _, err := s.out.Write(line); err != nil {
		return err
	}
	at := s.size
	s.size += int64(len(line))
	return s.lines.Add(timedLine{time, at, int64(len(line))})
}

// each yields all lines in order.
func (s *lineSorter) each(f func(line []byte) error) error {
	if s.text == nil {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	text, err := spool.MapOpen(s.text, s.size, false)
	if err != nil {
		return err
	}
	defer text.Close()
	return s.lines.Sorted(nil, byTime, func(l *timedLine) error { return f(text.Bytes[l.at : l.at+l.size]) })
}

// close removes the files.
func (s *lineSorter) close() {
	s.lines.Close()
	if s.text != nil {
		s.text.Close()
		os.Remove(s.path)
		s.text = nil
	}
}
