package view

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// What kernels of analysis use too lies below views: in package runfacts what a store tells of a run, in package words
// numbers as people read them. These are the names that views know them by.

type (
	Devices    = runfacts.Devices
	Hierarchy  = runfacts.Hierarchy
	MemoryPeak = runfacts.MemoryPeak
	SpanSource = runfacts.SpanSource
	Total      = runfacts.Total
	Joined     = runfacts.Joined
)

// QueueCounter is a counter of each GPU that no store holds: it follows from the links of launches.
var QueueCounter = runfacts.QueueCounter

// FindDevices finds the GPUs of the units that a selection touches, whole units each: what a GPU does cannot be
// told without its host.
func FindDevices(t *store.Tree, selected []trace.LocationID) *Devices {
	return runfacts.FindDevices(t, selected)
}

// LaunchLinks hands out the links from calls to what they started, where both intervals are known.
func LaunchLinks(ctx context.Context, r store.Reader, w store.Window, f func(from, to store.Row, at trace.Time)) error {
	return runfacts.LaunchLinks(ctx, r, w, f)
}

// AttributeNamed hands out one attribute of intervals by name; nothing where the run has none of that name.
func AttributeNamed(ctx context.Context, r store.Reader, w store.Window, name string,
	f func(*store.AttributeColumns) error) error {
	return runfacts.AttributeNamed(ctx, r, w, name, f)
}

// Holders says which locations have values.
func Holders(ctx context.Context, r store.Reader) []bool {
	return runfacts.Holders(ctx, r)
}

// NewHierarchy is O(locations).
func NewHierarchy(t *store.Tree, selected []trace.LocationID, holds []bool) *Hierarchy {
	return runfacts.NewHierarchy(t, selected, holds)
}

// Chosen gives the locations of a selection for which holds is true, ascending.
func Chosen(t *store.Tree, selected []trace.LocationID, holds []bool) []trace.LocationID {
	return runfacts.Chosen(t, selected, holds)
}

// RankOf gives the rank of a location; nil where it has none, so that twins say null.
func RankOf(t *store.Tree, id trace.LocationID) *int {
	return runfacts.RankOf(t, id)
}

// Processors gives the processors among the rows of a trace that holds goroutines too; nil where there are not
// both.
func Processors(t *store.Tree, rows []trace.LocationID) []trace.LocationID {
	return runfacts.Processors(t, rows)
}

// Units joins locations into what is compared: with "ranks" all locations of a rank are one, with "locations" each
// is its own; "auto" takes ranks where they have several locations each.
func Units(t *store.Tree, ids []trace.LocationID, by string) (units []trace.LocationID, of []int32, err error) {
	return runfacts.Units(t, ids, by)
}

// ShortNames names locations for labels: by name where all names differ, else by rank where all ranks differ, else
// by as much of the end of the path as it takes, at most the whole.
func ShortNames(t *store.Tree, ids []trace.LocationID) []string {
	return runfacts.ShortNames(t, ids)
}

// MemoryPeaks gives the peaks of those devices whose memory was sampled.
func MemoryPeaks(ctx context.Context, r store.Reader, w store.Window,
	devices []trace.LocationID) ([]MemoryPeak, error) {
	return runfacts.MemoryPeaks(ctx, r, w, devices)
}

// HasSpans reports whether a run holds spans of services: importers of such say of each which trace it belongs to.
func HasSpans(r store.Reader) bool {
	return runfacts.HasSpans(r)
}

// SpanSourceOf gives the spans of a run.
func SpanSourceOf(ctx context.Context, r store.Reader) *SpanSource {
	return runfacts.SpanSourceOf(ctx, r)
}

// LocationSet gives whether a location is one of a selection, or lies below one; nil for all.
func LocationSet(tree *store.Tree, chosen []trace.LocationID) func(trace.LocationID) bool {
	return runfacts.LocationSet(tree, chosen)
}

// Totals hands out the totals of the selection's time and locations: of a trace from its prefix sums, of a profile
// from its rows.
func Totals(ctx context.Context, r store.Reader, w store.Window, metric trace.MetricID, f func([]Total)) error {
	return runfacts.Totals(ctx, r, w, metric, f)
}

// Sampled reports whether a region is an estimate by sampling of time that other regions hold too, so that totals
// must leave it out.
func Sampled(g *trace.Region) bool {
	return runfacts.Sampled(g)
}

// FlatProfile reports whether a profile tells a metric only as totals of regions.
func FlatProfile(ctx context.Context, r store.Reader, metric trace.MetricID) (bool, error) {
	return runfacts.FlatProfile(ctx, r, metric)
}

// DefaultMetric is the metric that stands for time: the one marked so, else the first.
func DefaultMetric(metrics []trace.Metric) trace.MetricID {
	return runfacts.DefaultMetric(metrics)
}

// WithoutEnd says which regions are of calls without an end; nil where none is.
func WithoutEnd(regions []trace.Region) (out []bool) {
	return runfacts.WithoutEnd(regions)
}

// LeaveOpen says which regions the statistics of a window leave out, and how many calls that are, in words; nil
// where there are none, or nothing else.
func LeaveOpen(ctx context.Context, r store.Reader, w store.Window) (skip []bool, note string, err error) {
	return runfacts.LeaveOpen(ctx, r, w)
}

// UnitNames calls units by their rank where they have one of their own.
func UnitNames(t *store.Tree, units []trace.LocationID) []string {
	return runfacts.UnitNames(t, units)
}

// Communicators gives a function that numbers the communicator of an interval, by location, lane and row, from 1
// on in order of their names; 0 where the source names none.
func Communicators(ctx context.Context, r store.Reader,
	w store.Window) (func(trace.LocationID, int, int) int32, error) {
	return runfacts.Communicators(ctx, r, w)
}

// Spans reports whether a run holds spans of distributed tracing.
func Spans(r store.Reader) bool {
	return runfacts.Spans(r)
}

// LinkTargets says which regions links of a kind lead to, by id: of spans, those that another location called.
func LinkTargets(ctx context.Context, r store.Reader, w store.Window, kind trace.LinkKind) ([]bool, error) {
	return runfacts.LinkTargets(ctx, r, w, kind)
}

// Windows are the stretches of time in which something is recorded, where most of a run is blank on all locations
// at once: a profiler that was on now and then.
func Windows(ctx context.Context, r store.Reader) ([][2]trace.Time, error) {
	return runfacts.Windows(ctx, r)
}

// Recorded are the parts of a time range in which the recorder was on, at least one.
func Recorded(ctx context.Context, r store.Reader, begin, end trace.Time) ([][2]trace.Time, error) {
	return runfacts.Recorded(ctx, r, begin, end)
}

// MayHaveWindows is false where one location alone has records for too much of a run for the rest to be blank.
func MayHaveWindows(r store.Reader, recorded trace.Time) bool {
	return runfacts.MayHaveWindows(r, recorded)
}

// RecordedTime is how long the recorder was on in a time range.
func RecordedTime(ctx context.Context, r store.Reader, begin, end trace.Time) (sum trace.Time, err error) {
	return runfacts.RecordedTime(ctx, r, begin, end)
}

// FirstAndLast is when the first of what locations have in a time range begins, and the last ends; begin ≥ end
// where they have nothing.
func FirstAndLast(ctx context.Context, r store.Reader, ids []trace.LocationID,
	begin, end trace.Time) (first, last trace.Time, err error) {
	return runfacts.FirstAndLast(ctx, r, ids, begin, end)
}

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

// FormatCount writes a count for people: "3.10 M".
func FormatCount(n float64) string {
	return words.FormatCount(n)
}

// FormatBytes writes a size for people.
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
