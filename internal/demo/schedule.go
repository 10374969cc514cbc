package demo

import "github.com/parallax-hpc/parallax/internal/importer/vista"

// A schedule assigns the calls of a program to workers and times.
type schedule struct {
	p       *program
	queue   bool
	ready   [][]int32 // calls of each worker, oldest first
	caller  []int32
	missing []int     // arguments of each call that are not there
	waiting [][]int32 // calls that wait for each
	asleep  []bool    // suspended
	ran     []place
	count   []int64 // calls that each worker ran
	left    int
}

// A place is the worker that ran a call and its number there.
type place struct{ pe, index int64 }

func newSchedule(p *program, workers int) *schedule {
	n := len(p.clause)
	s := &schedule{p: p, queue: p.queue && workers > 1, ready: make([][]int32, workers), caller: make([]int32, n),
		missing: make([]int, n),
		waiting: make([][]int32, n), asleep: make([]bool, n), ran: make([]place, n), count: make([]int64, workers),
		left: n}
	s.ready[0] = []int32{0}
	for call, needs := range p.needs {
		s.missing[call] = len(needs)
		for _, need := range needs {
			s.waiting[need] = append(s.waiting[need], int32(call))
		}
	}
	return s
}

// take returns the next call of a worker that can run, and suspends those that cannot.
func (s *schedule) take(pe int) (int32, bool) {
	for {
		call, ok := s.next(pe)
		if !ok || s.missing[call] == 0 {
			return call, ok
		}
		s.asleep[call] = true
	}
}

// next takes a worker's own call, else the oldest of the worker that has most.
func (s *schedule) next(pe int) (int32, bool) {
	if own := s.ready[pe]; len(own) > 0 && s.queue {
		s.ready[pe] = own[1:]
		return own[0], true
	} else if len(own) > 0 {
		s.ready[pe] = own[:len(own)-1]
		return own[len(own)-1], true
	}
	victim := -1
	for k := range s.ready {
		if len(s.ready[k]) > 1 && (victim < 0 || len(s.ready[k]) > len(s.ready[victim])) {
			victim = k
		}
	}
	if victim < 0 {
		return 0, false
	}
	call := s.ready[victim][0]
	s.ready[victim] = s.ready[victim][1:]
	return call, true
}

func (s *schedule) begin(pe int, call int32, time int64) vista.Record {
	s.count[pe]++
	s.ran[call] = place{int64(pe), s.count[pe]}
	s.left--
	r := vista.Record{Time: time, Clause: s.p.clause[call], PE: int64(pe), Index: s.count[pe]}
	if call != 0 {
		from := s.ran[s.caller[call]]
		r.PPE, r.PIndex = from.pe, from.index
	}
	return r
}

// end makes the callees of a call ready, the first of them next on a stack, and wakes calls that waited for it
// alone.
func (s *schedule) end(pe int, call int32) {
	calls := s.p.calls[call]
	for k := range calls {
		next := calls[k]
		if !s.queue {
			next = calls[len(calls)-1-k]
		}
		s.caller[next] = call
		s.ready[pe] = append(s.ready[pe], next)
	}
	for _, next := range s.waiting[call] {
		if s.missing[next]--; s.missing[next] == 0 && s.asleep[next] {
			s.asleep[next] = false
			s.ready[pe] = append(s.ready[pe], next)
		}
	}
}
