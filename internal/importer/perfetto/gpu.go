package perfetto

import (
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A gpuConverter says what render stages and counters of GPUs mean.
type gpuConverter struct {
	eventConverter

	gpuNames  map[gpuKey]gpuSpec
	gpuSeries map[gpuKey]*gpuSeries
}

// gpuStage takes an activity of a GPU: a queue, a stage or kernel, a duration.
func (c *gpuConverter) gpuStage(s *sequence, p *packet, at trace.Time) bool {
	var duration, gpu, queue, stage, context, submission uint64
	var name []byte
	described := false
	m := open(p.payload)
	for m.next() {
		switch m.number {
		case stageDuration:
			duration = m.value
		case stageQueue:
			queue = m.value
		case stageID:
			stage = m.value
		case stageContext:
			context = m.value
		case stageSpecs:
			described = true
		case stageSubmission:
			submission = m.value
		case stageGPU:
			gpu = m.value
		case stageQueueInterned:
			queue = m.value
		case stageIDInterned:
			stage = m.value
		case stageName:
			name = m.bytes
		}
	}
	if m.broken {
		return false
	}
	if described && duration == 0 && name == nil {
		return true
	}
	text := c.text(name)
	if text == "" {
		if text, _ = s.stages.get(stage); text == "" {
			text = "stage " + strconv.FormatUint(stage, 10)
		}
	}
	r := c.queueRow(s, p, gpu, queue, context)
	c.last = max(c.last, at)
	r.Stream.Interval(at, at+trace.Time(min(duration, 1<<62)), c.define(text, "gpu", trace.RoleByName))
	if submission != 0 {
		c.scratch = c.scratch[:0]
		c.fact("submission", trace.Integer(int64(submission)))
		tell(r.Stream, c.scratch)
	}
	return true
}

// queueRow is the row of a queue of a GPU, below the process whose context it is.
func (c *gpuConverter) queueRow(s *sequence, p *packet, gpu, queue, context uint64) *row {
	parent := c.root
	if pid, ok := s.contexts.get(context); ok && pid != 0 {
		parent = c.processRow(p.machine, pid).At
	}
	device := c.deviceAt(parent, gpu)
	name, _ := s.stages.get(queue)
	if name == "" {
		name = "queue " + strconv.FormatUint(queue, 10)
	}
	return c.rowOf(c.w.Location(trace.Location{Parent: device, Kind: trace.KindStream, Name: name, Rank: trace.NoRank}))
}

// deviceAt is the location of a GPU.
func (c *rowTree) deviceAt(parent trace.LocationID, gpu uint64) trace.LocationID {
	number := strconv.FormatUint(gpu, 10)
	return c.w.Location(trace.Location{Parent: parent, Kind: trace.KindDevice, Key: number, Name: "GPU " + number,
		Rank: trace.NoRank, Order: 1 << 39})
}
