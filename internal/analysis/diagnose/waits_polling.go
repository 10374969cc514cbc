package diagnose

// Waits in loops of calls that ask again and again for a message.

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A polling says what a call does in a loop that asks again and again for a message.
type polling uint8

const (
	noPolling polling = iota
	asks              // it returns at once
	begins            // it begins to receive, and returns at once
	completes         // it receives
)

// polls reports whether a call asks for a message and returns at once: a rank that calls it again and again waits.
func polls(name string) bool { return pollingOf(name) == asks }

func pollingOf(name string) polling {
	name = strings.ToLower(name)
	has := func(s string) bool { return strings.Contains(name, s) }
	switch {
	case has("iprobe"), has("improbe"), has("mpi_test"):
		return asks
	case has("irecv"), has("recv_init"), has("imrecv"):
		return begins
	case has("sendrecv"):
		return noPolling
	case has("recv"), has("wait"):
		return completes
	}
	return noPolling
}

// leastPause is up to how long a pause between two calls of a loop may always be.
const leastPause = 10_000

// A pollLoop is calls that ask for a message again and again, and the one that then receives it: one call, as far as
// waiting is concerned. Between them is hardly any time: a rank that works meanwhile does not wait.
type pollLoop struct {
	call  budget.Call
	asked trace.Time // time in them
}

// follows reports whether a call that begins then belongs to the loop.
func (p *pollLoop) follows(begin trace.Time) bool {
	return p.asked > 0 && begin-p.call.End <= max(leastPause, p.asked/10)
}

// call takes a call in which an actor may wait.
func (k *waitReader) call(a int32, s *rowState, c budget.Call) {
	p, is := &s.polls, k.polling[c.Region]
	if c.Group != budget.NoGroup {
		is = noPolling
	}
	if !p.follows(c.Begin) {
		k.endPolls(a, s)
	}
	switch {
	case is == asks && p.asked == 0:
		*p = pollLoop{c, c.End - c.Begin}
	case p.asked > 0 && (is == asks || is == begins):
		p.call.End, p.asked = c.End, p.asked+c.End-c.Begin
	case p.asked > 0 && is == completes:
		p.call.End = c.End
		k.endPolls(a, s)
	default:
		k.endPolls(a, s)
		k.f.Call(a, c)
	}
}

// endPolls passes on the loop of an actor.
func (k *waitReader) endPolls(a int32, s *rowState) {
	if s.polls.asked > 0 {
		k.f.Call(a, s.polls.call)
		s.polls = pollLoop{}
	}
}
