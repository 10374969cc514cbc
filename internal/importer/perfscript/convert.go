package perfscript

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns samples into a profile and instants.
type converter struct {
	w       trace.Writer
	now     sample
	open    bool
	frames  []trace.RegionID // innermost first
	regions map[regionKey]trace.RegionID
	opened  importer.Rows
	rows    map[rowKey]*importer.Row
	events  map[eventKey]*stack.Profile
	inOrder []*stack.Profile
	cpu     trace.AttributeID
	event   trace.AttributeID
	samples int
}

type regionKey struct{ symbol, object string }

type rowKey struct {
	comm     string
	pid, tid int64
}

type eventKey struct {
	name    string
	weighed bool
}

func newConverter(w trace.Writer) *converter {
	return &converter{w: w, regions: map[regionKey]trace.RegionID{}, opened: importer.NewRows(w),
		rows: map[rowKey]*importer.Row{}, events: map[eventKey]*stack.Profile{},
		cpu: w.Attribute("cpu"), event: w.Attribute("event")}
}

// begin starts a sample; frames may follow, or one on the same line.
func (c *converter) begin(s sample) {
	c.now, c.open, c.frames = s, true, c.frames[:0]
	if s.rest != "" {
		c.frame([]byte(s.rest))
	}
}

// frame adds a frame to the sample that is open.
func (c *converter) frame(line []byte) bool {
	symbol, object, ok := parseFrame(line)
	if ok {
		c.frames = append(c.frames, c.region(regionKey{symbol, object}))
	}
	return ok
}

func (c *converter) region(k regionKey) trace.RegionID {
	return importer.Once(c.regions, k, func() trace.RegionID {
		r := trace.Region{Name: demangle.Filter(k.symbol)}
		if k.object != "" {
			r.Category = strings.Trim(path.Base(k.object), "[]")
		}
		if r.Name != k.symbol {
			r.Attributes = []trace.Attribute{{Key: "mangled", Value: trace.Text(k.symbol)}}
		}
		return c.w.Region(r)
	})
}

// end writes the sample that is open.
func (c *converter) end() {
	if !c.open {
		return
	}
	c.open = false
	c.samples++
	if len(c.frames) == 0 {
		c.frames = append(c.frames, c.region(regionKey{"(no stack)", ""}))
	}
	r := c.row(rowKey{c.now.comm, c.now.pid, c.now.tid})
	if c.now.timed {
		r.Stream.Instant(c.now.time, c.frames[0])
		r.Stream.Attribute(c.event, trace.Text(c.now.event))
		if c.now.cpu >= 0 {
			r.Stream.Attribute(c.cpu, trace.Integer(c.now.cpu))
		}
	}
	slices.Reverse(c.frames)
	values := []float64{1, c.now.period}
	if !c.now.weighed {
		values = values[:1]
	}
	c.profile().Add(r.At, c.frames, values)
}

// row finds the thread of a sample. A thread that changed its name is another.
func (c *converter) row(k rowKey) *importer.Row {
	r := c.rows[k]
	if r == nil {
		process := trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: k.comm, Rank: trace.NoRank,
			Order: max(k.pid, 0)}
		if k.pid >= 0 {
			process.Name += " " + strconv.FormatInt(k.pid, 10)
		}
		tid := strconv.FormatInt(k.tid, 10)
		l := trace.Location{Parent: c.w.Location(process), Kind: trace.KindThread, Key: tid, Name: "thread " + tid,
			Rank: trace.NoRank, Order: max(k.tid, 0)}
		r = c.opened.Open(l, trace.StreamOptions{Unordered: true})
		c.rows[k] = r
	}
	return r
}

// profile finds the sums of the sample's event. The first event is the one to show.
func (c *converter) profile() *stack.Profile {
	k := eventKey{c.now.event, c.now.weighed}
	p := c.events[k]
	if p == nil {
		first := len(c.events) == 0
		metrics := []trace.Metric{{Name: "samples of " + k.name, Integer: true, Default: first && !k.weighed}}
		if k.weighed {
			m := trace.Metric{Name: k.name, Integer: true, Default: first}
			if strings.HasPrefix(k.name, "cpu-clock") || strings.HasPrefix(k.name, "task-clock") {
				m.Unit = "ns"
			}
			metrics = append(metrics, m)
		}
		p = stack.New(c.w, metrics...)
		c.events[k] = p
		c.inOrder = append(c.inOrder, p)
	}
	return p
}

// comment keeps the lines of the header that name the machine and the command.
func (c *converter) comment(line string) {
	name, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "#")), " : ")
	if ok &&
		slices.Contains([]string{"hostname", "os release", "perf version", "arch", "nrcpus online", "cpudesc",
			"cmdline"}, name) {
		c.w.Property(name, strings.TrimSpace(value))
	}
}

func (c *converter) close() error {
	for _, p := range c.inOrder {
		p.Finish()
	}
	return c.opened.Close()
}
