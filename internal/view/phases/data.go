package phases

import (
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is one location in one phase. Waiting holds communication, synchronization
// and idle regions.
type Row struct {
	Location trace.LocationID `json:"location" about:"location"`
	Path     string           `json:"path" unit:""`
	Phase    string           `json:"phase" unit:""`
	Begin    trace.Time       `json:"begin" unit:"ns"`
	End      trace.Time       `json:"end" unit:"ns"`
	Length   trace.Time       `json:"-" table:"duration" unit:"ns"`
	Busy     trace.Time       `json:"busy" unit:"ns"`
	Waiting  trace.Time       `json:"waiting" unit:"ns"`
}

// A Phase is one cut of the run. Skew is the waiting of all for the last to arrive at
// collectives and for late messages, Transfer the rest of those calls.
type Phase struct {
	Name     string     `json:"name"`
	Begin    trace.Time `json:"begin"`
	End      trace.Time `json:"end"`
	Busy     trace.Time `json:"busy"`
	Waiting  trace.Time `json:"waiting"`
	Skew     trace.Time `json:"skew"`
	Transfer trace.Time `json:"transfer"`
}

// A Meeting is one collective: the last to arrive, the cause, and the cost.
type Meeting struct {
	Region   string           `json:"region"`
	Phase    string           `json:"phase"`
	First    trace.Time       `json:"first"`
	Last     trace.Time       `json:"last"`
	End      trace.Time       `json:"end"`
	LastHere trace.LocationID `json:"last_location"`
	Cause    trace.LocationID `json:"cause"`
	Calls    int              `json:"calls"`
	Waited   trace.Time       `json:"waited"`
	Transfer trace.Time       `json:"transfer"`
}

// A Message sums the waits for messages between two locations.
type Message struct {
	Cause    trace.LocationID `json:"cause"`
	Victim   trace.LocationID `json:"victim"`
	Late     string           `json:"late"` // sender or receiver
	Count    int              `json:"count"`
	Skew     trace.Time       `json:"skew"`
	Own      trace.Time       `json:"own"`
	Transfer trace.Time       `json:"transfer"`
}

// Data is the "data" of the JSON output.
type Data struct {
	By          string    `json:"by"`
	Metric      string    `json:"metric"`
	Phases      []Phase   `json:"phases"`
	Rows        []Row     `json:"rows"`
	Verdict     []Verdict `json:"verdict"`
	Collectives []Meeting `json:"collectives"`
	Meetings    []Meeting `json:"meetings"` // as collectives, its name in the release before
	Messages    []Message `json:"messages"`
}

// mostMeetings bounds the list of collectives; the longest waits are kept.
const mostMeetings = 10_000

func (r *result) Data() any {
	d := Data{By: r.phases.By, Metric: r.metric, Phases: []Phase{}, Rows: r.list(), Verdict: r.verdicts,
		Collectives: r.meetings(), Messages: r.messages()}
	d.Meetings = d.Collectives
	for k, p := range r.phases.List {
		x := Phase{Name: p.Name, Begin: p.Begin, End: p.End, Skew: r.delays.Skew[k], Transfer: r.delays.Transfer[k]}
		for u := range r.units {
			x.Busy = trace.AddUp(x.Busy, r.busy[r.at(u, k)])
			x.Waiting = trace.AddUp(x.Waiting, r.waiting[r.at(u, k)])
		}
		d.Phases = append(d.Phases, x)
	}
	return d
}

func (r *result) list() []Row {
	out := []Row{}
	for _, place := range r.order {
		u, id := int(place), r.units[place]
		path := r.tree.Path(id)
		for k, p := range r.phases.List {
			if s := r.phases.Span(u, k); !s.Absent() {
				out = append(out,
					Row{id, path, p.Name, s.Begin, s.End, s.Length(), r.busy[r.at(u, k)], r.waiting[r.at(u, k)]})
			}
		}
	}
	return out
}

func (r *result) meetings() []Meeting {
	out := []Meeting{}
	if r.waits == nil {
		return out
	}
	regions := r.request.Store().Regions()
	for i := range r.waits.Meetings {
		if len(out) == mostMeetings {
			break
		}
		m := &r.waits.Meetings[i]
		x := Meeting{Region: regions[m.Calls[0].Region].Name, First: m.First, Last: m.Last, End: m.Left,
			LastHere: r.units[m.LastUnit], Cause: r.units[m.Cause], Calls: len(m.Calls), Waited: m.Waited,
			Transfer: m.Transfer}
		if k := r.phases.Find(int(m.LastUnit), m.Last); k >= 0 {
			x.Phase = r.phases.List[k].Name
		}
		out = append(out, x)
	}
	return out
}

func (r *result) messages() []Message {
	out := []Message{}
	if r.waits == nil {
		return out
	}
	type key struct {
		cause, waiter int32
		receiver      bool
	}
	at := map[key]int{}
	for i := range r.waits.Late {
		l := &r.waits.Late[i]
		k := key{l.Cause, l.Waiter, l.Receiver}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			late := "sender"
			if l.Receiver {
				late = "receiver"
			}
			out = append(out, Message{Cause: r.units[l.Cause], Victim: r.units[l.Waiter], Late: late})
		}
		m := &out[n]
		m.Count++
		m.Skew += l.Skew
		m.Own += l.Own
		m.Transfer += l.Transfer
	}
	return out
}

// Table has a line for each row and phase.
func (r *result) Table() *view.Table { return view.TableOf(r.list(), nil, nil) }
