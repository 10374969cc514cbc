package write

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

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
		ids, err := w.number(p.State, texts)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		p.IDs = ids
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
			p.State.Streams[k].Location = p.IDs.Location(p.State.Streams[k].Location)
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
		p.State.Streams, p.State.Own = nil, OwnDefinitions{}
		w.Parts = append(w.Parts, p)
	}
	w.mergePlaces()
	w.tellMerged()
	return w.conclude()
}

// mergePlaces puts together which locations halves and participations are of: a part may know only its own.
func (w *Writer) mergePlaces() {
	f := &w.Parts[0].Facts
	for _, p := range w.Parts {
		for _, lists := range [2][2][]trace.LocationID{{f.Places, p.Facts.Places}, {f.Processes, p.Facts.Processes}} {
			all, own := lists[0], lists[1]
			for i := range min(len(all), len(own)) {
				if own[i] != trace.NoLocation {
					all[i] = p.IDs.Location(own[i])
				}
			}
		}
	}
}

// conclude lets the format say what it knows of all parts together.
func (w *Writer) conclude() error {
	if len(w.Parts[0].Facts.Told) == 0 {
		return nil
	}
	if w.Opt.Conclude == nil {
		return errors.New("parts of this format are joined by parallax")
	}
	var told []match.Told
	for _, p := range w.Parts {
		told = append(told, match.Told{Data: p.Facts.Told, IDs: p.IDs})
	}
	return w.Opt.Conclude(w.Opt.Format, w, told)
}

func (w *Writer) setCommon(c *Common) {
	d := &w.Def
	d.Locations, d.Kinds, d.Regions, d.Attributes = c.Locations, c.Kinds, c.Regions, c.Attributes
	d.Counters, d.Metrics, d.SourceFiles, d.CallPaths = c.Counters, c.Metrics, c.SourceFiles, c.CallPaths
	d.Communicators, d.Topologies = c.Communicators, c.Topologies
	d.keys = make([]string, len(d.Locations)) // none is looked for again
	if c.Sorted {
		d.sortFromHere()
	}
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

// addStream adds the records of a location in one more part.
func (w *Writer) addStream(s *StreamState, base int64) error {
	if int(s.Location) >= len(w.Def.Locations) {
		return fmt.Errorf("a stream of location %d of %d", s.Location, len(w.Def.Locations))
	}
	if n := len(w.Def.Locations) - len(w.Streams); n > 0 {
		w.Streams = append(w.Streams, make([]*Stream, n)...)
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

// Before returns the ends of a location's records in parts before the last that has some.
func (s *Stream) Before() []int64 { return s.before }

// Owns reports whether the records of a stream are those of a part, counted from 0; of one in several parts the last
// part has them.
func (w *Writer) Owns(s *Stream, part int) bool {
	p := &w.Chunks.parts[part]
	return s.Tail >= p.base && s.Tail < p.base+int64(len(p.mapped.Bytes))
}

// SeeLinks takes the span of links.
func (w *Writer) SeeLinks(s SpanState) { w.LinkSpan.seeAll(s) }
