package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A linkRow is a link as all stores must return it, but for the intervals at its ends, of which several may be
// right.
type linkRow struct {
	kind             trace.LinkKind
	from, to         trace.LocationID
	fromTime, toTime trace.Time
	size, tag, count int64
	communicator     string
	untimed          bool
}

func (c *comparison) links(w store.Window) string {
	want, fault := c.linksOf(c.want, w)
	if fault != "" {
		return "the reference is wrong: " + fault
	}
	got, fault := c.linksOf(c.got, w)
	if fault != "" {
		return fault
	}
	if d := diffOf(want, got); d != "" {
		return "(-want +got):\n" + d
	}
	if n, err := c.got.LinkCount(w); err != nil || n < int64(len(got)) {
		return fmt.Sprintf("LinkCount = %d, %v is no bound: there are %d", n, err, len(got))
	}
	return c.linkSums(w)
}

// linkSums holds the sums of a reader that keeps some against those of the links.
func (c *comparison) linkSums(w store.Window) string {
	got, err := store.LinkSums(context.Background(), c.got, w)
	want, err2 := store.LinkSums(context.Background(), struct{ store.Reader }{c.want}, w)
	if err := errors.Join(err, err2); err != nil {
		return err.Error()
	}
	if d := diffOf(want, got); d != "" {
		return "LinkSums (-want +got):\n" + d
	}
	return ""
}

// linksOf returns the links of a window in an order of their own, after checking that they came in order of time.
func (c *comparison) linksOf(r store.Reader, w store.Window) (out []linkRow, fault string) {
	last := trace.Time(-1 << 62)
	err := r.Links(context.Background(), w, func(k *store.LinkColumns) error {
		for i := range k.Kind {
			if !k.Untimed[i] && k.FromTime[i] < last {
				fault = fmt.Sprintf("link from %d comes after one from %d", k.FromTime[i], last)
			}
			l := linkRow{k.Kind[i], k.FromLocation[i], k.ToLocation[i], k.FromTime[i], k.ToTime[i], k.Size[i], k.Tag[i],
				max(1, k.Count[i]), "", k.Untimed[i]}
			if k.Communicator[i] != trace.NoCommunicator {
				l.communicator = r.Communicators()[k.Communicator[i]].Name
			}
			if l.untimed {
				l.fromTime, l.toTime = 0, 0
			} else {
				last = k.FromTime[i]
				for _, f := range []string{
					c.endFault(r, l.from, l.fromTime, k.FromLane[i], k.FromRow[i]),
					c.endFault(r, l.to, l.toTime, k.ToLane[i], k.ToRow[i]),
				} {
					if f != "" {
						fault = fmt.Sprintf("link %+v: %s", l, f)
					}
				}
			}
			out = append(out, l)
		}
		return nil
	})
	if err != nil {
		fault = err.Error()
	}
	slices.SortFunc(out, func(a, b linkRow) int {
		return cmp.Or(cmp.Compare(a.fromTime, b.fromTime), cmp.Compare(a.size, b.size), cmp.Compare(a.tag, b.tag),
			cmp.Compare(a.toTime, b.toTime),
			cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.kind, b.kind))
	})
	return out, fault
}

// endFault returns why the interval at the end of a link cannot be meant: it neither begins then, nor is open, nor
// just ended.
func (c *comparison) endFault(r store.Reader, id trace.LocationID, t trace.Time, lane, row int32) string {
	if row < 0 {
		return ""
	}
	k, err := r.Interval(store.Row{Location: id, Lane: int(lane), Row: int(row)})
	if err != nil || k == nil {
		return fmt.Sprintf("interval (%d, %d, %d) does not exist: %v", id, lane, row, err)
	}
	if t < k.Begin[0] || t > k.End(0) {
		return fmt.Sprintf("interval [%d, %d) is not open at %d", k.Begin[0], k.End(0), t)
	}
	return ""
}

func (c *comparison) instants(w store.Window) string {
	collect := func(r store.Reader) map[trace.LocationID][]string {
		out := map[trace.LocationID][]string{}
		var mu sync.Mutex
		err := r.Instants(context.Background(), w, func(k *store.InstantColumns) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range k.Time {
				out[k.Location] = append(out[k.Location], fmt.Sprint(k.Time[i], " ", r.Regions()[k.Region[i]].Name))
			}
			return nil
		})
		if err != nil {
			out[0] = []string{err.Error()}
		}
		return out
	}
	return diffOf(collect(c.want), collect(c.got))
}

func (c *comparison) samples(w store.Window) string {
	collect := func(r store.Reader, some bool) map[string][]string {
		var ids []trace.CounterID
		for i, k := range r.Counters() {
			if some && k.Location%2 == 0 {
				ids = append(ids, trace.CounterID(i))
			}
		}
		if some && ids == nil {
			return nil
		}
		out := map[string][]string{}
		var mu sync.Mutex
		err := r.Samples(context.Background(), ids, w.Begin, w.End, func(k *store.SampleColumns) error {
			mu.Lock()
			defer mu.Unlock()
			of := r.Counters()[k.Counter]
			name := fmt.Sprint(of.Location, " ", of.Name)
			for i := range k.Time {
				out[name] = append(out[name], fmt.Sprint(k.Time[i], "=", k.Value[i]))
			}
			return nil
		})
		if err != nil {
			out[""] = []string{err.Error()}
		}
		return out
	}
	if d := diffOf(collect(c.want, true), collect(c.got, true)); d != "" {
		return "of some counters (-want +got):\n" + d
	}
	return diffOf(collect(c.want, false), collect(c.got, false))
}

func (c *comparison) attributes(w store.Window) string {
	collect := func(r store.Reader, name string) map[laneID][]string {
		out := map[laneID][]string{}
		a := slices.Index(r.Attributes(), name)
		if a < 0 {
			return out
		}
		var mu sync.Mutex
		err := r.AttributeColumn(context.Background(), w, trace.AttributeID(a), func(k *store.AttributeColumns) error {
			mu.Lock()
			defer mu.Unlock()
			id := laneID{k.Location, k.Lane}
			for i := range k.Row {
				out[id] = append(out[id], fmt.Sprint(k.Row[i], "=", k.Value[i], " ", k.Value[i].Kind))
			}
			return nil
		})
		if err != nil {
			out[laneID{}] = []string{err.Error()}
		}
		return out
	}
	instants := func(r store.Reader, name string) map[laneID][]string {
		out := map[laneID][]string{}
		a := slices.Index(r.Attributes(), name)
		if a < 0 {
			return out
		}
		var mu sync.Mutex
		err := r.InstantAttribute(context.Background(), w, trace.AttributeID(a), func(k *store.InstantValues) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range k.Row {
				out[laneID{k.Location, 0}] = append(out[laneID{k.Location, 0}],
					fmt.Sprint(k.Row[i], " at ", k.Time[i], " ", r.Regions()[k.Region[i]].Name, "=", k.Value[i], " ",
						k.Value[i].Kind))
			}
			return nil
		})
		if err != nil {
			out[laneID{}] = []string{err.Error()}
		}
		return out
	}
	for _, name := range c.want.attributes {
		if d := diffOf(collect(c.want, name), collect(c.got, name)); d != "" {
			return name + " (-want +got):\n" + d
		}
		if d := diffOf(instants(c.want, name), instants(c.got, name)); d != "" {
			return name + " of instants (-want +got):\n" + d
		}
	}
	return ""
}

// profile compares the three tables of the window's locations, whose rows come
// in order of location.
func (c *comparison) profile(w store.Window) string {
	collect := func(r store.Reader) (out []string) {
		ctx := context.Background()
		path := func(id trace.CallPathID) string {
			s := ""
			for ; id != trace.NoCallPath; id = r.CallPaths()[id].Parent {
				s = r.Regions()[r.CallPaths()[id].Region].Name + "/" + s
			}
			return s
		}
		last := trace.LocationID(0)
		see := func(id trace.LocationID, line string) {
			if id < last {
				out = append(out, fmt.Sprintf("location %d comes after %d", id, last))
			}
			last = id
			out = append(out, fmt.Sprintf("%4d %s", id, line))
		}
		err := r.Profile(ctx, w.Locations, func(rows []trace.ProfileRow) error {
			for _, p := range rows {
				see(p.Location,
					fmt.Sprint("profile ", path(p.Path), r.Metrics()[p.Metric].Name, " ", p.Calls, p.Subcalls,
						p.Inclusive, p.Exclusive))
			}
			return nil
		})
		last = 0
		err = cmp.Or(err, r.Lines(ctx, w.Locations, func(rows []trace.LineRow) error {
			for _, p := range rows {
				see(p.Location, fmt.Sprint("line ", path(p.Path), path(p.Callee), store.FileOfLine(r, &p), ":", p.Line,
					" ", r.Metrics()[p.Metric].Name, " ", p.Calls, p.Inclusive, p.Exclusive))
			}
			return nil
		}))
		last = 0
		err = cmp.Or(err, r.Atomics(ctx, w.Locations, func(rows []trace.AtomicRow) error {
			for _, p := range rows {
				see(p.Location,
					fmt.Sprint("atomic ", path(p.Path), r.Metrics()[p.Metric].Name, " ", p.Count, p.Min, p.Max, p.Mean,
						p.SumSquares))
			}
			return nil
		}))
		last = 0
		err = cmp.Or(err, r.Moments(ctx, w.Locations, func(rows []trace.MomentRow) error {
			for _, p := range rows {
				id := p.Location
				p.Location = 0
				see(id, fmt.Sprint("moments ", p))
			}
			return nil
		}))
		if err != nil {
			out = append(out, err.Error())
		}
		slices.Sort(out)
		return out
	}
	return diffOf(collect(c.want), collect(c.got))
}
