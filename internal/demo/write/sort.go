package write

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"io"
	"os"
	"slices"
)

// A lineSorter puts lines in order of time; lines of one time keep the order in
// which they came. What does not fit in memory goes to a file in sorted runs, which
// are merged in the end: O(n log n), memory is bounded.
type lineSorter struct {
	path  string
	file  *os.File // nil while all is in memory
	runs  []run
	text  []byte
	lines []timedLine
}

// A run is where a sorted stretch lies in the file.
type run struct{ at, size int64 }

type timedLine struct {
	time     int64
	at, size uint32
}

// sortMemory is how much text is held before it is sorted and written.
const sortMemory = 48 << 20

func newLineSorter(path string) *lineSorter { return &lineSorter{path: path} }

func (s *lineSorter) add(time int64, line []byte) error {
	if len(s.text)+len(line) > sortMemory {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if s.text == nil {
		s.text = make([]byte, 0, 1<<20)
	}
	s.lines = append(s.lines, timedLine{time, uint32(len(s.text)), uint32(len(line))})
	s.text = append(s.text, line...)
	return nil
}

// sort orders what is in memory; at grows in the order of arrival.
func (s *lineSorter) sort() {
	slices.SortFunc(s.lines, func(a, b timedLine) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.at, b.at))
	})
}

// lineHeader is time and length before each line in the file.
const lineHeader = 12

// spill writes what is in memory as a run.
func (s *lineSorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.Create(s.path); err != nil {
			return err
		}
	}
	s.sort()
	out := bufio.NewWriterSize(s.file, 1<<20)
	var head [lineHeader]byte
	next := run{}
	if n := len(s.runs); n > 0 {
		next.at = s.runs[n-1].at + s.runs[n-1].size
	}
	for _, l := range s.lines {
		binary.LittleEndian.PutUint64(head[:], uint64(l.time))
		binary.LittleEndian.PutUint32(head[8:], l.size)
		out.Write(head[:])
		out.Write(s.text[l.at : l.at+l.size])
		next.size += lineHeader + int64(l.size)
	}
	s.runs = append(s.runs, next)
	s.text, s.lines = s.text[:0], s.lines[:0]
	return out.Flush()
}

// each hands out all lines in order.
func (s *lineSorter) each(f func(line []byte) error) error {
	if s.file == nil {
		s.sort()
		for _, l := range s.lines {
			if err := f(s.text[l.at : l.at+l.size]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.text, s.lines = nil, nil
	var open runHeap
	for i, r := range s.runs {
		c := &runCursor{number: i, in: bufio.NewReaderSize(io.NewSectionReader(s.file, r.at, r.size), 256<<10)}
		if more, err := c.next(); err != nil {
			return err
		} else if more {
			open = append(open, c)
		}
	}
	heap.Init(&open)
	for len(open) > 0 {
		c := open[0]
		if err := f(c.line); err != nil {
			return err
		}
		more, err := c.next()
		if err != nil {
			return err
		}
		if more {
			heap.Fix(&open, 0)
		} else {
			heap.Pop(&open)
		}
	}
	return nil
}

// close removes the file.
func (s *lineSorter) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.path)
		s.file = nil
	}
}

// A runCursor reads a run line by line.
type runCursor struct {
	number int
	in     *bufio.Reader
	time   int64
	line   []byte
}

func (c *runCursor) next() (bool, error) {
	var head [lineHeader]byte
	if _, err := io.ReadFull(c.in, head[:]); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	c.time = int64(binary.LittleEndian.Uint64(head[:]))
	c.line = slices.Grow(c.line[:0], int(binary.LittleEndian.Uint32(head[8:])))[:binary.LittleEndian.Uint32(head[8:])]
	_, err := io.ReadFull(c.in, c.line)
	return true, err
}

// A runHeap has the run with the earliest line first; of equal times the earlier run.
type runHeap []*runCursor

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	return h[i].time < h[j].time || h[i].time == h[j].time && h[i].number < h[j].number
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*runCursor)) }
func (h *runHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
