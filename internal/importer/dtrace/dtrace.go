// Package dtrace reads stacks that DTrace and bpftrace count: the output of `@[ustack()] = count()` and the like.
//
// The formats: DTrace prints the frames of a stack from the innermost on, each as module`function+0x1f, and the count in a
// line of its own. bpftrace prints @name[, the frames as function+384, other keys behind the stack, and ]: count; of two
// stacks in one key the second is that of the user.
//
//	file             location (process)
//	keys             process by name, thread by name and number, if bpftrace prints them behind the stack
//	frame            region; its module is the category
//	map              metric
//
// What it lacks: the unit of a map is not told. Maps without a stack, and histograms, are counted.
package dtrace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of both.
var Format = &importer.Format{Name: "dtrace", Title: "stacks of DTrace and bpftrace", Text: true,
	Claim: importer.EachFile(isDTrace, isBpftrace), Import: importer.OneFile(read)}

var (
	dtraceHead  = regexp.MustCompile(`^CPU +ID +FUNCTION:NAME`)
	dtraceFrame = regexp.MustCompile("^\\s+[\\w.+\\-]+`.+\\+0x[0-9a-f]+$")
	openMap     = regexp.MustCompile(`^@(\w*)\[\s*$`)
	closeMap    = regexp.MustCompile(`^(.*)\]: (-?\d+)\s*$`)
	offset      = regexp.MustCompile(`\+(?:0x[0-9a-f]+|\d+)$`)
	address     = regexp.MustCompile(`^[0-9a-f]{4,16} (.*)$`)
)

func isDTrace(head []byte) bool {
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) > 0 {
			return dtraceHead.Match(line) && bytes.Contains(head, []byte("`")) || dtraceFrame.Match(line)
		}
	}
	return false
}

// isBpftrace: a map with a stack, below what bpftrace says first.
func isBpftrace(head []byte) bool {
	if !importer.IsText(head) {
		return false
	}
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '@' {
			return openMap.Match(line)
		} else if len(line) > 0 && !bytes.HasPrefix(line, []byte("Attach")) {
			return false
		}
	}
	return false
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := &converter{w: w, label: label, name: path.Base(run.Name), regions: map[string]trace.RegionID{},
		maps: map[string]*stack.Profile{}}
	take := c.dtrace
	if isBpftrace(run.Source.Head(run.Files[0])) {
		take = c.bpftrace
	}
	if err := importer.Lines(ctx, in, label, w, take); err != nil {
		return err
	}
	if len(c.order) == 0 {
		return importer.Malformed(label, "", "holds no stack with a count")
	}
	if len(c.frames) > 0 {
		w.Report(trace.Skipped, "a stack without a count: the file may be cut", 1, label)
	}
	for _, p := range c.order {
		p.Finish()
	}
	return nil
}

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
	c.w.Report(trace.Skipped, what, 1, fmt.Sprintf("%s: line %d", c.label, n))
}

func (c *converter) dtrace(n int, line []byte) {
	text := strings.TrimSpace(string(line))
	count, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "" && len(c.frames) > 0:
		c.skip(n, "stacks without a count")
		c.frames = c.frames[:0]
	case text == "":
	case err == nil && len(c.frames) > 0:
		c.count("samples", c.process(""), count)
	case strings.Contains(text, "`") || strings.HasPrefix(text, "0x"):
		c.frame(text)
	case !dtraceHead.MatchString(text) && !strings.Contains(text, ":"):
		c.skip(n, "lines that are no frame of a stack")
	}
}

func (c *converter) bpftrace(n int, line []byte) {
	text := strings.TrimSpace(string(line))
	switch m := openMap.FindStringSubmatch(text); {
	case m != nil:
		c.open, c.within, c.frames = true, "@"+m[1], c.frames[:0]
		return
	case !c.open:
		if strings.HasPrefix(text, "@") || strings.HasPrefix(text, "[") {
			c.skip(n, "maps without a stack, and histograms")
		}
		return
	case text == "" || text == ",": // between two stacks
		return
	}
	m := closeMap.FindStringSubmatch(text)
	if m == nil {
		c.frame(text)
		return
	}
	c.open = false
	count, _ := strconv.ParseFloat(m[2], 64)
	c.count(c.within, c.process(strings.TrimPrefix(m[1], ",")), count)
}

// process is that of keys behind the stack: a name, a name and a number, or none.
func (c *converter) process(keys string) trace.LocationID {
	name, thread := strings.TrimSpace(keys), ""
	if at := strings.LastIndex(name, ","); at > 0 {
		if _, err := strconv.ParseUint(strings.TrimSpace(name[at+1:]), 10, 64); err == nil {
			name, thread = strings.TrimSpace(name[:at]), strings.TrimSpace(name[at+1:])
		}
	}
	if name == "" {
		name = c.name
	}
	at := c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: name, Rank: trace.NoRank})
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
