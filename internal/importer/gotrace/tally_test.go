package gotrace

import (
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A tally is a trace.Writer that numbers definitions and counts records, and keeps
// nothing: what an import into it takes is what reading takes.
type tally struct {
	trace.Writer // nil: what the reader does not use
	defined      atomic.Uint32
	links        int64
	records      tallyStream
}

type tallyStream struct{ intervals, attributes, others int64 }

func (t *tally) next() uint32                                              { return t.defined.Add(1) - 1 }
func (t *tally) Location(trace.Location) trace.LocationID                  { return trace.LocationID(t.next()) }
func (t *tally) Region(trace.Region) trace.RegionID                        { return trace.RegionID(t.next()) }
func (t *tally) Attribute(string) trace.AttributeID                        { return trace.AttributeID(t.next()) }
func (t *tally) Counter(trace.Counter) trace.CounterID                     { return trace.CounterID(t.next()) }
func (t *tally) Stream(trace.LocationID, trace.StreamOptions) trace.Stream { return &t.records }
func (t *tally) Link(trace.Link)                                           { t.links++ }
func (t *tally) Property(string, string)                                   {}
func (t *tally) Report(trace.ReportKind, string, int64, string)            {}

func (s *tallyStream) Enter(trace.Time, trace.RegionID)                { s.intervals++ }
func (s *tallyStream) Leave(trace.Time, trace.RegionID)                { s.others++ }
func (s *tallyStream) Interval(trace.Time, trace.Time, trace.RegionID) { s.intervals++ }
func (s *tallyStream) Instant(trace.Time, trace.RegionID)              { s.others++ }
func (s *tallyStream) Sample(trace.CounterID, trace.Time, float64)     { s.others++ }
func (s *tallyStream) Attribute(trace.AttributeID, trace.Value)        { s.attributes++ }
func (s *tallyStream) Close() error                                    { return nil }
