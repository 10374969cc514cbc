package v8log

import (
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Reasons of the import report.
type reason uint8

const (
	otherRecord reason = iota
	brokenRecord
	libraryFrame
	tickBack
)

var reasons = []importer.Reason{
	otherRecord:  importer.Redundant("records of sources, memory and inline caches (they tell no time that was spent)"),
	brokenRecord: importer.Skipped(trace.MissingEvents, "records whose fields do not fit their kind"),
	libraryFrame: importer.Guessed("frames by the library that they are in: the log holds no names of C++ functions; " +
		"`node --prof-process --preprocess` where it was recorded adds them"),
	tickBack: importer.Repaired("ticks that lie before the one before: taken at its time"),
}

// A converter turns ticks into a profile, and events of V8 into intervals.
type converter struct {
	w       trace.Writer
	label   string
	thread  trace.LocationID
	rows    importer.Rows
	samples *stack.Row // nil until the first tick
	total   *stack.Profile
	regions map[[2]string]trace.RegionID
	last    trace.Time
	records int
	reason  trace.AttributeID
	subject trace.AttributeID
	tally   importer.Tally[reason]
}

func newConverter(w trace.Writer, label, name string) *converter {
	process := w.Location(importer.Process(path.Base(name)))
	thread := w.Location(importer.Below(process, trace.KindThread, "main"))
	return &converter{w: w, label: label, thread: thread, rows: importer.NewRows(w),
		regions: map[[2]string]trace.RegionID{}, reason: w.Attribute("reason"),
		subject: w.Attribute("function")}
}

func (c *converter) add(why reason, place int) { c.tally.Add(why, int64(place)) }

// inFile is the name of a function with where it is, "fib /app.js:1:13"; what is before is the tier.
var inFile = regexp.MustCompile(`^([~*^+])?(.*?) ?(\S*):(\d+):(\d+)$`)

// function is the region of code; its kind is JS, Builtin, CPP, …
func (c *converter) function(f code) trace.RegionID {
	return importer.Once(c.regions, [2]string{f.name, f.kind}, func() trace.RegionID {
		r := trace.Region{Name: f.name, Category: f.kind}
		m := inFile.FindStringSubmatch(f.name)
		if m != nil && f.kind != "CPP" {
			r.Name, r.File = m[2], m[3]
			r.Line, _ = strconv.Atoi(m[4])
			r.Category = "JS"
		}
		if r.Name == "" {
			r.Name = "(anonymous)"
			if r.File != "" && m[4] == "1" && m[5] == "1" {
				r.Name = "(top level of " + path.Base(r.File) + ")"
			}
		}
		return c.w.Region(r)
	})
}

// library is the region of an address in it; "" if nothing is known of the address.
func (c *converter) library(name string) trace.RegionID {
	c.tally.Add(libraryFrame, importer.Nowhere)
	label := "[unknown]"
	if name != "" {
		label = "[" + path.Base(name) + "]"
	}
	return importer.Once(c.regions, [2]string{label, "library"}, func() trace.RegionID {
		return c.w.Region(trace.Region{Name: label, Category: "library", File: name})
	})
}

func (c *converter) region(name, category string, role trace.Role) trace.RegionID {
	return importer.Once(c.regions, [2]string{name, category}, func() trace.RegionID {
		return c.w.Region(trace.Region{Name: name, Category: category, Role: role})
	})
}

// stateGC is V8's number for the collector; others have changed over the versions.
const stateGC = 1

// sample takes a tick; frames are innermost first.
func (c *converter) sample(t trace.Time, state int, frames []trace.RegionID) {
	c.records++
	if c.samples == nil {
		c.total = stack.New(c.w, stack.Times()...)
		c.samples = stack.NewRow(c.w, c.total, c.thread)
	}
	if t < c.last {
		c.tally.Add(tickBack, importer.Nowhere)
	}
	c.last = max(c.last, t)
	slices.Reverse(frames)
	if state == stateGC {
		frames = append(frames, c.region("(garbage collector)", "V8", trace.RoleOverhead))
	}
	c.samples.Take(c.last, frames)
}

// row is that of the activities of V8 itself.
func (c *converter) row() *importer.Row {
	c.records++
	return c.rows.Open(importer.Below(c.thread, trace.KindStates, "V8"),
		trace.StreamOptions{Unordered: true, ByName: true})
}

func (c *converter) timer(name string, t trace.Time, begin bool) {
	region := c.region(name, "V8", trace.RoleByName)
	if begin {
		c.row().Stream.Enter(t, region)
	} else {
		c.row().Stream.Leave(t, region)
	}
}

// work is the work of V8 on a function, up to t.
func (c *converter) work(event, function string, t, length trace.Time) {
	s := c.row().Stream
	if region := c.region(event, "V8", trace.RoleOverhead); length > 0 {
		s.Interval(max(t-length, 0), t, region)
	} else {
		s.Instant(t, region)
	}
	if function != "" {
		s.Attribute(c.subject, trace.Text(function))
	}
}

func (c *converter) deopt(t trace.Time, kind, place, why string) {
	s := c.row().Stream
	s.Instant(t, c.region(kind, "deoptimisation", trace.RoleByName))
	s.Attribute(c.reason, trace.Text(why))
	s.Attribute(c.subject, trace.Text(place))
}

func (c *converter) close() error {
	var err error
	if c.samples != nil {
		err = c.samples.Close(c.last)
		c.total.Finish()
	}
	if failed := c.rows.Close(); err == nil {
		err = failed
	}
	c.tally.Report(c.w, c.label, "line", reasons)
	return err
}
