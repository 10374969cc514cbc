package waiting

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Plan says what is looked at.
type Plan struct {
	Regions []trace.Region
	Unit    []int32 // of a location; -1 for those that do not count
	Units   int
	// Scan hands out intervals; batches of different locations may come at once.
	Scan func(f func(*trace.Columns) error) error
	// Group as in Collector.
	Group    func(location trace.LocationID, lane, row int) int32
	Messages []Message
	// Indexed: the window begins with the run, so that the k-th call of a unit is
	// the k-th of all.
	Indexed bool
}

// mostStays bounds the memory of a result to some 100 MB.
const mostStays = 4 << 20

// A Result says who waited for whom.
type Result struct {
	Ledgers  []*Ledger
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

// Analyse finds collectives and messages and who waited in them.
func (p *Plan) Analyse() (*Result, error) {
	c := &Collector{Stay: make([]bool, len(p.Regions)), Unit: p.Unit, Group: p.Group, Keep: mostStays}
	collective := make([]bool, len(p.Regions))
	any := false
	for i := range p.Regions {
		c.Stay[i] = Waits(p.Regions[i].Role)
		collective[i] = IsCollective(&p.Regions[i])
		any = any || c.Stay[i]
	}
	r := &Result{Meetings: []Meeting{}, Late: []Late{}}
	if any {
		if err := p.Scan(func(cols *trace.Columns) error { c.Add(cols); return nil }); err != nil {
			return nil, err
		}
	}
	r.Ledgers, r.Missed = c.Ledgers(p.Units), c.Missed
	type key struct {
		group int32
		name  string
	}
	calls := Gather(r.Ledgers, collective, func(u, i int) key {
		s := &r.Ledgers[u].Stays[i]
		if s.Group != 0 {
			return key{group: s.Group}
		}
		return key{name: p.Regions[s.Region].Name}
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
		list, broken := Meetings(calls[k], r.Ledgers, p.Indexed)
		r.All += len(list)
		r.Broken += int(broken*float64(len(list)) + 0.5)
		if broken <= mostBroken {
			r.Meetings = append(r.Meetings, list...)
		}
	}
	slices.SortStableFunc(r.Meetings, func(a, b Meeting) int { return cmp.Compare(a.Last, b.Last) })
	r.Late = Messages(p.Messages, r.Ledgers, Ends(r.Meetings, p.Units), p.Indexed)
	return r, nil
}
