package stack

import "github.com/parallax-hpc/parallax/internal/trace"

// A Row shows the samples of a thread over time, on a location aside below it, and adds them up: a sample's time
// lasts until the next.
type Row struct {
	Stream trace.Stream
	total  *Profile
	thread trace.LocationID
	open   []trace.RegionID
	line   int // of the innermost
	lined  []Frame
	since  trace.Time
	any    bool
}

// Times are the metrics of samples that last.
func Times() []trace.Metric {
	return []trace.Metric{{Name: "time", Unit: "ns", Default: true}, {Name: "samples", Integer: true}}
}

// NewRow shows samples of a thread and adds them to total, whose metrics are Times.
func NewRow(w trace.Writer, total *Profile, thread trace.LocationID) *Row {
	at := w.Location(trace.Location{Parent: thread, Kind: trace.KindSamples, Name: "samples", Rank: trace.NoRank})
	return &Row{Stream: w.Stream(at, trace.StreamOptions{Unordered: true}), total: total, thread: thread}
}

// Take adds a sample, outermost region first; times do not go back.
func (r *Row) Take(t trace.Time, frames []trace.RegionID) { r.TakeAt(t, frames, 0) }

// TakeAt is Take with the line of the innermost frame; 0: not known.
func (r *Row) TakeAt(t trace.Time, frames []trace.RegionID, line int) {
	r.until(t)
	r.open, r.line, r.since, r.any = Change(r.Stream, t, r.open, frames), line, t, true
}

func (r *Row) until(t trace.Time) {
	if r.any && len(r.open) > 0 {
		r.lined = FramesAt(r.open, r.line, r.lined)
		r.total.AddFrames(r.thread, r.lined, []float64{float64(max(t-r.since, 0)), 1})
	}
}

// Close ends the last sample at t.
func (r *Row) Close(t trace.Time) error {
	t = max(t, r.since)
	r.until(t)
	Change(r.Stream, t, r.open, nil)
	return r.Stream.Close()
}
