package chrometrace

import (
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// memoryRecord is the name of the allocator's records.
const memoryRecord = "[memory]"

// gpuDevice is PyTorch's number for CUDA and HIP among its types of devices.
const gpuDevice = 1

// A pool is the memory of one device, or of the host.
type pool struct {
	row                 *row
	allocated, reserved trace.CounterID
	sum                 int64 // where records tell only changes
}

// memory takes a record of PyTorch's allocator: samples of what is allocated and reserved on its device.
// Files of 2021 tell only changes; then it is what was allocated since the file begins, which may be less than nothing.
func (c *rowTree) memory(r *record, at trace.Time) {
	bytes, ok := r.argument("Bytes").integer()
	if !ok {
		c.tally.add(badCounters, r.offset)
		return
	}
	allocated, known := r.argument("Total Allocated").integer()
	kind, _ := r.argument("Device Type").integer()
	id, _ := r.argument("Device Id").integer()
	p := c.pool(kind, id, known)
	stream := p.row.stream
	if !known {
		p.sum += bytes
		stream.Sample(p.allocated, at, float64(p.sum))
		return
	}
	if kind != gpuDevice && allocated == 0 {
		return // of the host's memory no total is kept
	}
	stream.Sample(p.allocated, at, float64(allocated))
	if reserved, ok := r.argument("Total Reserved").integer(); ok {
		stream.Sample(p.reserved, at, float64(reserved))
	}
}

// pool finds the counters of a device's memory.
func (c *rowTree) pool(kind, id int64, known bool) *pool {
	key := [2]int64{kind, id}
	if p := c.pools[key]; p != nil {
		return p
	}
	where, what := c.self.location, "host memory"
	if kind == gpuDevice {
		where, what = c.device(strconv.FormatInt(id, 10)).location, "memory"
	}
	p := &pool{row: c.rowAt(where)}
	if known {
		p.allocated = c.w.Counter(trace.Counter{Location: where, Name: what + " allocated", Unit: "bytes"})
		p.reserved = c.w.Counter(trace.Counter{Location: where, Name: what + " reserved", Unit: "bytes"})
	} else {
		p.allocated = c.w.Counter(trace.Counter{Location: where, Name: what + " allocated since the begin", Unit: "bytes"})
	}
	c.pools[key] = p
	return p
}

// device finds a device by its number.
func (c *rowTree) device(pid string) *device {
	d, ok := c.devices[pid]
	if !ok {
		d = &device{pid: pid}
		d.location = c.w.Location(trace.Location{Parent: c.self.location, Kind: trace.KindDevice, Key: pid, Name: "device " + pid, Rank: trace.NoRank})
		c.devices[pid] = d
	}
	return d
}

// rowAt is the row of a location, for samples.
func (c *rowTree) rowAt(id trace.LocationID) *row {
	if id == c.self.location {
		return c.ownRow(c.self)
	}
	r, ok := c.rows[id]
	if !ok {
		r = &row{location: id, stream: c.w.Stream(id, streamOptions)}
		c.rows[id] = r
	}
	return r
}
