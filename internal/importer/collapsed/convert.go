package collapsed

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns stacks into a profile.
type converter struct {
	w       trace.Writer
	name    string
	process trace.LocationID
	out     *stack.Profile
	regions map[string]trace.RegionID
	threads map[string]trace.LocationID
	frames  []trace.RegionID
	value   [1]float64
	factor  float64
	austin  bool
	stacks  int
	mode    string // of Austin: wall, cpu, memory, full
}

func newConverter(w trace.Writer, name string) *converter {
	return &converter{w: w, name: name, process: trace.NoLocation, regions: map[string]trace.RegionID{},
		threads: map[string]trace.LocationID{}}
}

// comment keeps Austin's metadata.
func (c *converter) comment(line string) {
	key, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), ": ")
	if !ok || c.stacks > 0 {
		return
	}
	switch key {
	case "mode":
		c.mode = strings.TrimSpace(value)
	case "austin", "interval":
		c.w.Property(key, strings.TrimSpace(value))
	}
}

// metric returns the metric of the counts, and the factor to its unit. Austin writes microseconds, or bytes.
func (c *converter) metric(frames []byte) (trace.Metric, float64) {
	switch {
	case !austinRoot.Match(frames):
		return trace.Metric{Name: "samples", Default: true}, 1
	case c.mode == "memory":
		return trace.Metric{Name: "memory", Unit: "bytes", Default: true}, 1
	}
	return trace.Metric{Name: "time", Unit: "ns", Default: true}, 1000
}

func (c *converter) stack(frames []byte, count float64) {
	if c.stacks++; c.out == nil {
		m, factor := c.metric(frames)
		c.out, c.factor, c.austin = stack.New(c.w, m), factor, austinRoot.Match(frames)
	}
	at, rest := c.location(frames)
	c.frames = c.frames[:0]
	for frame := range bytes.SplitSeq(rest, []byte(";")) {
		c.frames = append(c.frames, c.region(bytes.TrimSpace(frame)))
	}
	c.value[0] = count * c.factor
	c.out.Add(at, c.frames, c.value[:])
}

var (
	threadFrame = regexp.MustCompile(`^(.*)-(\d+|\?)/(\d+)$`)
	austinRoot  = regexp.MustCompile(`^P(\d+);T((?:\d+:)?(?:\d+|0x[0-9a-fA-F]+))(?:;|\s|$)`)
	austinFrame = regexp.MustCompile(`^(.+):([^:]+):(\d+)$`)
)

// location returns the location of a stack, and the frames that remain.
func (c *converter) location(frames []byte) (trace.LocationID, []byte) {
	first, rest, more := bytes.Cut(frames, []byte(";"))
	if more && bytes.IndexByte(first, '/') > 0 {
		if at, ok := c.threads[string(first)]; ok {
			return at, rest
		}
		if m := threadFrame.FindSubmatch(first); m != nil {
			process := c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: string(m[2]),
				Name: string(m[1]) + " " + string(m[2]), Rank: trace.NoRank})
			at := c.w.Location(trace.Location{Parent: process, Kind: trace.KindThread, Key: string(m[3]),
				Name: string(m[1]) + " " + string(m[3]), Rank: trace.NoRank})
			c.threads[string(first)] = at
			return at, rest
		}
	}
	if m := austinRoot.FindSubmatch(frames); m != nil {
		rest := bytes.TrimPrefix(frames[len("P;T")+len(m[1])+len(m[2]):], []byte(";"))
		if len(rest) == 0 {
			rest = []byte("(no stack)")
		}
		root := string(frames[:len("P;T")+len(m[1])+len(m[2])])
		return importer.Once(c.threads, root, func() trace.LocationID {
			process := c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
				Key: string(m[1]), Name: "process " + string(m[1]), Rank: trace.NoRank})
			return c.w.Location(trace.Location{Parent: process, Kind: trace.KindThread, Key: string(m[2]),
				Name: "thread " + string(m[2]), Rank: trace.NoRank})
		}), rest
	}
	if c.process == trace.NoLocation {
		c.process = c.w.Location(importer.Process(c.name))
	}
	return c.process, frames
}

// endings mark the sort of code of a frame.
var endings = map[string]string{"_[k]": "kernel", "_[j]": "jit", "_[i]": "inlined", "_[w]": "waker"}

// region is that of a frame; of Austin it names file, function and line.
func (c *converter) region(frame []byte) trace.RegionID {
	if id, ok := c.regions[string(frame)]; ok {
		return id
	}
	r := trace.Region{Name: string(frame)}
	if m := austinFrame.FindSubmatch(frame); m != nil && c.austin {
		r.Name, r.File = string(m[2]), string(m[1])
	}
	if n := len(frame) - 4; n > 0 {
		if kind, ok := endings[string(frame[n:])]; ok {
			r.Name, r.Category = string(frame[:n]), kind
		}
	}
	r.Name = cmp.Or(r.Name, "(no name)")
	id := c.w.Region(r)
	c.regions[string(frame)] = id
	return id
}

func (c *converter) finish() { c.out.Finish() }
