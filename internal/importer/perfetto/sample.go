package perfetto

import (
	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A sampledStack is a call stack of samples: its text, and the function on its top.
type sampledStack struct {
	text   string
	region trace.RegionID
}

// A perfSample is a sample of perf.
type perfSample struct {
	cpu     uint64           `pb:"1"`
	pid     int32            `pb:"2"`
	tid     int32            `pb:"3"`
	stack   uint64           `pb:"4"`
	failed  uint64           `pb:"16"` // why the stack could not be unwound; 1 stands for none
	lost    protobuf.Integer `pb:"17"`
	skipped protobuf.Integer `pb:"18"`
	event   []byte           `pb:"19"` // the recorder about itself
}

var perfSamples = protobuf.TableOf[perfSample]()

// perfSample writes a sample of perf as an instant of the thread that ran, named by
// the innermost function.
func (c *converter) perfSample(s *sequence, p *packet, at trace.Time) bool {
	f, ok := perfSamples.Of(p.payload)
	switch {
	case !ok:
		return false
	case f.lost.Set:
		c.tally.Add(lostKernel, p.at)
	case f.skipped.Set:
		c.tally.Add(skippedSamples, p.at)
	case f.event != nil:
		c.tally.unread(p.kind)
	case !p.hasTime:
		c.tally.Add(noTime, p.at)
	default:
		c.last = max(c.last, at)
		k := c.sampled(s, p, f.stack)
		r := c.threadRow(p.machine, int64(f.pid), int64(f.tid))
		r.Stream.Instant(at, k.region)
		c.scratch = c.scratch[:0]
		if k.text != "" {
			c.fact("stack", trace.Text(k.text))
		}
		c.fact("cpu", trace.Integer(int64(f.cpu)))
		if f.failed > 1 {
			c.fact("unwind error", trace.Integer(int64(f.failed)))
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
