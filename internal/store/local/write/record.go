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
	"slices"

	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A part that is read keeps the records of its streams as they are in their chunks, the halves of links by the part
// that joins them, and its definitions. Those before trace.SortRegions are the same in all parts.

// Common are the definitions that all parts have.
type Common struct {
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
	Regions    []trace.Region // defined while files were read
	Attributes []string
	Counters   []trace.Counter
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
	if w.ProfileRows.Len() > 0 || w.LineRows.Len() > 0 || w.AtomicRows.Any() || w.MomentRows.Any() || len(w.Far) > 0 {
		return 0, nil, errors.New("profiles cannot be read in parts")
	}
	if w.Def.Sorted == nil {
		return 0, nil, errors.New("definitions without an end cannot be read in parts")
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
		SaveRecords(filepath.Join(w.Dir, MeetingFile), w.Meetings.Each))
	st.Causes, st.Effects, st.Attended = s.halves[0].Blocks, s.halves[1].Blocks, s.attended.Blocks
	c := w.common()
	return c.sum(), []string{ChunkFile, TextFile, TextOffsets, LinkFile, UntimedFile, MeetingFile, HalfFiles[0],
			HalfFiles[1], AttendedFile, CommonFile, StateFile},
		errors.Join(err, SaveState(filepath.Join(w.Dir, CommonFile), c), SaveState(filepath.Join(w.Dir, StateFile), st))
}

func (w *Writer) common() *Common {
	d := &w.Def
	m := d.Sorted
	return &Common{d.Locations, d.Kinds, d.Regions[:m.Regions], d.Attributes[:m.Attributes], d.Counters[:m.Counters],
		d.Metrics, d.SourceFiles, d.CallPaths, d.Communicators, d.Topologies}
}

func (w *Writer) state() *State {
	d := &w.Def
	m := d.Sorted
	st := &State{Regions: d.Regions[m.Regions:], Attributes: d.Attributes[m.Attributes:],
		Counters: d.Counters[m.Counters:], Properties: d.Properties, Format: w.Opt.Format, Texts: w.Texts.Count(),
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
	fmt.Fprintln(w, c.Kinds, c.Attributes, c.Counters, c.Metrics, c.SourceFiles, c.CallPaths, c.Communicators,
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

// A ReadPart is a part that was read.
type ReadPart struct {
	Dir string
	*State
	IDs *IDs // nil: the run's are the same
}

// Merge makes a Writer that has the records of parts that were read, as if it had taken them itself, but for what is
// not joined yet: links, meetings and texts.
func Merge(path string, o Options, dirs []string) (*Writer, error) {
	w, err := Create(path, o)
	if err != nil {
		return nil, err
	}
	if err := w.merge(dirs); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

func (w *Writer) merge(dirs []string) error {
	var c Common
	if err := LoadState(filepath.Join(dirs[0], CommonFile), &c); err != nil {
		return err
	}
	w.setCommon(&c)
	w.Chunks.Close()
	w.Chunks.file, w.Chunks.parts = nil, []chunkPart{}
	w.Streams = make([]*Stream, len(w.Def.Locations))
	var base int64
	var texts uint64
	for i, dir := range dirs {
		p := &ReadPart{Dir: dir, State: new(State)}
		if err := LoadState(filepath.Join(dir, StateFile), p.State); err != nil {
			return err
		}
		p.IDs = w.number(p.State, texts)
		m, err := spool.MapWhole(filepath.Join(dir, ChunkFile))
		if err != nil {
			return err
		}
		if int64(len(m.Bytes)) != p.ChunkBytes {
			return fmt.Errorf("%s has %d bytes of records, want %d; remove it and import that part again", dir,
				len(m.Bytes), p.ChunkBytes)
		}
		w.Chunks.parts = append(w.Chunks.parts, chunkPart{base, m, p.IDs})
		for k := range p.State.Streams {
			if err := w.addStream(&p.State.Streams[k], base); err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
		}
		if i == 0 {
			w.Opt.Format = p.Format
		}
		for k, v := range p.Properties {
			w.Def.Properties[k] = v
		}
		w.Covered.seeAll(p.Covered)
		base += p.ChunkBytes
		texts += p.Texts
		p.State.Streams = nil
		w.Parts = append(w.Parts, p)
	}
	w.tellMerged()
	return nil
}

func (w *Writer) setCommon(c *Common) {
	d := &w.Def
	d.Locations, d.Kinds, d.Regions, d.Attributes = c.Locations, c.Kinds, c.Regions, c.Attributes
	d.Counters, d.Metrics, d.SourceFiles, d.CallPaths = c.Counters, c.Metrics, c.SourceFiles, c.CallPaths
	d.Communicators, d.Topologies = c.Communicators, c.Topologies
	d.Sorted = &Sorted{len(d.Regions), len(d.Attributes), len(d.Counters)}
	for i, r := range d.Regions {
		d.regionIDs[regionKey{r.Name, r.Category, r.File, r.Line}] = trace.RegionID(i)
	}
	for i, a := range d.Attributes {
		d.attributeIDs[a] = trace.AttributeID(i)
	}
	for i, x := range d.Counters {
		d.counterIDs[counterKey{x.Location, x.Name}] = trace.CounterID(i)
		d.Series = append(d.Series, &Series{Location: x.Location})
	}
	w.regions.Store(uint32(len(d.Regions)))
}

// number defines what a part has defined by itself, and returns the numbers of it.
func (w *Writer) number(st *State, texts uint64) *IDs {
	d := &w.Def
	x := &IDs{Texts: texts}
	same := texts == 0
	for i := range d.Sorted.Regions {
		x.Regions = append(x.Regions, trace.RegionID(i))
	}
	for i := range d.Sorted.Attributes {
		x.Attributes = append(x.Attributes, trace.AttributeID(i))
	}
	for i := range d.Sorted.Counters {
		x.Counters = append(x.Counters, trace.CounterID(i))
	}
	for _, r := range st.Regions {
		id := w.region(r)
		same = same && int(id) == len(x.Regions)
		x.Regions = append(x.Regions, id)
	}
	for _, a := range st.Attributes {
		id := w.Attribute(a)
		same = same && int(id) == len(x.Attributes)
		x.Attributes = append(x.Attributes, id)
	}
	for _, c := range st.Counters {
		id := w.Counter(c)
		same = same && int(id) == len(x.Counters)
		x.Counters = append(x.Counters, id)
	}
	for i, s := range st.Series {
		to := d.Series[x.Counters[i]]
		to.Disordered = to.Disordered || s.Disordered || to.Count > 0 && s.Count > 0
		to.Count += s.Count
	}
	if same {
		return nil
	}
	return x
}

// addStream adds the records of a location in one more part.
func (w *Writer) addStream(s *StreamState, base int64) error {
	if int(s.Location) >= len(w.Streams) {
		return fmt.Errorf("a stream of location %d of %d", s.Location, len(w.Streams))
	}
	tail := s.Tail
	if tail >= 0 {
		tail += base
	}
	x := w.Streams[s.Location]
	if x == nil {
		w.Streams[s.Location] = &Stream{w: w, First: s.First, Last: s.Last, RoundedTimes: s.RoundedTimes, Tail: tail,
			Rows: s.Rows, Instants: s.Instants, Samples: s.Samples, Facts: s.Facts, InstantFacts: s.InstantFacts,
			Location: s.Location, Unordered: s.Unordered, ByName: s.ByName, ByParent: s.ByParent,
			Intervals: s.Intervals, Disordered: s.Disordered, Gaps: s.Gaps}
		return nil
	}
	x.before = append(slices.Clip(x.before), x.Tail)
	x.First, x.Last, x.RoundedTimes, x.Tail = min(x.First, s.First), max(x.Last, s.Last),
		max(x.RoundedTimes, s.RoundedTimes), tail
	x.Disordered = x.Disordered || s.Disordered || x.Rows > 0 && s.Rows > 0
	x.Rows, x.Instants, x.Samples = x.Rows+s.Rows, x.Instants+s.Instants, x.Samples+s.Samples
	x.Facts, x.InstantFacts = x.Facts+s.Facts, x.InstantFacts+s.InstantFacts
	x.Unordered, x.ByName, x.ByParent = x.Unordered || s.Unordered, x.ByName || s.ByName, x.ByParent || s.ByParent
	x.Intervals, x.Gaps = x.Intervals || s.Intervals, x.Gaps || s.Gaps
	return nil
}

// tellMerged reports what the parts did: first what all of them did alike.
func (w *Writer) tellMerged() {
	for _, e := range w.Parts[0].Before {
		w.Report(e.Kind, e.What, e.Count, e.Example)
	}
	for _, p := range w.Parts {
		for _, e := range p.During {
			w.Report(e.Kind, e.What, e.Count, e.Example)
		}
	}
}

// TellFacts reports what the readers of the parts counted, and sets the properties that need all parts.
func (w *Writer) TellFacts() {
	var lines [][]match.Line
	sums := map[string]int64{}
	first := map[int]match.First{}
	for _, p := range w.Parts {
		f := &p.Facts
		lines = append(lines, f.Lines)
		for k, n := range f.Sums {
			sums[k] += n
		}
		for i, x := range f.First {
			if old, known := first[i]; x.Place >= 0 && (!known || x.Place < old.Place) {
				first[i] = x
			}
		}
	}
	for _, l := range match.MergeLines(lines) {
		w.Report(l.Kind, l.What, l.Count, l.Example)
	}
	for _, e := range w.Parts[0].After {
		w.Report(e.Kind, e.What, e.Count, e.Example)
	}
	for k, n := range sums {
		if n > 0 {
			w.Property(k, fmt.Sprint(n))
		}
	}
	for _, x := range first {
		for k, v := range x.Properties {
			w.Property(k, v)
		}
	}
}

// Owns reports whether the records of a stream are those of a part, counted from 0; of one in several parts the last
// part has them.
func (w *Writer) Owns(s *Stream, part int) bool {
	p := &w.Chunks.parts[part]
	return s.Tail >= p.base && s.Tail < p.base+int64(len(p.mapped.Bytes))
}

// SeeLinks takes the span of links.
func (w *Writer) SeeLinks(s SpanState) { w.LinkSpan.seeAll(s) }
