package write

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A LinkRecord is a link on its way through a spool. Rows are found at the end.
type LinkRecord struct {
	FromTime, ToTime         trace.Time
	Size, Tag, Count         int64
	FromLocation, ToLocation trace.LocationID
	FromRegion, ToRegion     trace.RegionID
	FromNumber, ToNumber     uint32
	Communicator             trace.CommunicatorID
	Kind                     trace.LinkKind
}

// set fills every field by itself: a value made first and copied then waits for its own
// stores, and took twice as long.
func (r *LinkRecord) set(l *trace.Link) {
	r.FromTime, r.ToTime = l.From.Time, l.To.Time
	r.Size, r.Tag, r.Count = l.Size, l.Tag, l.Count
	r.FromLocation, r.ToLocation = l.From.Location, l.To.Location
	r.FromRegion, r.ToRegion = l.From.Region, l.To.Region
	r.FromNumber, r.ToNumber = l.From.Number, l.To.Number
	r.Communicator, r.Kind = l.Communicator, l.Kind
}

// Link implements trace.Writer.
func (w *Writer) Link(l trace.Link) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.link(&l)
}

// Links implements trace.LinkTaker.
func (w *Writer) Links(list []trace.Link) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	for i := range list {
		w.link(&list[i])
	}
}

func (w *Writer) link(l *trace.Link) {
	to := w.LinkRows
	if l.Untimed {
		to = w.UntimedRows
	} else {
		w.LooseLinks = w.LooseLinks || l.From.Number == 0 || l.To.Number == 0
		w.LinkSpan.See(l.From.Time)
		w.LinkSpan.See(l.To.Time)
		if l.Kind == trace.LinkMessage && l.To.Time < l.From.Time {
			w.Backwards = true
		}
		if l.Kind == trace.LinkSpawn && l.From.Location == l.To.Location && l.From.Number > 0 && l.To.Number > 0 {
			w.relate(l.To.Location, l.To.Number, l.From.Number)
		}
		if l.Kind == trace.LinkSpawn && l.From.Location != l.To.Location && l.From.Number > 0 && l.To.Number > 0 &&
			w.anyByParent.Load() {
			if len(w.Far) == cap(w.Far) {
				w.Far = slices.Grow(w.Far, len(w.Far)+64) // twice as many: append would copy all four times as often
			}
			w.Far = append(w.Far, FarKin{l.From.Location, l.To.Location, l.From.Number, l.To.Number})
		}
	}
	r, err := to.Next()
	if err != nil {
		w.failRow(err)
		return
	}
	r.set(l)
	r.FromRegion, r.ToRegion = w.plain(r.FromRegion), w.plain(r.ToRegion)
}

// An Attendance is a member of a meeting on its way through a spool; those of one meeting follow each other.
type Attendance struct {
	trace.Member
	Flow trace.Flow
	Root bool
	Last bool // of its meeting
}

// Meet implements trace.MeetingTaker.
func (w *Writer) Meet(m *trace.Meeting) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.Backwards = w.Backwards || m.Early() > 0
	for i, x := range m.Members {
		w.failRow(w.Meetings.Add(Attendance{x, m.Flow, i == m.Root, i == len(m.Members)-1}))
	}
}

// Profile implements trace.Writer.
func (w *Writer) Profile(r trace.ProfileRow) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.failRow(w.ProfileRows.Add(r))
}

// Lines implements trace.LineTaker.
func (w *Writer) Lines(rows []trace.LineRow) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.failRow(w.LineRows.AddAll(rows))
}

// Atomic implements trace.Writer.
func (w *Writer) Atomic(r trace.AtomicRow) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.failRow(w.AtomicRows.add([]trace.AtomicRow{r}))
}

// Moments implements trace.Writer.
func (w *Writer) Moments(r trace.MomentRow) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.moments(&r)
	w.addMoments()
}

// Rows implements trace.RowTaker.
func (w *Writer) Rows(r *trace.Rows) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.failRow(w.ProfileRows.AddAll(r.Profile))
	w.failRow(w.AtomicRows.add(r.Atomic))
	for i := range r.Moments {
		w.moments(&r.Moments[i])
	}
	w.addMoments()
}

// A MomentRecord is moments on their way through a spool. Those of recorders have no more than two central sums, half
// as many as a row may have: others follow in records of their own, which are the same in all that is compared.
type MomentRecord struct {
	Begin, End   trace.Time
	Weight, Mean float64
	M2, M3       float64
	Location     trace.LocationID
	Role         trace.Role
	Part         uint8 // 1: Weight to M3 are M4 to M7, 2: M8, M0 and M1
}

func (w *Writer) moments(m *trace.MomentRow) {
	w.Covered.See(m.Begin)
	w.Covered.See(m.End)
	c := &m.Central
	more := uint64(0)
	for _, k := range [...]int{0, 1, 4, 5, 6, 7, 8} {
		more |= math.Float64bits(c[k])
	}
	if more == 0 {
		w.batchMoments(m, 0, m.Weight, m.Mean, c[2], c[3])
		return
	}
	w.addMoments()
	w.MomentRows.closed = true // records of one row stay together
	w.batchMoments(m, 0, m.Weight, m.Mean, c[2], c[3])
	w.batchMoments(m, 1, c[4], c[5], c[6], c[7])
	w.batchMoments(m, 2, c[8], c[0], c[1], 0)
}

func (w *Writer) batchMoments(m *trace.MomentRow, part uint8, a, b, c, d float64) {
	w.momentBatch = append(w.momentBatch, MomentRecord{})
	r := &w.momentBatch[len(w.momentBatch)-1]
	r.Begin, r.End, r.Location, r.Role, r.Part = m.Begin, m.End, m.Location, m.Role, part
	r.Weight, r.Mean, r.M2, r.M3 = a, b, c, d
}

func (w *Writer) addMoments() {
	w.failRow(w.MomentRows.add(w.momentBatch))
	w.momentBatch = w.momentBatch[:0]
}

// failRow keeps the first failure: these methods give no error, Finish does.
func (w *Writer) failRow(err error) {
	if err != nil && w.RowErr == nil {
		w.RowErr = err
	}
}

// A FarKin says that an interval was called from another location; both by their number.
type FarKin struct {
	From, To             trace.LocationID // as they were defined
	FromNumber, ToNumber uint32
}

// relate notes the parent of an interval, both by their number on the stream. The first
// word counts.
func (w *Writer) relate(at trace.LocationID, child, parent uint32) {
	list := w.Kin[at]
	if int(child) > len(list) {
		list = slices.Grow(list, int(child)-len(list))[:child]
		w.Kin[at] = list
	}
	if list[child-1] == 0 {
		list[child-1] = parent
	}
}

// byStart orders links by the time at which they start, then by their ends, so that
// readers may give them from several goroutines, then as they came.
var ByStart = spool.Order[LinkRecord]{
	Key: func(r *LinkRecord) int64 { return int64(r.FromTime) },
	Ties: func(a, b *LinkRecord) int {
		return cmp.Or(
			cmp.Compare(a.FromLocation, b.FromLocation), cmp.Compare(a.ToLocation, b.ToLocation),
			cmp.Compare(a.ToTime, b.ToTime),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Size, b.Size),
		)
	},
}

// Rows of profiles are sorted by location as it was defined, so that where locations keep their order, as they do in
// files that name them in that of their ranks, nothing is sorted again.
var (
	ByPath = spool.Order[trace.ProfileRow]{
		Key: func(r *trace.ProfileRow) int64 { return int64(r.Location) },
		Ties: func(a, b *trace.ProfileRow) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Metric, b.Metric))
		},
	}
	ByLine = spool.Order[trace.LineRow]{
		Key: func(r *trace.LineRow) int64 { return int64(r.Location) },
		Ties: func(a, b *trace.LineRow) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
				cmp.Compare(a.Callee, b.Callee), cmp.Compare(a.Metric, b.Metric))
		},
	}
	AtomicByPath = spool.Order[trace.AtomicRow]{
		Key: func(r *trace.AtomicRow) int64 { return int64(r.Location) },
		Ties: func(a, b *trace.AtomicRow) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Metric, b.Metric))
		},
	}
	ByBegin = spool.Order[MomentRecord]{
		Key: func(r *MomentRecord) int64 { return int64(r.Location) },
		Ties: func(a, b *MomentRecord) int {
			return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Role, b.Role))
		},
	}
)
