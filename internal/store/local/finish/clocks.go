package finish

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/clock"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Processes have clocks of their own. Clock skew that their recorder did not correct shows if a message arrives before
// it is sent, or a collective operation is left before all have entered. Then the clocks are fitted to each other
// (package clock) before rows are made, so that all results are on one clock. Attributes of the processes record the
// correction: its offset, and its drift per nanosecond since.

// clocks are the corrections of the clocks of processes.
type clocks struct {
	of    []int32 // by location as it was defined: its clock, -1 for none
	owner []trace.LocationID
	lines []clock.Line
}

const (
	// mayBeEarly is how long, in ns, an effect may come before its cause without a report: times are rounded.
	mayBeEarly = 1000
	// clockRounds is how often clocks are fitted. Each round also takes as bounds the pairs that were early after the
	// round before, and sees the tightest of the bounds that a drift had hidden.
	clockRounds = 4
	// mostLeft is the largest share of early pairs that may stay early after a useful fit: wrong pairs contradict each
	// other.
	mostLeft = 0.1
	// earlyShare is the part of messages or of collectives that is early where clocks disagree.
	earlyShare = 0.02
)

// A disorder counts effects that come before their causes.
type disorder struct {
	messages, early  int64
	meetings, broken int64
	worst            trace.Time
}

func (d *disorder) all() int64 { return d.early + d.broken }

// shows reports whether so much is early that times of processes cannot be compared.
func (d *disorder) shows() bool {
	return float64(d.early) > earlyShare*float64(d.messages) || float64(d.broken) > earlyShare*float64(d.meetings)
}

func (d *disorder) String() string {
	return fmt.Sprintf("%d of %d messages and %d of %d collectives", d.early, d.messages, d.broken, d.meetings)
}

// lineOf returns the correction of a location, by its number as it was defined.
func (f *finisher) lineOf(id trace.LocationID) clock.Line {
	if f.clocks == nil {
		return clock.Line{}
	}
	return f.clocks.line(id)
}

func (c *clocks) line(id trace.LocationID) clock.Line {
	if int(id) >= len(c.of) || c.of[id] < 0 {
		return clock.Line{}
	}
	return c.lines[c.of[id]]
}

// fitClocks fits the clocks where they disagree, or where it is asked for.
func (f *finisher) fitClocks() error {
	if f.Opt.Align == "" {
		return nil
	}
	asked := f.Opt.Align == "messages" || f.Opt.Align == "collectives"
	if !f.Backwards && !asked || f.MomentRows.Any() || len(f.Kin) > 0 || len(f.Far) > 0 {
		return nil // sums of moments have no times of their own; spans their reader compares
	}
	if err := f.loadLinks(); err != nil {
		return err
	}
	c := f.findClocks()
	before, err := f.disorder(c)
	if err != nil || before.all() == 0 && !asked || len(c.owner) < 2 {
		return err
	}
	matched := f.matches != nil && f.matches.fit // collectives by the order of calls, which need not be
	if matched && !asked && (f.Opt.Align == "none" || before.meetings < leastMatched || !before.shows()) {
		return nil
	}
	if f.Opt.Align == "none" {
		f.reportDisorder(before, "--align none keeps clocks as they were recorded")
		return nil
	}
	result, err := f.fit(c)
	if err != nil {
		return err
	}
	after, err := f.disorder(c)
	switch {
	case err != nil:
		return err
	case matched && after.shows():
		return nil
	case !asked && float64(after.all()) > mostLeft*float64(before.all()):
		f.reportDisorder(before, "no offsets of the clocks put them in order")
		return nil
	case result.Moved == 0 && asked:
		f.Report(trace.MissingAlignment,
			"alignment by "+f.Opt.Align+" (the trace holds none that compare clocks)", 1, "")
		return nil
	}
	f.clocks = c
	f.reportFit(c, result, before, after)
	return nil
}

// findClocks gives every location the clock of its process, in the order of the tree.
func (f *finisher) findClocks() *clocks {
	c := &clocks{of: make([]int32, len(f.Def.Locations))}
	for _, id := range f.order.old { // parents come first
		l := &f.Def.Locations[id]
		c.of[id] = -1
		own := f.Def.Kinds[l.Kind] == trace.KindProcess
		if l.Parent != trace.NoLocation {
			c.of[id] = c.of[l.Parent]
		}
		if above := c.of[id]; !own && l.Rank >= 0 {
			own = above < 0 || !f.isProcess(c.owner[above])
		} else if !own && above < 0 {
			own = int(id) < len(f.Streams) && f.Streams[id] != nil
		}
		if own {
			c.of[id] = int32(len(c.owner))
			c.owner = append(c.owner, id)
		}
	}
	c.lines = make([]clock.Line, len(c.owner))
	return c
}

// isProcess reports whether the locations below a location are on its clock.
func (f *finisher) isProcess(id trace.LocationID) bool {
	l := &f.Def.Locations[id]
	return f.Def.Kinds[l.Kind] == trace.KindProcess || l.Rank >= 0
}

// eachMessage calls give for messages from one clock to another, with their times on the common clock.
func (f *finisher) eachMessage(c *clocks, give func(from, to int32, sent, received trace.Time)) error {
	return f.LinkRows.Each(func(r *write.LinkRecord) error {
		if r.Kind != trace.LinkMessage || int(r.FromLocation) >= len(c.of) || int(r.ToLocation) >= len(c.of) {
			return nil
		}
		if from, to := c.of[r.FromLocation], c.of[r.ToLocation]; from >= 0 && to >= 0 && from != to {
			give(from, to, c.lines[from].At(r.FromTime), c.lines[to].At(r.ToTime))
		}
		return nil
	})
}

// eachMeeting does so for collective operations.
func (f *finisher) eachMeeting(c *clocks, give func(*trace.Meeting)) error {
	m := trace.Meeting{Root: -1}
	return f.Meetings.Each(func(a *write.Attendance) error {
		if a.Root {
			m.Root = len(m.Members)
		}
		line := c.line(a.Location)
		m.Flow = a.Flow
		m.Members = append(m.Members, trace.Member{Location: a.Location, Begin: line.At(a.Begin), End: line.At(a.End)})
		if a.Last {
			give(&m)
			m = trace.Meeting{Root: -1, Members: m.Members[:0]}
		}
		return nil
	})
}

// disorder counts early messages and collectives on the common clock.
func (f *finisher) disorder(c *clocks) (d disorder, err error) {
	err = f.eachMessage(c, func(_, _ int32, sent, received trace.Time) {
		d.messages++
		if by := sent - received; by > mayBeEarly {
			d.early++
			d.worst = max(d.worst, by)
		}
	})
	if err != nil {
		return d, err
	}
	return d, f.eachMeeting(c, func(m *trace.Meeting) {
		d.meetings++
		if by := m.Early(); by > mayBeEarly {
			d.broken++
			d.worst = max(d.worst, by)
		}
	})
}

// fit finds the corrections. If messages, or collectives, are asked for, the others only join groups of clocks that
// these leave apart.
func (f *finisher) fit(c *clocks) (*clock.Result, error) {
	var best []clock.Line
	var last *clock.Result
	least := disorder{early: math.MaxInt64 >> 1}
	for range clockRounds {
		r, err := f.fitOnce(c)
		if err != nil {
			return nil, err
		}
		for i := range c.lines {
			c.lines[i] = c.lines[i].Then(r.Lines[i])
		}
		d, err := f.disorder(c)
		if err != nil {
			return nil, err
		}
		if d.all() < least.all() || d.all() == least.all() && d.worst < least.worst {
			best, least, last = slices.Clone(c.lines), d, r
		}
		if d.all() == 0 && r.Drifting == 0 {
			break
		}
	}
	c.lines = best
	last.Moved, last.Drifting, last.Largest = 0, 0, 0
	for _, l := range best {
		if l.Moves() {
			last.Moved++
		}
		if l.Drift != 0 {
			last.Drifting++
		}
		last.Largest = max(last.Largest, trace.Time(math.Abs(math.Round(l.Offset))))
	}
	return last, nil
}

func (f *finisher) fitOnce(c *clocks) (*clock.Result, error) {
	fit := clock.New(len(c.lines))
	messages := func() error {
		return f.eachMessage(c, func(from, to int32, sent, received trace.Time) {
			fit.Before(int(from), int(to), sent, received)
		})
	}
	collectives := func() error {
		return f.eachMeeting(c, func(m *trace.Meeting) {
			m.Pairs(func(from, to *trace.Member) {
				fit.Before(int(c.of[from.Location]), int(c.of[to.Location]), from.Begin, to.End)
			})
		})
	}
	first, second := messages, collectives
	if f.Opt.Align == "collectives" {
		first, second = second, first
	}
	if err := first(); err != nil {
		return nil, err
	}
	if f.Opt.Align == "messages" || f.Opt.Align == "collectives" {
		if r := fit.Solve(); r.Groups == 1 {
			return r, nil
		}
	}
	if err := second(); err != nil {
		return nil, err
	}
	return fit.Solve(), nil
}

// reportDisorder says that times of processes cannot be compared.
func (f *finisher) reportDisorder(d disorder, because string) {
	if !d.shows() {
		return
	}
	worst := fmt.Sprintf("the worst by %v", duration(d.worst))
	if d.early > 0 {
		f.Report(trace.Guessed, "messages that arrive before they are sent: "+because, d.early,
			fmt.Sprintf("of %d messages; %s", d.messages, worst))
	}
	if d.broken > 0 {
		f.Report(trace.Guessed, "collectives that a process leaves before another has entered: "+because, d.broken,
			fmt.Sprintf("of %d collectives; %s", d.meetings, worst))
	}
}

// reportFit says how clocks were moved, and how well that fits.
func (f *finisher) reportFit(c *clocks, r *clock.Result, before, after disorder) {
	what := fmt.Sprintf("largest offset %v", duration(r.Largest))
	if r.Drifting > 0 {
		most := 0.0
		for _, l := range c.lines {
			most = max(most, math.Abs(l.Drift))
		}
		what += fmt.Sprintf(", %d drift by up to %.3g ppm", r.Drifting, most*1e6)
	}
	what += fmt.Sprintf(", residual %v", duration(r.Residual))
	f.Report(trace.Repaired, "clocks of processes fitted to each other, since effects came before their causes; "+
		"--align none keeps them as they were recorded", int64(r.Moved), what)
	early := fmt.Sprintf("%v came too early, by up to %v", &before, duration(before.worst))
	if after.all() > 0 {
		early += fmt.Sprintf("; %v still do, by up to %v", &after, duration(after.worst))
	}
	f.Property("clock alignment", what+"; "+early)
	if after.shows() {
		f.reportDisorder(after, "after the clocks were fitted")
	}
	if n := apart(r); n > 1 {
		f.Report(trace.Guessed,
			"groups of processes that share neither messages nor collectives: their clocks are not "+
				"aligned with each other", int64(n), "")
	}
	for i, id := range c.owner {
		if l := c.lines[i]; l.Moves() {
			f.Describe(id, trace.Location{Rank: trace.NoRank, Attributes: f.recorded(l)})
		}
	}
}

// apart returns the number of groups of several processes that know nothing of each other.
func apart(r *clock.Result) (n int) {
	size := make([]int, r.Groups)
	for _, g := range r.Group {
		if size[g]++; size[g] == 2 {
			n++
		}
	}
	return n
}

// recorded returns the attributes from which the recorded times of a process can be computed.
func (f *finisher) recorded(l clock.Line) []trace.Attribute {
	out := []trace.Attribute{{Key: "clock offset ns", Value: trace.Integer(int64(math.Round(l.Offset)))}}
	if l.Drift != 0 {
		out = append(out, trace.Attribute{Key: "clock drift", Value: trace.Number(l.Drift)},
			trace.Attribute{Key: "clock origin ns", Value: trace.Integer(int64(l.Origin))})
	}
	return out
}

// duration words a time for people.
func duration(t trace.Time) string {
	switch {
	case t < 10_000:
		return fmt.Sprintf("%d ns", t)
	case t < 10_000_000:
		return fmt.Sprintf("%.4g µs", float64(t)/1e3)
	case t < 10_000_000_000:
		return fmt.Sprintf("%.4g ms", float64(t)/1e6)
	}
	return fmt.Sprintf("%.6g s", float64(t)/1e9)
}
