package scene

import (
	"math"
	"slices"
	"strings"
)

// roleSections are the families of colours in the order of trace.Role; a test of
// the views holds the two against each other. The first is "no role".
var roleSections = [...]string{"", "compute", "communication", "synchronization", "idle", "io", "copy", "overhead",
	"annotation"}

// RoleColour returns the colour that stands for a role. A role without a family
// (none, or unknown) has the colour of nothing open.
func RoleColour(role uint8) Colour { return family(role).At(0) }

func family(role uint8) Section {
	if int(role) < len(roleSections) && role > 0 {
		return loadPalette().byName[roleSections[role]]
	}
	return Section{Start: int(UIEmpty), Length: 1}
}

// Shade returns the i-th colour of a role's family, 0 that of the role itself.
func Shade(role uint8, i int) Colour { return family(role).At(i) }

// A Giver gives regions their colours, one after the other, so that those asked for first
// have the first choice: of the family of their role, then of the spare colours, then of families that are lent.
// Any two of these differ plainly; past the last one they are given again.
type Giver struct {
	given map[string]Colour // by names as plainName writes them
	uses  map[Colour]int
	lent  []Section
}

// Len returns how many names have colours.
func (g *Giver) Len() int { return len(g.given) }

// Lend lets regions of any role have the colours of a role that no region has.
func (g *Giver) Lend(role uint8) { g.lent = append(g.lent, family(role)) }

// Given returns the colour that regions of a name have by now; one that has none looks like its role.
func (g *Giver) Given(name string, role uint8) (Colour, bool) {
	c, ok := g.given[plainName(name)]
	if !ok {
		c = RoleColour(role)
	}
	return c, ok
}

// Give gives a region its colour, once: of those least given the first in order that none of the
// regions next to it has.
func (g *Giver) Give(name string, role uint8, near []Colour) Colour {
	if c, ok := g.Given(name, role); ok {
		return c
	}
	c := g.choose(plainName(name), role, near)
	g.Set(name, c)
	return c
}

// Set sets the colour of a region that was chosen elsewhere.
func (g *Giver) Set(name string, c Colour) {
	if g.given == nil {
		g.given, g.uses = map[string]Colour{}, map[Colour]int{}
	}
	g.given[plainName(name)] = c
	g.uses[c]++
}

func (g *Giver) choose(name string, role uint8, near []Colour) Colour {
	own := family(role)
	if own.Length == 1 || roleNames[name] {
		return own.At(0)
	}
	best, least := own.At(1), math.MaxInt
	try := func(c Colour) {
		if n := g.uses[c]; n < least && !slices.Contains(near, c) {
			best, least = c, n
		}
	}
	for i := 1; i < own.Length; i++ { // the first is the role's
		try(own.At(i))
	}
	for _, s := range append([]Section{loadPalette().byName["spare"]}, g.lent...) {
		for i := range s.Length {
			try(s.At(i))
		}
	}
	return best
}

// Near returns the colours of regions that cannot be distinguished from another on one of the grounds.
func Near(c Colour) (out []Colour) {
	first, end := loadPalette().byName[roleSections[1]], loadPalette().byName[RampNames[0]]
	for i := first.Start; i < end.Start; i++ {
		other := Colour(i)
		if Difference(c.RGBA(Light), other.RGBA(Light)) < tellsApart ||
			Difference(c.RGBA(Dark), other.RGBA(Dark)) < tellsApart {
			out = append(out, other)
		}
	}
	return out
}

// tellsApart is from where on two colours differ plainly, by CIEDE2000.
const tellsApart = 10

// Choices returns the number of regions of a role that have a colour of their own.
func Choices(role uint8) int {
	return max(family(role).Length-1+loadPalette().byName["spare"].Length, 1)
}

// roleNames are the states that stand for their role in most recorders, and look like it.
var roleNames = map[string]bool{
	"Executing": true, "Computing": true, "computing": true, "compute": true, "Running": true, "running": true,
	"Idle": true, "idle": true, "Blocked": true, "Overhead": true,
}

// LocationColour returns one of twelve distinct hues, starting over past the last.
func LocationColour(i int) Colour { return loadPalette().byName["locations"].At(i) }

// LocationShades returns the number of shades LocationTimeColour tells apart.
func LocationShades() int {
	return loadPalette().byName["location-time"].Length / loadPalette().byName["locations"].Length
}

// LocationTimeColour returns the hue of LocationColour in a lightness that says when:
// at share 0 of a run light, at 1 dark.
func LocationTimeColour(i int, share float64) Colour {
	s := loadPalette().byName["location-time"]
	steps := LocationShades()
	return s.At(i*steps%s.Length + min(int(share*float64(steps)), steps-1))
}

// plainName removes additions of recorders to the same name: blanks round it, the brackets of TAU, the P of the
// profiling layer, the underscores of Fortran.
func plainName(s string) string {
	s = strings.TrimSpace(s)
	s = strings.TrimSpace(strings.TrimSuffix(s, "()"))
	if len(s) > 5 && (s[:5] == "PMPI_" || s[:5] == "pmpi_") {
		s = s[1:]
	}
	if len(s) > 4 && strings.EqualFold(s[:4], "mpi_") {
		s = "MPI_" + strings.ToLower(strings.TrimRight(s[4:], "_"))
	}
	return s
}
