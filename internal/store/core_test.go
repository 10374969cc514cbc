package store

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestCoreIsWhereNearlyAllIs(t *testing.T) {
	const day = trace.Time(24 * 3600 * 1e9)
	steady := func(c *Core, from, to trace.Time, n int) {
		for i := range n {
			at := from + (to-from)*trace.Time(i)/trace.Time(n)
			c.Add(at, at+(to-from)/trace.Time(n))
		}
	}
	for _, x := range []struct {
		name      string
		end       trace.Time
		fill      func(*Core)
		begin, to trace.Time
		found     bool
	}{
		{"early ones stretch it to 13 days", 13 * day, func(c *Core) {
			steady(c, 0, 1e9, 417)
			steady(c, 13*day-100e9, 13*day, 50_000)
		}, 13*day - 100e9, 13 * day, true},
		{"late ones", 13 * day, func(c *Core) { steady(c, 0, 20e9, 5000); c.Add(13*day-1, 13*day) }, 0, 20e9, true},
		{"an even run", day, func(c *Core) { steady(c, 0, day, 5000) }, 0, 0, false},
		{"many small calls and then one long", day, func(c *Core) { steady(c, 0, 20e9, 5000); c.Add(20e9, day) }, 0, 0, false},
		{"one around all", day, func(c *Core) { c.Add(0, day); steady(c, day-20e9, day, 5000) }, 0, 0, false},
		{"too many outside", day, func(c *Core) { steady(c, 0, 20e9, 100); steady(c, day-20e9, day, 5000) }, 0, 0, false},
		{"nothing", 0, func(c *Core) { c.Add(0, 0) }, 0, 0, false},
	} {
		c := NewCore(x.end)
		x.fill(c)
		begin, end, _, ok := c.Find()
		if ok != x.found || begin < x.begin-2 || begin > x.begin+2 || end > x.to+2 || ok && end < x.to-x.to/1000 {
			t.Errorf("%s: [%d, %d) %v, want [%d, %d) %v", x.name, begin, end, ok, x.begin, x.to, x.found)
		}
	}
}
