package sides

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A series holds the values of a counter in one span.
type series struct {
	any         bool
	first, last float64
	at          trace.Time // of the last sample
	begin       trace.Time // of the first
	area        float64    // value × ns up to at
}

// counters reads the mean of levels, weighted by time, and the growth of counters that
// only grow.
func (g *gatherer) counters(ctx context.Context, side int) error {
	s := &g.r.Sides[side]
	list := s.Store.Counters()
	if !g.r.by["counter"] || len(list) == 0 {
		return nil
	}
	if n := s.Store.Info().Samples; n > mostScanned {
		g.r.note(fmt.Sprintf("counters are not compared: %s samples are too many to look at each", words.Thousands(n)))
		return nil
	}
	unit := s.unitAt()
	var ids []trace.CounterID
	for id := range list {
		if unit[list[id].Location] >= 0 {
			ids = append(ids, trace.CounterID(id))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	sums := make([]float64, len(list))
	seen := make([]bool, len(list))
	for _, x := range s.Spans {
		found := make([]series, len(list))
		var mu sync.Mutex
		err := s.Store.Samples(ctx, ids, x.Begin, x.End, func(c *store.SampleColumns) error {
			mu.Lock()
			defer mu.Unlock()
			found[c.Counter].add(c)
			return nil
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			if f := &found[id]; f.any {
				seen[id] = true
				sums[id] += f.amount(list[id].Monotone, x)
			}
		}
	}
	for _, id := range ids {
		if !seen[id] {
			continue
		}
		c := &list[id]
		v, name := sums[id], c.Name
		if !c.Monotone {
			v /= float64(s.length())
		} else if g.scale(side) != 1 {
			v, name = v*1e9*g.scale(side), name+" per second"
		}
		g.add(g.at(key{"counter", name, ""}, plainUnit(c.Unit)), side, unit[c.Location], v)
	}
	return nil
}

func (f *series) add(c *store.SampleColumns) {
	for i, t := range c.Time {
		if !f.any {
			f.any, f.first, f.begin = true, c.Value[i], t
		} else {
			f.area += f.last * float64(t-f.at)
		}
		f.last, f.at = c.Value[i], t
	}
}

// amount is how much a counter grew, or its level times the length of the span: the
// last level holds to the end, the first from the begin.
func (f *series) amount(monotone bool, in Span) float64 {
	if monotone {
		return f.last - f.first
	}
	return f.first*float64(f.begin-in.Begin) + f.area + f.last*float64(in.End-f.at)
}

// plainUnit is a unit that columns know.
func plainUnit(u string) string {
	if u == "ns" || u == "bytes" {
		return u
	}
	return "count"
}

// metrics reads the totals of all metrics of a profile but the one that stands for the
// times, and its distributions.
func (g *gatherer) metrics(ctx context.Context, side int) error {
	s := &g.r.Sides[side]
	list := s.Store.Metrics()
	if !g.r.by["metric"] || len(list) == 0 {
		return nil
	}
	unit := s.unitOf()
	paths := s.Store.CallPaths()
	flat := slices.ContainsFunc(paths, func(p trace.CallPath) bool { return p.Flat })
	regions := s.Store.Regions()
	err := s.Store.Profile(ctx, s.Holders, func(rows []trace.ProfileRow) error {
		for i := range rows {
			x := &rows[i]
			p := &paths[x.Path]
			k, ok := unit[x.Location]
			if !ok || x.Metric == g.r.ask.Metric.ID || p.Flat != flat || runfacts.Sampled(&regions[p.Region]) {
				continue
			}
			m := &list[x.Metric]
			g.add(g.at(key{"metric", m.Name, ""}, plainUnit(m.Unit)), side, k, x.Exclusive)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return s.Store.Atomics(ctx, s.Holders, func(rows []trace.AtomicRow) error {
		for i := range rows {
			x := &rows[i]
			if k, ok := unit[x.Location]; ok && x.Path == trace.NoCallPath {
				m := &list[x.Metric]
				g.add(g.at(key{"metric", m.Name, ""}, plainUnit(m.Unit)), side, k, x.Count*x.Mean)
			}
		}
		return ctx.Err()
	})
}
