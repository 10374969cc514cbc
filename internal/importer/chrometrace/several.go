package chrometrace

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Kineto writes a file a rank, in which the pid of GPU work is the number of a device. People also put the files of all
// ranks into one, with a pid for each: then processes are named after their ranks, and the GPU work of such a pid is
// that of its own devices.

// ranked reports whether a pid of a Kineto file is a rank of several.
func (c *rowTree) ranked(pid string) bool {
	if c.dialect != kineto || c.rank >= 0 {
		return false
	}
	m := c.pids[pid]
	return m != nil && m.namesRank()
}

// namesRank reports whether a process is named after its rank or its place in a job.
func (m *meta) namesRank() bool {
	if m.asked != m.name {
		m.asked, m.rank = m.name, processRank(m.name) >= 0 || coordinates(m.name) != nil
	}
	return m.rank
}

// severalRanks reports whether a file told of none but processes that are named after their ranks.
func (c *rowTree) severalRanks() bool { return c.undefined != nil && len(c.processes) > 0 }

// owner is the rank that a file is about. It is defined where something is on it.
func (c *rowTree) owner() *process {
	if c.undefined != nil {
		c.self.location = c.w.Location(*c.undefined)
		c.undefined = nil
	}
	return c.self
}

// rankOf numbers the ranks of a file, since each counts its launches by itself; 0 if it is one.
func (c *rowTree) rankOf(r *record) int32 {
	pid := c.place(r).pid
	if !c.ranked(pid) {
		return 0
	}
	return int32(c.process(pid).location) + 1
}

var devicePattern = regexp.MustCompile(`(?i)^(?:gpu|device)[ _:#-]?(\d{1,4})[ /,:]+(stream.*)$`)

// deviceOf is the device of a place that holds GPU work.
func (c *rowTree) deviceOf(p *place) *device {
	if !c.ranked(p.pid) {
		return c.device(p.pid)
	}
	number := ""
	if m := devicePattern.FindStringSubmatch(p.name); m != nil {
		number = m[1]
	}
	return c.rankDevice(p.pid, number)
}

// rankDevice finds a device of one of several ranks, by its number.
func (c *rowTree) rankDevice(pid, number string) *device {
	key := pid + "\x00" + number
	d, ok := c.devices[key]
	if !ok {
		d = &device{pid: pid, number: number}
		d.location = c.w.Location(trace.Location{Parent: c.process(pid).location, Kind: trace.KindDevice, Key: number,
			Name: "device " + number, Rank: trace.NoRank})
		c.devices[key] = d
	}
	return d
}

// streamName leaves out the device, under which the stream is.
func streamName(name string) string {
	if m := devicePattern.FindStringSubmatch(name); m != nil {
		return m[2]
	}
	return name
}

// sameAsLaunches returns the ids of flows that end where a piece of GPU work begins whose launch is known by its
// correlation id.
func (c *reader) sameAsLaunches(ids []uint64) []uint64 {
	type point struct {
		location trace.LocationID
		time     trace.Time
	}
	order := func(a, b point) int {
		if a.location != b.location {
			return cmp.Compare(a.location, b.location)
		}
		return cmp.Compare(a.time, b.time)
	}
	begins := make([]point, len(c.works))
	for i, w := range c.works {
		begins[i] = point{w.location, w.time}
	}
	parallel.Sort(begins, order)
	var mu sync.Mutex
	_ = parallel.Ranges(context.Background(), len(c.launchFlows), 1<<14, func(from, to int) {
		var found []uint64
		for _, f := range c.launchFlows[from:to] {
			if f.kind != 'f' || f.place.gpu == nil {
				continue
			}
			if _, ok := slices.BinarySearchFunc(begins, point{f.place.gpu.location, f.at}, order); ok {
				found = append(found, f.key)
			}
		}
		mu.Lock()
		ids = append(ids, found...)
		mu.Unlock()
	})
	return ids
}
