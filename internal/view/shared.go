package view

import (
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// Code that kernels of analysis use too is in packages below views: facts of a run in package runfacts, formatted
// numbers in package words. These are the names that views know them by.

// A Hierarchy is a tree of locations.
type Hierarchy = runfacts.Hierarchy

// The server knows views and no kernels: these are for it.

// Chosen returns the locations of a selection for which holds is true, ascending.
func Chosen(t *store.Tree, selected []trace.LocationID, holds []bool) []trace.LocationID {
	return runfacts.Chosen(t, selected, holds)
}

// Sampled reports whether a region is an estimate by sampling of time that other regions hold too, so that totals
// must leave it out.
func Sampled(g *trace.Region) bool { return runfacts.Sampled(g) }

// DefaultMetric is the metric that stands for time: the one marked so, else the first.
func DefaultMetric(metrics []trace.Metric) trace.MetricID { return runfacts.DefaultMetric(metrics) }

// FormatTime writes a time with three significant digits and a unit.
func FormatTime(t trace.Time) string {
	return words.FormatTime(t)
}

// FormatDuration writes nanoseconds with three significant digits and a unit.
func FormatDuration(ns float64) string {
	return words.FormatDuration(ns)
}

// FormatSigned writes a number by a verb that shows its sign, with the minus of all other text.
func FormatSigned(verb string, x float64) string {
	return words.FormatSigned(verb, x)
}

// FormatCount returns a count as text, such as "3.10 M".
func FormatCount(n float64) string {
	return words.FormatCount(n)
}

// FormatBytes returns a size as text, such as 3.1 MiB.
func FormatBytes(n float64) string {
	return words.FormatBytes(n)
}

// FormatIn writes a value in a unit as metrics name it: times and sizes in units of their own, counts plainly, and
// whatever else with the source's own word.
func FormatIn(v float64, unit string) string {
	return words.FormatIn(v, unit)
}

// FormatShare writes a share as a percentage.
func FormatShare(x float64) string {
	return words.FormatShare(x)
}

// FormatChange writes a difference of shares with its sign, where it is large enough to have one.
func FormatChange(x float64) string {
	return words.FormatChange(x)
}

// Thousands writes a whole number with commas.
func Thousands(n int64) string {
	return words.Thousands(n)
}

// NameList names some of the locations: "rank 0, 4, 8–12" where the names differ only in a number at their end,
// else the names; past most pieces it says how many there are.
func NameList(names []string, members []int32, most int) string {
	return words.NameList(names, members, most)
}

// Count writes how many of something there are: "1 location", "1,024 locations".
func Count(n int, what string) string {
	return words.Count(n, what)
}
