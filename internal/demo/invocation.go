package demo

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/importer/vista"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A program is an invocation tree that a logic program unfolds: calls in the
// order of definition, each with its clause and its caller.
type program struct {
	clause []int64
	calls  [][]int32 // of each call, in order
	needs  [][]int32 // calls that each waits for: its arguments come from them
	names  map[int64]string
	// queue makes several workers take their oldest call first: breadth first.
	queue bool
}

// call adds a call and returns its number; caller -1 for the root. It waits for the calls that it needs.
func (p *program) call(caller int32, clause int64, needs ...int32) int32 {
	id := int32(len(p.clause))
	p.clause = append(p.clause, clause)
	p.calls = append(p.calls, nil)
	p.needs = append(p.needs, needs)
	if caller >= 0 {
		p.calls[caller] = append(p.calls[caller], id)
	}
	return id
}

// run schedules the program on workers: a call takes a millisecond. The calls it makes go onto its worker's own
// stack, so that each works depth first, or to the end of its queue; an idle worker takes the oldest call of the
// worker that has most. A call whose arguments are missing is suspended, and goes to the worker that makes the last
// of them. Every step is decided by number, so the same program gives the same records.
func (p *program) run(ctx context.Context, workers int, w trace.Writer) error {
	c := vista.NewConverter(w)
	c.Read(vista.Names(p.names))
	c.Begin(workers)
	s := newSchedule(p, workers)
	for time := int64(0); s.left > 0; time++ {
		if err := ctx.Err(); err != nil {
			c.Close()
			return err
		}
		var now []int32 // by worker, -1 for none; the calls they make are ready from the next millisecond on
		for pe := range s.ready {
			call, ok := s.take(pe)
			if !ok {
				now = append(now, -1)
				continue
			}
			now = append(now, call)
			if err := c.Add(s.begin(pe, call, time)); err != nil {
				c.Close()
				return err
			}
		}
		for pe, call := range now {
			if call >= 0 {
				s.end(pe, call)
			}
		}
	}
	return c.Close()
}
