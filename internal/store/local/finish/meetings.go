package finish

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Few sources tell which calls of processes are one collective operation. Without communicators the k-th calls of a
// name belong together, on all processes that call it. Where everybody waits for all, their times must overlap: else
// the match is refused and counted. Without any message they are all that compares clocks.

const (
	// mostMatched is of how many calls collectives are matched: some 100 MB.
	mostMatched = 4 << 20
	// leastMatched is how many collectives move clocks: fewer may belong together by chance.
	leastMatched = 8
)

// matches are collective operations that were matched by the order of calls.
type matches struct {
	all     []trace.Meeting
	unequal int64 // calls of operations that some processes call more often than others
	fit     bool  // clocks are compared by them
}

// A meetingCall is a call of a collective operation.
type meetingCall struct {
	region trace.RegionID
	trace.Member
}

// matchMeetings finds collective operations in which everybody waits for all, where the source tells of none.
func (f *finisher) matchMeetings(ctx context.Context) error {
	if f.Opt.Align == "" || f.Met || f.Meetings.Len() > 0 || f.MomentRows.Any() || len(f.Kin) > 0 || len(f.Far) > 0 ||
		slices.Contains(f.Def.Attributes, "communicator") {
		return nil
	}
	waits := f.waitingRegions()
	if waits == nil {
		return nil
	}
	calls, err := f.meetingCalls(ctx, waits)
	if err != nil || calls == nil {
		return err
	}
	m := &matches{fit: true}
	m.match(calls)
	f.matches = m
	err = f.eachMessage(f.findClocks(), func(_, _ int32, _, _ trace.Time) { m.fit = false })
	m.fit = m.fit && !f.Messages
	if m.fit {
		for i := range m.all {
			f.Meet(&m.all[i])
		}
	}
	return err
}

// waitingRegions returns which regions are collective operations in which everybody waits for all; nil: none.
func (f *finisher) waitingRegions() []bool {
	some := false
	waits := make([]bool, len(f.Def.Regions))
	for i := range waits {
		waits[i] = f.Def.Regions[i].Role == trace.RoleCommunication && trace.WaitsForAll(f.Def.Regions[i].Name)
		some = some || waits[i]
	}
	if !some {
		return nil
	}
	return waits
}

// meetingCalls reads the calls of some regions by process, in order of time; nil: there are too many, or too few
// processes.
func (f *finisher) meetingCalls(ctx context.Context, of []bool) ([][]meetingCall, error) {
	c := f.findClocks()
	if f.Parts != nil {
		return callsByProcess(c, f.partCalls, f.unclearCalls), nil
	}
	lists, unclear, err := f.callsOfStreams(ctx, c, of, func(*write.Stream) bool { return true }, nil)
	return callsByProcess(c, lists, unclear), err
}

// callsOfStreams reads the calls of some regions by location; unclear: the order of records is not that of times. What
// also returns for a location, if anything, sees all its calls.
func (f *finisher) callsOfStreams(ctx context.Context, c *clocks, of []bool, own func(*write.Stream) bool,
	also func(*write.Stream) func(*call)) (lists [][]meetingCall, disordered bool, err error) {
	lists = make([][]meetingCall, len(f.Streams))
	var unclear atomic.Bool
	err = parallel.For(ctx, len(f.Streams), func(id int) {
		s := f.Streams[id]
		if s == nil || !own(s) || s.Rows == 0 {
			return
		}
		var see func(*call)
		if also != nil {
			see = also(s)
		}
		takes := of != nil && c.of[id] >= 0 && f.callsMPI(trace.LocationID(id))
		if takes && (s.ByParent || s.ByName || s.Unordered && s.Disordered && !s.Intervals) {
			unclear.Store(true)
			takes = false
		}
		if !takes && see == nil {
			return
		}
		var open []int // calls, -1 for those of other regions
		f.eachCall(s, func(x *call) bool {
			if see != nil {
				see(x)
			}
			if !takes || len(lists[id]) > mostMatched {
				return see != nil
			}
			switch n := len(open); {
			case x.leave && n > 0:
				if open[n-1] >= 0 {
					lists[id][open[n-1]].End = x.begin
				}
				open = open[:n-1]
			case x.leave:
			case int(x.region) < len(of) && of[x.region]:
				lists[id] = append(lists[id], meetingCall{x.region,
					trace.Member{Location: s.Location, Begin: x.begin, End: max(x.begin, x.end)}})
				if !x.whole {
					lists[id][len(lists[id])-1].End = s.Last
					open = append(open, len(lists[id])-1)
				}
			case !x.whole:
				open = append(open, -1)
			}
			return see != nil || len(lists[id]) <= mostMatched
		})
	})
	return lists, unclear.Load(), err
}

// callsByProcess puts calls of locations together; nil: there are too many, or too few processes.
func callsByProcess(c *clocks, lists [][]meetingCall, unclear bool) [][]meetingCall {
	out, n, some := make([][]meetingCall, len(c.owner)), 0, 0
	for id, list := range lists {
		if len(list) > 0 {
			if out[c.of[id]] == nil {
				some++
			}
			out[c.of[id]] = append(out[c.of[id]], list...)
			n += len(list)
		}
	}
	if some < 2 || n > mostMatched || unclear {
		return nil
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b meetingCall) int {
			return cmp.Or(cmp.Compare(a.region, b.region), cmp.Compare(a.Begin, b.Begin))
		})
	}
	return out
}

// match puts the k-th calls of a region together. Lists are in order of regions.
func (m *matches) match(lists [][]meetingCall) {
	rest := slices.DeleteFunc(lists, func(l []meetingCall) bool { return len(l) == 0 })
	for len(rest) > 0 {
		region := rest[0][0].region
		for _, l := range rest {
			region = min(region, l[0].region)
		}
		var calls [][]meetingCall
		all, equal := 0, true
		for i, l := range rest {
			n := 0
			for n < len(l) && l[n].region == region {
				n++
			}
			if n > 0 {
				calls = append(calls, l[:n])
				all += n
				equal = equal && n == len(calls[0])
			}
			rest[i] = l[n:]
		}
		if equal && len(calls) > 1 {
			m.add(calls)
		} else if !equal {
			m.unequal += int64(all)
		}
		rest = slices.DeleteFunc(rest, func(l []meetingCall) bool { return len(l) == 0 })
	}
}

func (m *matches) add(calls [][]meetingCall) {
	for k := range calls[0] {
		x := trace.Meeting{Flow: trace.AllToAll, Root: -1, Members: make([]trace.Member, len(calls))}
		for i := range calls {
			x.Members[i] = calls[i][k].Member
		}
		m.all = append(m.all, x)
	}
}

// refuseMeetings reports the matches that do not hold on the common clock.
func (f *finisher) refuseMeetings() {
	if f.matches == nil {
		return
	}
	refused := int64(0)
	for _, m := range f.matches.all {
		for i := range m.Members {
			x := &m.Members[i]
			line := f.lineOf(x.Location)
			x.Begin, x.End = line.At(x.Begin), line.At(x.End)
		}
		if m.Early() > mayBeEarly {
			refused++
		}
	}
	if refused > 0 {
		f.Report(trace.Guessed,
			"collectives without a communicator whose calls, matched by their order, do not overlap: "+
				"the match is refused", refused, fmt.Sprintf("of %d collectives", len(f.matches.all)))
	}
	if n := f.matches.unequal; n > 0 {
		f.Report(trace.Guessed, "calls of collectives without a communicator that some processes call more often than "+
			"others: not matched by their order", n, "")
	}
	f.matches = nil
}
