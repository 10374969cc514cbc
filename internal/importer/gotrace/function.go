package gotrace

import (
	"strings"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A function is one that goroutines start in.
type function struct {
	name    string
	own     bool // its goroutines work for the runtime
	defined bool // the following are known
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
func (c *converter) function(name string) *function {
	f := c.functions[name]
	if f == nil {
		f = &function{name: name, own: ofRuntime(name)}
		c.functions[name] = f
	}
	return f
}

// define gives a start function its group and its region.
func (c *converter) define(f *function) {
	if f.defined {
		return
	}
	role := trace.RoleCompute
	if f.own {
		role = trace.RoleOverhead
	}
	f.group = c.group(c.goroutines, f.name, 0)
	f.region = c.region(f.name, "goroutine", role)
	f.defined = true
}

// learn takes the start function from a goroutine's own stack.
func (c *converter) learn(g *goroutine, s xtrace.Stack) {
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
func (c *converter) startOf(s xtrace.Stack) *function {
	known := c.stack(s)
	if known.start == nil {
		if name := outermost(s); name != "" {
			known.start = c.function(name)
		}
	}
	return known.start
}

// lastStart is what learn found last: goroutines are often started in a row.
type lastStart struct {
	of       xtrace.Stack
	function *function
}
