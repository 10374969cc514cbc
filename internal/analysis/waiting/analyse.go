package waiting

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Plan selects the data to analyse.
type Plan struct {
	Store    store.Reader
	Window   store.Window
	Unit     []int32 // of a location; -1 for those that do not count
	Units    int
	Messages bool // are looked at too
	// Indexed: the window begins with the run, so that the k-th call of a unit is
	// the k-th of all.
	Indexed bool
}

// MostMessages is the number of messages that are looked at.
const MostMessages = 4 << 20

// ReadMessages yields the messages between units, one at a time.
func ReadMessages(ctx context.Context, r store.Reader, w store.Window, unit []int32, f func(Message)) error {
	var mu sync.Mutex
	return r.Links(ctx, w, func(l *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, k := range l.Kind {
			from, to := unit[l.FromLocation[i]], unit[l.ToLocation[i]]
			if k == trace.LinkMessage && !l.Untimed[i] && from >= 0 && to >= 0 {
				f(Message{From: from, To: to, Sent: l.FromTime[i], Received: l.ToTime[i]})
			}
		}
		return nil
	})
}

// Analyse finds collectives and messages and who waited in them.
func (p *Plan) Analyse(ctx context.Context) (*Result, error) {
	in := &input{regions: p.Store.Regions(), unit: p.Unit, units: p.Units, indexed: p.Indexed}
	in.scan = func(f func(*trace.Columns) error) error { return p.Store.Intervals(ctx, p.Window, f) }
	var err error
	if p.Messages {
		err = ReadMessages(ctx, p.Store, p.Window, p.Unit, func(m Message) { in.messages = append(in.messages, m) })
		if err != nil {
			return nil, err
		}
		slices.SortFunc(in.messages, bySending)
	}
	if in.group, err = runfacts.Communicators(ctx, p.Store, p.Window); err != nil {
		return nil, err
	}
	return in.analyse()
}

// An input holds the data read from a run.
type input struct {
	regions  []trace.Region
	unit     []int32
	units    int
	scan     func(f func(*trace.Columns) error) error
	group    func(location trace.LocationID, lane, row int) int32 // as in Collector
	messages []Message
	indexed  bool
}

// mostStays bounds the memory of a result to some 100 MB.
const mostStays = 4 << 20

// A Result says who waited for whom.
type Result struct {
	Waits    []*UnitWaits
	Meetings []Meeting // in order of the last arrival
	Late     []Late
	// Broken is how many of the collectives some left before others had come; those
	// of kinds for which that is common are left out of Meetings and counted here.
	Broken, All int
	Missed      bool // there were too many stays to keep
}

// mostBroken is the share of broken collectives beyond which a kind of them is
// not believed: rooted ones break now and then, wrong pairs always do.
const mostBroken = 0.25

func (p *input) analyse() (*Result, error) {
	c := &Collector{Stay: make([]bool, len(p.regions)), Unit: p.unit, Group: p.group, Keep: mostStays}
	collective := make([]bool, len(p.regions))
	any := false
	for i := range p.regions {
		c.Stay[i] = Waits(p.regions[i].Role)
		collective[i] = IsCollective(&p.regions[i])
		any = any || c.Stay[i]
	}
	r := &Result{Meetings: []Meeting{}, Late: []Late{}}
	if any {
		if err := p.scan(func(cols *trace.Columns) error { c.Add(cols); return nil }); err != nil {
			return nil, err
		}
	}
	r.Waits, r.Missed = c.Waits(p.units), c.Missed
	type key struct {
		group int32
		name  string
	}
	calls := Gather(r.Waits, collective, func(u, i int) key {
		s := &r.Waits[u].Stays[i]
		if s.Group != 0 {
			return key{group: s.Group}
		}
		return key{name: p.regions[s.Region].Name}
	})
	keys := make([]key, 0, len(calls))
	for k := range calls {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.group != b.group {
			return int(a.group - b.group)
		}
		return slices.Compare([]byte(a.name), []byte(b.name))
	})
	for _, k := range keys {
		list, broken := Meetings(calls[k], r.Waits, p.indexed)
		r.All += len(list)
		r.Broken += int(broken*float64(len(list)) + 0.5)
		if broken <= mostBroken {
			r.Meetings = append(r.Meetings, list...)
		}
	}
	slices.SortStableFunc(r.Meetings, func(a, b Meeting) int { return cmp.Compare(a.Last, b.Last) })
	r.Late = Messages(p.messages, r.Waits, Ends(r.Meetings, p.units), p.indexed)
	return r, nil
}
