package local

import (
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A rowSink receives rows from a Builder and writes them to the columns of
// table interval. Rows of lane 0 come in order of their place: they go to a
// buffer, and what is known later (duration, exclusive) is patched there, or in
// the file for the few intervals that are open while the buffer is written. Rows
// of other lanes follow when it is known how many lane 0 has.
type rowSink struct {
	f    *finisher
	cap  int
	base int64 // row of the first in the buffers
	own  int64 // first row of the location

	begin, duration, exclusive []trace.Time
	region                     []trace.RegionID
	parent                     []int32
	depth                      []uint16

	others *spool[trace.LaneRow] // rows of lanes past the first

	lanes  []uint32     // rows of each lane of the location
	starts []uint64     // first row of each lane, once all are known
	ends   []trace.Time // latest end of each lane
	places placeTable   // lane<<32 | row, by arrival; where facts need it
	depths int          // deepest nesting so far
	err    error
}

func (s *rowSink) init(f *finisher, share int64) {
	s.f = f
	s.cap = int(min(max(share/4/34, 64), 1<<17))
	s.others = newSpool[trace.LaneRow](f.temp, share/8)
	s.places.init(f.temp, share/8)
}

func (s *rowSink) start(j *job) { s.base = j.at.rows; s.own = s.base }

// location starts another location; keepPlaces asks for the place of each record.
func (s *rowSink) location(st *stream, keepPlaces bool) error {
	s.own = s.base + int64(len(s.begin))
	s.others.reset()
	s.lanes, s.ends = s.lanes[:0], s.ends[:0]
	if !keepPlaces {
		return nil
	}
	return s.places.make(int64(st.rows))
}

// Open implements trace.RowSink.
func (s *rowSink) Open(r *trace.LaneRow) {
	lane := int(r.Lane)
	for lane >= len(s.lanes) {
		s.lanes, s.ends = append(s.lanes, 0), append(s.ends, 0)
	}
	s.lanes[lane]++
	if s.places.at != nil {
		s.places.at[r.Seq] = uint64(r.Lane)<<32 | uint64(r.Row)
	}
	if lane == 0 {
		s.append(r)
	}
	s.depths = max(s.depths, int(r.Depth)+1)
}

func (s *rowSink) append(r *trace.LaneRow) {
	if len(s.begin) >= s.cap {
		s.fail(s.flush())
	}
	s.begin = append(s.begin, r.Begin)
	s.duration = append(s.duration, r.Duration)
	s.exclusive = append(s.exclusive, r.Exclusive)
	s.region = append(s.region, r.Region)
	s.parent = append(s.parent, r.Parent)
	s.depth = append(s.depth, r.Depth)
}

// Close implements trace.RowSink.
func (s *rowSink) Close(r *trace.LaneRow) {
	lane := int(r.Lane)
	s.ends[lane] = max(s.ends[lane], r.Begin+r.Duration)
	if lane > 0 {
		s.fail(s.others.Add(*r))
		return
	}
	if i := s.own + int64(r.Row) - s.base; i >= 0 {
		s.duration[i], s.exclusive[i] = r.Duration, r.Exclusive
		return
	}
	at := s.own + int64(r.Row)
	s.fail(s.f.files.duration.put([]trace.Time{r.Duration}, at))
	s.fail(s.f.files.exclusive.put([]trace.Time{r.Exclusive}, at))
}

// finishLocation appends the rows of the other lanes and notes what lanes there are.
func (s *rowSink) finishLocation(j *job) error {
	byPlace := order[trace.LaneRow]{key: func(r *trace.LaneRow) int64 { return int64(r.Lane)<<32 | int64(r.Row) }}
	s.fail(s.others.sorted(nil, byPlace, func(r *trace.LaneRow) error {
		s.append(r)
		return s.err
	}))
	s.starts = s.starts[:0]
	at := uint64(s.own)
	for _, n := range s.lanes {
		s.starts = append(s.starts, at)
		at += uint64(n)
	}
	j.lanes = append(j.lanes, uint32(len(s.lanes)))
	j.laneRows = append(j.laneRows, s.lanes...)
	j.laneEnd = append(j.laneEnd, s.ends...)
	return s.err
}

// row gives the row in table interval of the record that came as number seq.
func (s *rowSink) row(seq uint64) uint64 {
	if s.places.at == nil {
		return uint64(s.own) + seq
	}
	p := s.places.at[seq]
	return s.starts[p>>32] + p&(1<<32-1)
}

// flush writes the buffers.
func (s *rowSink) flush() error {
	files, at := &s.f.files, s.base
	s.fail(files.begin.put(s.begin, at))
	s.fail(files.duration.put(s.duration, at))
	s.fail(files.exclusive.put(s.exclusive, at))
	s.fail(files.region.put(s.region, at))
	s.fail(files.parent.put(s.parent, at))
	s.fail(files.depth.put(s.depth, at))
	s.base += int64(len(s.begin))
	s.begin, s.duration, s.exclusive = s.begin[:0], s.duration[:0], s.exclusive[:0]
	s.region, s.parent, s.depth = s.region[:0], s.parent[:0], s.depth[:0]
	return s.err
}

func (s *rowSink) close() {
	s.others.close()
	_ = s.places.drop()
}

func (s *rowSink) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}
