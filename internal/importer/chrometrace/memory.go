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

// memory takes a record of PyTorch's allocator: samples of the memory allocated and reserved on its device. Files of
// 2021 have only changes; then the counter sums them from the beginning of the file, and may be negative.
func (c *rowTree) memory(r *record, at trace.Time) {
	bytes, ok := r.argument("Bytes").integer()
	if !ok {
		c.tally.Add(badCounters, r.offset)
		return
	}
	allocated, known := r.argument("Total Allocated").integer()
	kind, _ := r.argument("Device Type").integer()
	id, _ := r.argument("Device Id").integer()
	p := c.pool(c.place(r).pid, kind, id, known)
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

// A poolKey is a device of PyTorch's, or the host: of a rank where a file has several.
type poolKey struct {
	rank     string
	kind, id int64
}

// pool finds the counters of a device's memory.
func (c *rowTree) pool(pid string, kind, id int64, known bool) *pool {
	key := poolKey{kind: kind, id: id}
	ranked := c.ranked(pid)
	if ranked {
		key.rank = pid
	}
	if p := c.pools[key]; p != nil {
		return p
	}
	var where trace.LocationID
	what := "memory"
	switch number := strconv.FormatInt(id, 10); {
	case kind == gpuDevice && ranked:
		where = c.rankDevice(pid, number).location
	case kind == gpuDevice:
		where = c.device(number).location
	case ranked:
		where, what = c.process(pid).location, "host memory"
	default:
		where, what = c.owner().location, "host memory"
	}
	p := &pool{row: c.rowAt(where)}
	if known {
		p.allocated = c.w.Counter(trace.Counter{Location: where, Name: what + " allocated", Unit: "bytes"})
		p.reserved = c.w.Counter(trace.Counter{Location: where, Name: what + " reserved", Unit: "bytes"})
	} else {
		p.allocated = c.w.Counter(trace.Counter{Location: where, Name: what + " allocated since the begin",
			Unit: "bytes"})
	}
	c.pools[key] = p
	return p
}

// device finds a device by its number.
func (c *rowTree) device(pid string) *device {
	d, ok := c.devices[pid]
	if !ok {
		d = &device{pid: pid, number: pid}
		d.location = c.w.Location(trace.Location{Parent: c.owner().location, Kind: trace.KindDevice, Key: pid,
			Name: "device " + pid, Rank: trace.NoRank})
		c.devices[pid] = d
	}
	return d
}

// rowAt is the row of a location, for samples.
func (c *rowTree) rowAt(id trace.LocationID) *row {
	if c.undefined == nil && id == c.self.location {
		return c.ownRow(c.self)
	}
	return c.at(id)
}
