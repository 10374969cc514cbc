package dtrace

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns stacks into profiles, one for each map.
type converter struct {
	w       trace.Writer
	label   string
	name    string
	frames  []trace.RegionID // innermost first
	within  string           // map that is open
	open    bool
	regions map[string]trace.RegionID
	maps    map[string]*stack.Profile
	order   []*stack.Profile
}

func (c *converter) skip(n int, what string) {
	c.w.Report(trace.MissingSamples, what, 1, fmt.Sprintf("%s: line %d", c.label, n))
}

// process is that of keys behind the stack: a name, a name and a number, or none.
func (c *converter) process(keys string) trace.LocationID {
	name, thread := strings.TrimSpace(keys), ""
	if at := strings.LastIndex(name, ","); at > 0 {
		if _, err := strconv.ParseUint(strings.TrimSpace(name[at+1:]), 10, 64); err == nil {
			name, thread = strings.TrimSpace(name[:at]), strings.TrimSpace(name[at+1:])
		}
	}
	name = cmp.Or(name, c.name)
	at := c.w.Location(importer.Process(name))
	if thread == "" {
		return at
	}
	return c.w.Location(trace.Location{Parent: at, Kind: trace.KindThread, Key: thread, Name: "thread " + thread,
		Rank: trace.NoRank})
}

// frame adds a frame below those that are open.
func (c *converter) frame(text string) {
	c.frames = append(c.frames, importer.Once(c.regions, text, func() trace.RegionID {
		name, module := text, ""
		if m := address.FindStringSubmatch(name); m != nil { // as perf prints them
			name = m[1]
			if at := strings.LastIndex(name, " ("); at > 0 && strings.HasSuffix(name, ")") {
				name, module = name[:at], path.Base(name[at+2:len(name)-1])
			}
		}
		if at := strings.Index(name, "`"); at > 0 {
			name, module = name[at+1:], name[:at]
		}
		if cut := offset.ReplaceAllString(name, ""); cut != "" {
			name = cut
		}
		return c.w.Region(trace.Region{Name: name, Category: module})
	}))
}

// count ends a stack.
func (c *converter) count(metric string, at trace.LocationID, count float64) {
	if len(c.frames) == 0 {
		c.frame("(no stack)")
	}
	if metric == "@" {
		metric = "samples"
	}
	p := importer.Once(c.maps, metric, func() *stack.Profile {
		p := stack.New(c.w, trace.Metric{Name: metric, Integer: true, Default: len(c.maps) == 0})
		c.order = append(c.order, p)
		return p
	})
	slices.Reverse(c.frames)
	p.Add(at, c.frames, []float64{count})
	c.frames = c.frames[:0]
}
