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
	names  map[int64]string
}

// call adds a call and gives its number; caller -1 for the root.
func (p *program) call(caller int32, clause int64) int32 {
	id := int32(len(p.clause))
	p.clause = append(p.clause, clause)
	p.calls = append(p.calls, nil)
	if caller >= 0 {
		p.calls[caller] = append(p.calls[caller], id)
	}
	return id
}

// height is the number of levels.
func (p *program) height() int {
	level := make([]int, len(p.clause))
	most := 0
	for i := range p.calls { // callers come before what they call
		for _, c := range p.calls[i] {
			level[c] = level[i] + 1
			most = max(most, level[c])
		}
	}
	return most + 1
}

// run schedules the program on workers: a call takes a millisecond, what it calls
// goes onto its worker's own stack, so that each works depth first; a worker with
// nothing takes the oldest call of the worker that has most. Every step is
// decided by number, so the same program gives the same records.
func (p *program) run(ctx context.Context, workers int, w trace.Writer) error {
	c := vista.NewConverter(w)
	c.NameClauses(p.names)
	c.Begin(workers)
	type place struct{ pe, index int64 }
	ran := make([]place, len(p.clause))
	caller := make([]int32, len(p.clause))
	stacks := make([][]int32, workers)
	count := make([]int64, workers)
	stacks[0] = []int32{0}
	for left, time := len(p.clause), int64(0); left > 0; time++ {
		if err := ctx.Err(); err != nil {
			c.Close()
			return err
		}
		var fresh [][2]int32 // worker and call: ready from the next millisecond on
		for pe := range stacks {
			call, ok := take(stacks, pe)
			if !ok {
				continue
			}
			count[pe]++
			ran[call] = place{int64(pe), count[pe]}
			r := vista.Record{Time: time, Clause: p.clause[call], PE: int64(pe), Index: count[pe]}
			if call != 0 {
				from := ran[caller[call]]
				r.PPE, r.PIndex = from.pe, from.index
			}
			if err := c.Add(r); err != nil {
				c.Close()
				return err
			}
			left--
			for k := len(p.calls[call]) - 1; k >= 0; k-- {
				caller[p.calls[call][k]] = call
				fresh = append(fresh, [2]int32{int32(pe), p.calls[call][k]})
			}
		}
		for _, f := range fresh {
			stacks[f[0]] = append(stacks[f[0]], f[1])
		}
	}
	return c.Close()
}

// take gives a worker its next call: its own newest, else the oldest of the
// worker that has most.
func take(stacks [][]int32, pe int) (int32, bool) {
	if n := len(stacks[pe]); n > 0 {
		call := stacks[pe][n-1]
		stacks[pe] = stacks[pe][:n-1]
		return call, true
	}
	victim := -1
	for k := range stacks {
		if len(stacks[k]) > 1 && (victim < 0 || len(stacks[k]) > len(stacks[victim])) {
			victim = k
		}
	}
	if victim < 0 {
		return 0, false
	}
	call := stacks[victim][0]
	stacks[victim] = stacks[victim][1:]
	return call, true
}
