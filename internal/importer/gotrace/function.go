package gotrace

import (
	"strings"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A dictionary holds functions, stacks and regions.
type dictionary struct {
	w          trace.Writer
	goroutines trace.LocationID

	functions map[string]*function
	lastStart lastStart
	stacks    map[xtrace.Stack]*stack
	text      []byte // of a stack, while it is made
	regions   map[regionKey]trace.RegionID
	waits     [2]map[string]trace.RegionID // by reason; of the program, of the runtime
	lastWait  wait
	lastRange [3]lastRange        // by side
	factNames importer.Attributes // of ranges
	fixed     fixedRegions

	places          places
	functionRegions map[string]trace.RegionID
}

// A function is one that goroutines start in.
type function struct {
	name    string
	file    string // "" if no stack told it
	own     bool   // its goroutines work for the runtime
	defined bool   // the following are known
	group   trace.LocationID
	region  trace.RegionID
	memo    [4]*stack // where its goroutines stopped last
}

// unknownStart groups goroutines of which no stack was ever recorded.
const unknownStart = "(start not recorded)"

// ofRuntime reports whether goroutines that start in a function work for the
// runtime and not for the program.
func ofRuntime(start string) bool {
	return strings.HasPrefix(start, "runtime.") && start != "runtime.main"
}

// function finds a start function by name.
func (c *dictionary) function(name string) *function {
	f := c.functions[name]
	if f == nil {
		f = &function{name: name, own: ofRuntime(name)}
		c.functions[name] = f
	}
	return f
}

// define gives a start function its group and its region.
func (c *dictionary) define(f *function) {
	if f.defined {
		return
	}
	f.group = c.group(c.goroutines, f.name, 0)
	f.region = c.regionOf(f.name, f.file)
	f.defined = true
}

// learn takes the start function from a goroutine's own stack.
func (c *dictionary) learn(g *goroutine, s xtrace.Stack) {
	if s == xtrace.NoStack {
		return
	}
	if c.lastStart.of != s {
		c.lastStart = lastStart{s, c.startOf(s)}
	}
	g.start = c.lastStart.function
}

// startOf is the function that a goroutine with this stack started in; nil where the
// trace does not hold its name.
func (c *dictionary) startOf(s xtrace.Stack) *function {
	known := c.stack(s)
	if known.start == nil {
		if name, file := outermost(s); name != "" {
			known.start = c.function(name)
			known.start.file = file
		}
	}
	return known.start
}

// lastStart is learn's last result: goroutines are often started in a row.
type lastStart struct {
	of       xtrace.Stack
	function *function
}
