package write

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// devices is the number of GPUs that a machine has, by their numbers; it is counted once.
func (d *definitions) devices() int {
	d.counted.Do(func() {
		for i := range d.locations {
			if d.locations[i].Kind == trace.KindDevice {
				if id, ok := d.number(trace.LocationID(i)); ok && id < 64 {
					d.gpus = max(d.gpus, int(id)+1)
				}
			}
		}
	})
	return d.gpus
}

// onDevice reports whether a location is below a GPU.
func (d *definitions) onDevice(id trace.LocationID) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.above(id, trace.KindDevice) != trace.NoLocation
}

// appendDevices writes the GPU properties of PyTorch's profiler.
func appendDevices(b []byte, n int) []byte {
	for id := range n {
		if id > 0 {
			b = append(b, ",\n"...)
		}
		b = fmt.Appendf(b,
			`    {"id": %d, "name": "simulated GPU", "totalGlobalMem": 85899345920, "computeMajor": 9, `+
				`"computeMinor": 0, "maxThreadsPerBlock": 1024, "warpSize": 32, "numSms": 132}`, id)
	}
	return b
}

// An allocator makes records of PyTorch's allocator from counters of a device's memory.
type allocator struct {
	allocated, change int64
}

// sample takes a sample; taken reports whether it is of such a counter. The allocated size is kept for the reserved
// size, which comes at the same time: then args are those of a record.
func (a *allocator) sample(d *definitions, c *counter, value float64) (args string, taken bool) {
	if c.Unit != "bytes" || c.Name != "memory allocated" && c.Name != "memory reserved" {
		return "", false
	}
	d.mu.RLock()
	device, number := d.above(c.Location, trace.KindDevice), int64(0)
	if device != trace.NoLocation {
		number, _ = d.number(device)
	}
	d.mu.RUnlock()
	if device == trace.NoLocation {
		return "", false
	}
	if c.Name == "memory allocated" {
		a.change, a.allocated = int64(value)-a.allocated, int64(value)
		return "", true
	}
	return fmt.Sprintf(
		`{"Total Reserved": %d, "Total Allocated": %d, "Bytes": %d, "Addr": 140000000000000, "Device Id": %d, `+
			`"Device Type": 1}`, int64(value), a.allocated, a.change, number), true
}
