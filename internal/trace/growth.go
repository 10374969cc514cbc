package trace

// A Growth follows the values of one counter in order of time. Its zero value is ready.
type Growth struct {
	first, last float64
	any, falls  bool
}

// Add takes the next value. NaN is neither more nor less.
func (g *Growth) Add(v float64) {
	if v != v {
		return
	}
	if !g.any {
		g.first, g.last, g.any = v, v, true
		return
	}
	g.falls = g.falls || v < g.last
	g.last = v
}

// Settle sets the properties of a counter that follow from its values, and returns whether its format was wrong: one
// that falls does not accumulate, even if its format says so.
func (g *Growth) Settle(c *Counter) (wrong bool) {
	c.Grows = g.any && !g.falls && g.last > g.first
	if c.Monotone && g.falls {
		c.Monotone = false
		return true
	}
	return false
}

// FallingCounters is the report of a store on counters whose format calls them accumulated and whose values fall.
const FallingCounters = "counters that should accumulate but whose values fall, taken as levels"
