package diagnose

// Waits from links: messages, and who wakes whom.

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// readLinks takes the messages that arrive in a step, and who wakes whom.
func (k *waitReader) readLinks(ctx context.Context, w store.Window, last bool) error {
	if n, err := k.store.LinkCount(w); err != nil || n == 0 {
		return err
	}
	of := func(role trace.Role) bool {
		return slices.ContainsFunc(k.regions, func(g trace.Region) bool { return g.Role == role })
	}
	idle := of(trace.RoleIdle) // else no record shows that it has no task
	// Messages that no call receives start a task, as in Charm++.
	driven := idle && !of(trace.RoleCommunication)
	held := linkHolder{}
	take := func() {
		var tasks atomic.Bool
		k.f.Messages(len(held.parts), func(part int, add func(budget.Message)) {
			l := &held.parts[part]
			for i, kind := range l.Kind {
				from, to := k.actorOf[l.FromLocation[i]], k.actorOf[l.ToLocation[i]]
				t := max(l.FromTime[i], l.ToTime[i])
				if kind != trace.LinkMessage && kind != trace.LinkWake &&
					(kind != trace.LinkFlow || from == to || !idle) ||
					l.Untimed[i] || from < 0 || to < 0 || t < w.Begin || t >= w.End && !last ||
					l.ToTime[i] < l.FromTime[i] {
					continue
				}
				m := budget.Message{From: from, To: to, Sent: l.FromTime[i], Received: l.ToTime[i]}
				switch {
				case kind == trace.LinkWake:
					m.Kind = budget.Join
				case kind == trace.LinkFlow || driven: // of tasks, one that another needs
					m.Kind, m.Slack = budget.Task, takingTask
					tasks.Store(true)
				}
				add(m)
			}
		})
		k.tasks = k.tasks || tasks.Load()
		held.clear()
	}
	err := k.store.Links(ctx, w, func(l *store.LinkColumns) error {
		if held.add(l); held.links >= linksAtOnce {
			take()
		}
		return nil
	})
	take()
	return err
}

const (
	// linksAtOnce is the number of links that are held and then passed on, by all cores.
	linksAtOnce = 1 << 20
	// linksInPart is the number that one goroutine passes on.
	linksInPart = 1 << 14
)

// A linkHolder holds columns of links that a store gives one after the other.
type linkHolder struct {
	parts []store.LinkColumns
	spare []store.LinkColumns // emptied
	links int
}

// add copies those columns that tell who sends to whom, and when.
func (h *linkHolder) add(l *store.LinkColumns) {
	h.links += len(l.Kind)
	n := len(h.parts)
	if n == 0 || len(h.parts[n-1].Kind) >= linksInPart {
		next := store.LinkColumns{}
		if k := len(h.spare); k > 0 {
			next, h.spare = h.spare[k-1], h.spare[:k-1]
		}
		h.parts = append(h.parts, next)
		n++
	}
	p := &h.parts[n-1]
	p.Kind, p.Untimed = append(p.Kind, l.Kind...), append(p.Untimed, l.Untimed...)
	p.FromLocation, p.ToLocation = append(p.FromLocation, l.FromLocation...), append(p.ToLocation, l.ToLocation...)
	p.FromTime, p.ToTime = append(p.FromTime, l.FromTime...), append(p.ToTime, l.ToTime...)
}

func (h *linkHolder) clear() {
	for _, p := range h.parts {
		h.spare = append(h.spare, store.LinkColumns{Kind: p.Kind[:0], Untimed: p.Untimed[:0],
			FromLocation: p.FromLocation[:0], ToLocation: p.ToLocation[:0], FromTime: p.FromTime[:0],
			ToTime: p.ToTime[:0]})
	}
	h.parts, h.links = h.parts[:0], 0
}
