package finish

import (
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A rowSink receives rows from a Builder and writes them to the columns of table interval. Rows of lane 0 come in
// order of their place: they go to a buffer, and values that are known later (duration, exclusive) are patched there,
// or in the file for the few intervals that are open while the buffer is written. Rows of other lanes follow when it
// is known how many lane 0 has.
//
// A StackBuilder writes to the buffer itself.
type rowSink struct {
	f    *finisher
	rows trace.StackRows // the buffer
	own  int64           // first row of the location

	others *spool.Spool[trace.LaneRow] // rows of lanes past the first

	lanes  []uint32     // rows of each lane of the location
	starts []uint64     // first row of each lane, once all are known
	ends   []trace.Time // latest end of each lane
	places placeTable   // lane<<32 | row, by arrival; where facts need it
	depths int          // deepest nesting so far
	kin    kin          // of the location
	open   [][2]int32   // lane and row of those that were never left
	err    error
}

// sinkRows is how many rows the buffer has at most: it stays in a core's cache while
// it is filled, patched and written.
const sinkRows = 1 << 15

func (s *rowSink) init(f *finisher, share int64) {
	s.f = f
	most := int64(sinkRows)
	if f.packing {
		most = jobRecords // so that most jobs are packed from the buffer
	}
	n := int(min(max(share/4/34, 64), most))
	s.rows = trace.StackRows{
		Begin: make([]trace.Time, n), Duration: make([]trace.Time, n), Exclusive: make([]trace.Time, n),
		Region: make([]trace.RegionID, n), Parent: make([]int32, n), Depth: make([]uint16, n),
		Flush: func() { s.fail(s.flush()) },
		Late:  s.late,
	}
	s.others = spool.NewSpool[trace.LaneRow](f.Temp, share/8)
	s.places.init(f.Temp, share/8)
}

func (s *rowSink) start(j *job) { s.rows.First = j.at.rows; s.own = s.rows.First }

// location starts another location; keepPlaces asks for the place of each record.
func (s *rowSink) location(st *write.Stream, keepPlaces bool) error {
	s.own = s.rows.First + int64(s.rows.N)
	s.others.Reset()
	s.lanes, s.ends = s.lanes[:0], s.ends[:0]
	s.kin.reset()
	s.open = s.open[:0]
	if !keepPlaces {
		return nil
	}
	return s.places.make(int64(st.Rows))
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
	if r.Caller > 0 {
		s.kin.callers = append(s.kin.callers, kinCaller{uint64(r.Seq), uint64(r.Caller - 1)})
	}
}

// Cover implements trace.CoverSink.
func (s *rowSink) Cover(lane, row int32, begin, end trace.Time) {
	s.kin.covers = append(s.kin.covers, kinCover{lane, row, begin, end})
}

func (s *rowSink) append(r *trace.LaneRow) {
	c := &s.rows
	if c.N >= len(c.Begin) {
		s.fail(s.flush())
	}
	i := c.N
	c.N++
	c.Begin[i], c.Duration[i], c.Exclusive[i] = r.Begin, r.Duration, r.Exclusive
	c.Region[i], c.Parent[i], c.Depth[i] = r.Region, r.Parent, r.Depth
}

// Close implements trace.RowSink.
func (s *rowSink) Close(r *trace.LaneRow) {
	lane := int(r.Lane)
	s.ends[lane] = max(s.ends[lane], r.Begin+r.Duration)
	if r.Unclosed {
		s.open = append(s.open, [2]int32{r.Lane, r.Row})
	}
	if lane > 0 {
		s.fail(s.others.Add(*r))
		return
	}
	row := s.own + int64(r.Row)
	if i := row - s.rows.First; i >= 0 {
		s.rows.Duration[i], s.rows.Exclusive[i] = r.Duration, r.Exclusive
		return
	}
	s.late(row, r.Duration, r.Exclusive)
}

// late closes a row that was written while it was open.
func (s *rowSink) late(row int64, duration, exclusive trace.Time) {
	s.fail(s.f.files.duration.Put([]trace.Time{duration}, row))
	s.fail(s.f.files.exclusive.Put([]trace.Time{exclusive}, row))
}

// stacked takes note of rows that a StackBuilder wrote to the buffer.
func (s *rowSink) stacked(rows uint32, depth int, last trace.Time) {
	if rows == 0 {
		return
	}
	s.lanes, s.ends = append(s.lanes, rows), append(s.ends, last)
	s.depths = max(s.depths, min(depth, 1<<16))
}

// finishLocation appends the rows of the other lanes and records the lanes.
func (s *rowSink) finishLocation(j *job) error {
	byPlace := spool.Order[trace.LaneRow]{Key: func(r *trace.LaneRow) int64 { return int64(r.Lane)<<32 | int64(r.Row) }}
	s.fail(s.others.Sorted(nil, byPlace, func(r *trace.LaneRow) error {
		s.append(r)
		return s.err
	}))
	s.starts = s.starts[:0]
	at := uint64(s.own)
	for _, n := range s.lanes {
		s.starts = append(s.starts, at)
		at += uint64(n)
	}
	for _, at := range s.open {
		j.unclosed = append(j.unclosed, int64(s.starts[at[0]])+int64(at[1]))
	}
	j.lanes = append(j.lanes, uint32(len(s.lanes)))
	j.laneRows = append(j.laneRows, s.lanes...)
	j.laneEnd = append(j.laneEnd, s.ends...)
	return s.err
}

// row returns the row in table interval of the record that came as number seq.
func (s *rowSink) row(seq uint64) uint64 {
	if s.places.at == nil {
		return uint64(s.own) + seq
	}
	p := s.places.at[seq]
	return s.starts[p>>32] + p&(1<<32-1)
}

// flush writes the buffer.
func (s *rowSink) flush() error {
	s.renumber()
	s.put(0, s.rows.N)
	s.empty()
	return s.err
}

// renumber gives the regions of the buffer the store's numbers.
func (s *rowSink) renumber() {
	if number := s.f.regionNumber; number != nil {
		for i, id := range s.rows.Region[:s.rows.N] {
			s.rows.Region[i] = number[id]
		}
	}
}

// put writes rows [lo, hi) of the buffer.
func (s *rowSink) put(lo, hi int) {
	files, c := &s.f.files, &s.rows
	at := c.First + int64(lo)
	s.fail(files.begin.Put(c.Begin[lo:hi], at))
	s.fail(files.duration.Put(c.Duration[lo:hi], at))
	s.fail(files.exclusive.Put(c.Exclusive[lo:hi], at))
	s.fail(files.region.Put(c.Region[lo:hi], at))
	s.fail(files.parent.Put(c.Parent[lo:hi], at))
	s.fail(files.depth.Put(c.Depth[lo:hi], at))
}

func (s *rowSink) empty() {
	s.rows.First += int64(s.rows.N)
	s.rows.N = 0
}

func (s *rowSink) close() {
	s.others.Close()
	_ = s.places.drop()
}

func (s *rowSink) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}
