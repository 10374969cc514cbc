package perfetto

import "github.com/parallax-hpc/parallax/internal/trace"

// A sampledStack is a call stack of samples: its text, and the function on its top.
type sampledStack struct {
	text   string
	region trace.RegionID
}

// perfSample takes a sample of perf: an instant of the thread that ran, named by the
// function in which it was.
func (c *converter) perfSample(s *sequence, p *packet, at trace.Time) bool {
	var cpu, pid, tid, stack, failed uint64
	var lost, skipped, event bool
	m := open(p.payload)
	for m.next() {
		switch m.number {
		case sampleCPU:
			cpu = m.value
		case samplePid:
			pid = m.value
		case sampleTid:
			tid = m.value
		case sampleStack:
			stack = m.value
		case sampleFailed:
			failed = m.value
		case sampleLost:
			lost = true
		case sampleSkipped:
			skipped = true
		case sampleEvent:
			event = true
		}
	}
	switch {
	case m.broken:
		return false
	case lost:
		c.tally.Add(lostKernel, p.at)
	case skipped:
		c.tally.Add(skippedSamples, p.at)
	case event: // the recorder about itself
		c.tally.unread(p.kind)
	case !p.hasTime:
		c.tally.Add(noTime, p.at)
	default:
		c.last = max(c.last, at)
		k := c.sampled(s, p, stack)
		r := c.threadRow(p.machine, int64(int32(pid)), int64(int32(tid)))
		r.Stream.Instant(at, k.region)
		c.scratch = c.scratch[:0]
		if k.text != "" {
			c.fact("stack", trace.Text(k.text))
		}
		c.fact("cpu", trace.Integer(int64(cpu)))
		if failed > 1 { // 1 stands for none
			c.fact("unwind error", trace.Integer(int64(failed)))
		}
		tell(r.Stream, c.scratch)
	}
	return true
}

// sampled finds the stack of a sample. Its text is made once.
func (c *converter) sampled(s *sequence, p *packet, id uint64) sampledStack {
	if k, ok := s.sampled[id]; ok {
		return k
	}
	text, ok := s.stackText(id)
	name := "(no stack)"
	if ok {
		name = s.innermost(id)
	} else if id != 0 {
		c.tally.Add(lostNames, p.at)
	}
	k := sampledStack{text, c.define(name, "sample", trace.RoleAnnotation)}
	if s.sampled == nil {
		s.sampled = map[uint64]sampledStack{}
	}
	s.sampled[id] = k
	return k
}
