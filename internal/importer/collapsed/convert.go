package collapsed

import (
	"bytes"
	"regexp"

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
	stacks  int
}

func newConverter(w trace.Writer, name string) *converter {
	return &converter{w: w, name: name, process: trace.NoLocation, regions: map[string]trace.RegionID{},
		threads: map[string]trace.LocationID{},
		out:     stack.New(w, trace.Metric{Name: "samples", Default: true})}
}

func (c *converter) stack(frames []byte, count float64) {
	c.stacks++
	at, rest := c.location(frames)
	c.frames = c.frames[:0]
	for frame := range bytes.SplitSeq(rest, []byte(";")) {
		c.frames = append(c.frames, c.region(bytes.TrimSpace(frame)))
	}
	c.value[0] = count
	c.out.Add(at, c.frames, c.value[:])
}

var threadFrame = regexp.MustCompile(`^(.*)-(\d+|\?)/(\d+)$`)

// location finds who a stack belongs to, and what is left of the stack.
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
	if c.process == trace.NoLocation {
		c.process = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: c.name,
			Rank: trace.NoRank})
	}
	return c.process, frames
}

// endings mark what sort of code a frame is.
var endings = map[string]string{"_[k]": "kernel", "_[j]": "jit", "_[i]": "inlined", "_[w]": "waker"}

func (c *converter) region(frame []byte) trace.RegionID {
	if id, ok := c.regions[string(frame)]; ok {
		return id
	}
	r := trace.Region{Name: string(frame)}
	if n := len(frame) - 4; n > 0 {
		if kind, ok := endings[string(frame[n:])]; ok {
			r.Name, r.Category = string(frame[:n]), kind
		}
	}
	if r.Name == "" {
		r.Name = "(no name)"
	}
	id := c.w.Region(r)
	c.regions[string(frame)] = id
	return id
}

func (c *converter) finish() { c.out.Finish() }
