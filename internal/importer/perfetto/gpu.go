package perfetto

import (
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A gpuConverter converts render stages and counters of GPUs.
type gpuConverter struct {
	eventConverter

	gpuNames  map[gpuKey]gpuSpec
	gpuSeries map[gpuKey]*gpuSeries
}

// A renderStage is an activity of a GPU: a queue, a stage or kernel, a duration.
type renderStage struct {
	duration   uint64 `pb:"2"`
	queue      uint64 `pb:"3,13"` // numbered by specs, or interned
	stage      uint64 `pb:"4,14"`
	context    uint64 `pb:"5"`
	specs      []byte `pb:"7"`
	submission uint64 `pb:"10"`
	gpu        uint64 `pb:"11"`
	name       []byte `pb:"17"`
}

// A gpuContext is the process that a context of a GPU belongs to.
type gpuContext struct {
	id  uint64 `pb:"1"`
	pid int64  `pb:"2"`
}

var (
	renderStages = protobuf.TableOf[renderStage]()
	gpuContexts  = protobuf.TableOf[gpuContext]()
)

// renderStage writes an activity of a GPU.
func (c *gpuConverter) renderStage(s *sequence, p *packet, at trace.Time) bool {
	f, ok := renderStages.Of(p.payload)
	if !ok {
		return false
	}
	if f.specs != nil && f.duration == 0 && f.name == nil {
		return true
	}
	name := c.text(f.name)
	if name == "" {
		if name, _ = s.stages.get(f.stage); name == "" {
			name = "stage " + strconv.FormatUint(f.stage, 10)
		}
	}
	r := c.queueRow(s, p, f.gpu, f.queue, f.context)
	c.last = max(c.last, at)
	r.Stream.Interval(at, at+trace.Time(min(f.duration, 1<<62)), c.define(name, "gpu", trace.RoleByName))
	if f.submission != 0 {
		c.scratch = c.scratch[:0]
		c.fact("submission", trace.Integer(int64(f.submission)))
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
	return c.rowOf(c.w.Location(importer.Below(device, trace.KindStream, name)))
}

// deviceAt is the location of a GPU.
func (c *rowTree) deviceAt(parent trace.LocationID, gpu uint64) trace.LocationID {
	number := strconv.FormatUint(gpu, 10)
	return c.w.Location(trace.Location{Parent: parent, Kind: trace.KindDevice, Key: number, Name: "GPU " + number,
		Rank: trace.NoRank, Order: 1 << 39})
}
