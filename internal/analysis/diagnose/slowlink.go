package diagnose

// The pair of units whose messages take longer than those of the others.

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// slowLink is how many times as long as on the usual pair messages must take to name a pair.
	slowLink = 3
	// fewestSent is how many messages a pair must exchange, and fewestPairs how many pairs there must be.
	fewestSent, fewestPairs = 8, 4
	// mostMessages is the number of messages that are looked at.
	mostMessages = 1 << 21
)

// A link is a pair of units that exchange messages. Takes is the lower quartile of their messages' time: a receiver
// that comes late makes some of them longer, a slow link all.
type link struct {
	from, to int32
	takes    float64
	usual    float64 // median of takes over all pairs
	size     float64 // of a message, mean; 0: not recorded
	count    int
}

// slowLink finds the pair whose messages take clearly longer than those of the others; nil where none does.
func (c *diagnosis) slowLink() (*link, error) {
	if n, err := c.store.LinkCount(c.window); err != nil || n == 0 || n > mostMessages {
		return nil, err
	}
	type pair struct{ from, to int32 }
	times, sizes := map[pair][]float64{}, map[pair]float64{}
	var mu sync.Mutex
	err := c.store.Links(c.ctx, c.window, func(l *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, kind := range l.Kind {
			from, to := c.unitOf[l.FromLocation[i]], c.unitOf[l.ToLocation[i]]
			if kind != trace.LinkMessage || l.Untimed[i] || from < 0 || to < 0 || from == to {
				continue
			}
			p := pair{from, to}
			times[p] = append(times[p], float64(l.ToTime[i]-l.FromTime[i]))
			sizes[p] += float64(max(l.Size[i], 0))
		}
		return nil
	})
	if err != nil || len(times) < fewestPairs {
		return nil, err
	}
	var list []link
	var all []float64
	for p, t := range times {
		slices.Sort(t)
		takes := t[len(t)/4]
		all = append(all, takes)
		list = append(list, link{from: p.from, to: p.to, takes: takes, size: sizes[p] / float64(len(t)), count: len(t)})
	}
	slices.SortFunc(list, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.takes, a.takes), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	x := list[0]
	x.usual = orderstat.Median(all)
	back := len(list) > 1 && list[1].from == x.to && list[1].to == x.from
	next := 1
	if back {
		next = 2
	}
	if x.count < fewestSent || x.takes < slowLink*x.usual || len(list) > next && 2*list[next].takes > x.takes {
		return nil, nil
	}
	return &x, nil
}

// tell adds the pair to a finding about communication.
func (x *link) tell(c *diagnosis, f *finding.Finding) {
	at := fmt.Sprintf("kind = 'message' and from_location between %d and %d and to_location between %d and %d",
		c.units[x.from], c.tree.Last[c.units[x.from]], c.units[x.to], c.tree.Last[c.units[x.to]])
	takes := finding.Evidence{Name: "message from " + c.names[x.from] + " to " + c.names[x.to] + ", lower quartile",
		Value: x.takes, Unit: "ns",
		From: fmt.Sprintf("with m as (select to_time - from_time as t from links where %s) select t from m order by t "+
			"limit 1 offset (select count(*) / 4 from m)", at)}
	usual := finding.Evidence{Name: "message of the usual pair", Value: x.usual, Unit: "ns", From: c.usualLinkQuery()}
	f.Text += fmt.Sprintf(" The link from %s to %s is slow: a message takes %s, on the usual pair %s.", c.names[x.from],
		c.names[x.to], Format(takes), Format(usual))
	f.Evidence = append(f.Evidence, takes, usual,
		finding.Evidence{Name: "messages on it", Value: float64(x.count), Unit: "count",
			From: "select count(*) from links where " + at})
	if x.size > 0 {
		speed := finding.Evidence{Name: "bytes per second on it", Value: x.size / x.takes * 1e9, Unit: "bytes",
			From: ratioOf("select 1e9 * avg(size) from links where "+at, takes.From)}
		f.Text += fmt.Sprintf(" That is %s/s for messages of %s.", Format(speed), words.FormatBytes(x.size))
		f.Evidence = append(f.Evidence, speed, finding.Evidence{Name: "size of a message on it", Value: x.size,
			Unit: "bytes", From: "select avg(size) from links where " + at})
	}
	f.View, f.Selection.Locations = "communication", c.locations([]int32{x.from, x.to})
}

// usualLinkQuery asks for the median over pairs of the lower quartile of message durations.
func (c *diagnosis) usualLinkQuery() string {
	key, _, ok := c.unitKey()
	if !ok || c.window.Locations != nil || !c.window.Whole(c.store) {
		return ""
	}
	return fmt.Sprintf("with m as (select from_%s as a, to_%s as b, to_time - from_time as d from links where kind = "+
		"'message' and from_time is not null and from_%s <> to_%s), r as (select d, row_number() over (partition by "+
		"a, b order by d) - 1 as i, count(*) over (partition by a, b) as n from m) select median(d) from r where i "+
		"= n / 4",
		key, key, key, key)
}
