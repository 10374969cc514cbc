package plot

import "github.com/parallax-hpc/parallax/internal/scene"

// Key explains a colour in a legend.
func Key(label string, c scene.Colour) scene.LegendEntry {
	return scene.LegendEntry{Label: label, Colour: c, Region: scene.NoID, Parent: scene.NoID}
}

// FlaggedKey explains a colour that is drawn with flags.
func FlaggedKey(label string, c scene.Colour, flags scene.Flag) scene.LegendEntry {
	e := Key(label, c)
	e.Flags = flags
	return e
}

// RegionKey explains the colour of a region, which choosing the entry selects.
func RegionKey(label string, c scene.Colour, region uint32) scene.LegendEntry {
	e := Key(label, c)
	e.Region = region
	return e
}

// RampKey explains all colours of a palette, with the values at its ends.
func RampKey(label, palette, low, high string) scene.LegendEntry {
	return RangeKey(label, scene.Ramp(palette, 0), scene.Ramp(palette, 1), low, high)
}

// RangeKey explains the colours from one of a palette to another.
func RangeKey(label string, from, to scene.Colour, low, high string) scene.LegendEntry {
	e := Key(label, from)
	e.RampEnd, e.RampLow, e.RampHigh = to, low, high
	return e
}

// More and Less are the colours of increases and decreases.
var More, Less = scene.Ramp("diverging", 0.92), scene.Ramp("diverging", 0.08)

// Change returns the colour of a difference.
func Change(v float64) scene.Colour {
	if v > 0 {
		return More
	}
	return Less
}
