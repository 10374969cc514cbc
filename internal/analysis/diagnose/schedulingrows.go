package diagnose

// Time that goroutines of one function run alone, or wait, as rows for SQL.

import (
	"context"
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// What a SchedulingRow is about.
const (
	runsAlone  = "alone"           // goroutines of one function run, and no other of the program
	idlesAlone = "idle meanwhile"  // a processor idles in that time
	idlesLock  = "idle for a lock" // the same, but it idles for a lock: time below 0
	holdsLock  = "held by a lock"  // goroutines wait for a lock while others run up to where they give it back; with
	// ", " and what these do, if they do not run
	holdsSend = "held by receiver" // goroutines wait to send while others run up to where they receive; the same
)

// A SchedulingRow is a piece of time that goroutines of one function cost.
type SchedulingRow struct {
	What       string
	Location   trace.LocationID // goroutines that run
	Waits      trace.LocationID // goroutines that wait, or NoLocation
	Function   string           // that runs alone
	Place      string           // function and line where the lock is given back, or where it is received
	Begin, End trace.Time
	Time       trace.Time
}

// SchedulingRows yields the time in which goroutines of one function run alone, and that in which some wait for a
// lock or a receiver, piece by piece. A run without goroutines has none.
func SchedulingRows(ctx context.Context, q *Question, add func(*SchedulingRow) error) error {
	f, err := gather(ctx, q)
	if err != nil || len(f.processors) == 0 || f.profile {
		return err
	}
	s, err := newScheduler(newDiagnosis(ctx, f))
	if err != nil || s.capacity <= 0 {
		return err
	}
	var failed error
	s.note = func(x *SchedulingRow) {
		if failed == nil {
			failed = add(x)
		}
	}
	for _, find := range []func() error{s.findAlone, s.followWakes} {
		if err := find(); err != nil {
			return err
		}
	}
	return failed
}

// noteAlone yields a stretch in which one function runs alone.
func (s *scheduler) noteAlone(what string, region trace.RegionID, begin, end, time trace.Time) {
	if s.note != nil {
		name := s.regions[region].Name
		s.note(&SchedulingRow{What: what, Location: s.at(name), Waits: trace.NoLocation, Function: name, Begin: begin,
			End: end, Time: time})
	}
}

// aloneQuery asks for something of the time in which a function runs alone, or processors idle meanwhile.
func (s *scheduler) aloneQuery(what, function string, kinds ...string) string {
	for i := range kinds {
		kinds[i] = quoted(kinds[i])
	}
	return s.schedulingQuery(what, fmt.Sprintf("what in (%s) and function = %s", strings.Join(kinds, ", "),
		quoted(function)))
}

// schedulingQuery asks for something of the table of these rows; "" of a choice of locations, which the table has not.
func (s *scheduler) schedulingQuery(what, where string) string {
	if s.question.Selection.Locations != nil {
		return ""
	}
	return fmt.Sprintf("select %s from scheduling(%d, %d) where %s", what, s.window.Begin, s.window.End, where)
}
