package write

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A part that is read keeps the records of its streams as they are in their chunks, the halves of links by the part
// that joins them, and its definitions. Those before trace.SortRegions are the same in all parts. The others are
// defined again where parts are merged, in the order of the parts: where files are read one after the other that is the
// order of a whole import, and where several are read at once the order does not count.

// Common are the definitions that all parts have.
type Common struct {
	Sorted        bool // trace.SortRegions was called
	Locations     []Location
	Kinds         []trace.Kind
	Regions       []trace.Region
	Attributes    []string
	Counters      []trace.Counter
	Metrics       []trace.Metric
	SourceFiles   []string
	CallPaths     []trace.CallPath
	Communicators []trace.Communicator
	Topologies    []trace.Topology
}

// A State is the rest of a part that is read, but for its records.
type State struct {
	Own        OwnDefinitions
	Series     []SeriesState // of all counters
	Properties map[string]string
	Format     string
	Streams    []StreamState
	ChunkBytes int64
	Texts      uint64
	Forgot     bool
	Before     []trace.ReportEntry // reports before files were read, while they were, and afterwards
	During     []trace.ReportEntry
	After      []trace.ReportEntry
	Covered    SpanState
	Links      int64
	Facts      match.Facts
	Causes     []Block
	Effects    []Block
	Attended   []Block
}

// A SpanState is a span that is kept.
type SpanState struct {
	First, Last trace.Time
	Any         bool
}

// See takes a span of another part.
func (s *span) seeAll(o SpanState) {
	if o.Any {
		s.See(o.First)
		s.See(o.Last)
	}
}

// A SeriesState is a series that is kept.
type SeriesState struct {
	Location   trace.LocationID
	Count      uint32
	Disordered bool
}

// A StreamState is a stream that is kept.
type StreamState struct {
	Location                                     trace.LocationID
	First, Last, RoundedTimes                    trace.Time
	Tail                                         int64
	Rows, Instants, Samples, Facts, InstantFacts uint32
	Unordered, ByName, ByParent                  bool
	Intervals, Disordered, Gaps                  bool
}

// Files of a part beside its records.
const (
	CommonFile = "common"
	StateFile  = "state"
)

// Save ends the input of a part and writes what is not in files yet. It returns a checksum of the common definitions.
func (w *Writer) Save() (sum uint32, names []string, err error) {
	for _, s := range w.Streams {
		if s != nil {
			if err := s.Close(); err != nil {
				return 0, nil, err
			}
		}
	}
	if w.RowErr != nil {
		return 0, nil, w.RowErr
	}
	if w.Meetings.Len() > 0 || len(w.Kin) > 0 || len(w.Far) > 0 {
		return 0, nil, errors.New("callers and meetings that the source tells cannot be read in parts")
	}
	if err := w.Texts.Finish(); err != nil {
		return 0, nil, err
	}
	st := w.state()
	if st.ChunkBytes, err = w.Chunks.End(); err != nil {
		return 0, nil, err
	}
	if err := os.Rename(w.Chunks.file.Name(), filepath.Join(w.Dir, ChunkFile)); err != nil {
		return 0, nil, err
	}
	s := w.shared
	err = errors.Join(s.halves[0].finish(), s.halves[1].finish(), s.attended.finish(),
		SaveRecords(filepath.Join(w.Dir, LinkFile), w.LinkRows.Each),
		SaveRecords(filepath.Join(w.Dir, UntimedFile), w.UntimedRows.Each),
		w.saveProfiles())
	st.Causes, st.Effects, st.Attended = s.halves[0].Blocks, s.halves[1].Blocks, s.attended.Blocks
	c := w.common()
	return c.sum(), append([]string{ChunkFile, TextFile, TextOffsets, LinkFile, UntimedFile, HalfFiles[0], HalfFiles[1],
			AttendedFile, CommonFile, StateFile}, profileFiles...),
		errors.Join(err, SaveState(filepath.Join(w.Dir, CommonFile), c), SaveState(filepath.Join(w.Dir, StateFile), st))
}

func (w *Writer) common() *Common {
	d := &w.Def
	m := d.sorted()
	c := &Common{d.Sorted != nil, d.Locations[:m.Locations], d.Kinds, d.Regions[:m.Regions],
		d.Attributes[:m.Attributes], d.Counters[:m.Counters], d.Metrics[:m.Metrics], d.SourceFiles[:m.SourceFiles],
		d.CallPaths[:m.CallPaths], d.Communicators[:m.Communicators], d.Topologies[:m.Topologies]}
	if len(c.Locations) == 0 {
		c.Kinds = nil
	}
	return c
}

func (w *Writer) state() *State {
	d := &w.Def
	st := &State{Own: d.ownDefinitions(), Properties: d.Properties, Format: w.Opt.Format, Texts: w.Texts.Count(),
		Forgot: w.Texts.Forgot(), Before: w.shared.before, Covered: SpanState(w.Covered), Links: w.LinkRows.Len(),
		Facts: w.shared.facts}
	for _, s := range d.Series {
		st.Series = append(st.Series, SeriesState{s.Location, s.Count, s.Disordered})
	}
	for _, s := range w.Streams {
		if s != nil && (s.Tail >= 0 || s.Gaps) {
			st.Streams = append(st.Streams, StreamState{s.Location, s.First, s.Last, s.RoundedTimes, s.Tail, s.Rows,
				s.Instants, s.Samples, s.Facts, s.InstantFacts, s.Unordered, s.ByName, s.ByParent, s.Intervals,
				s.Disordered, s.Gaps})
		}
	}
	st.During, st.After = since(w.shared.before, w.shared.during), since(w.shared.during, w.Told.Entries)
	return st
}

// sum is a checksum of definitions; values of attributes have no fields to be printed.
func (c *Common) sum() uint32 {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	w := bufio.NewWriter(h)
	var buf []byte
	text := func(s string) {
		buf = append(binary.AppendUvarint(buf, uint64(len(s))), s...)
	}
	number := func(list ...int64) {
		for _, n := range list {
			buf = binary.AppendVarint(buf, n)
		}
	}
	attributes := func(list []trace.Attribute) {
		number(int64(len(list)))
		for _, a := range list {
			text(a.Key)
			buf, _ = a.Value.AppendBinary(buf)
		}
	}
	for i := range c.Locations {
		l := &c.Locations[i]
		text(l.Name)
		number(l.Order, int64(l.Parent), int64(l.Rank), int64(l.Kind))
		if l.Attributes != nil {
			attributes(*l.Attributes)
		}
		w.Write(buf)
		buf = buf[:0]
	}
	for i := range c.Regions {
		r := &c.Regions[i]
		text(r.Name)
		text(r.Category)
		text(r.File)
		number(int64(r.Line), int64(r.Role))
		attributes(r.Attributes)
		w.Write(buf)
		buf = buf[:0]
	}
	fmt.Fprintln(w, c.Sorted, c.Kinds, c.Attributes, c.Counters, c.Metrics, c.SourceFiles, c.CallPaths, c.Communicators,
		c.Topologies)
	w.Flush()
	return h.Sum32()
}

// SaveRecords writes records that each yields to a file.
func SaveRecords[T any](path string, each func(func(*T) error) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<18)
	var one [1]T
	err = each(func(r *T) error {
		one[0] = *r
		_, err := w.Write(spool.BytesOf(one[:]))
		return err
	})
	return errors.Join(err, w.Flush(), f.Close())
}

// LoadRecords yields them, some at a time.
func LoadRecords[T any](path string, f func([]T) error) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	buf := make([]T, 4096)
	for {
		n, err := io.ReadFull(file, spool.BytesOf(buf))
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		k := n / int(spool.SizeOf[T]())
		if k == 0 {
			return nil
		}
		if err := f(buf[:k]); err != nil {
			return err
		}
	}
}
