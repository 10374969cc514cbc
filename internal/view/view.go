// Package view is the contract of a view: one way of looking at one run or
// several. A view computes a result from a request; picture, table, data and
// hover all come from that one result, so they cannot disagree.
//
// A URL, a command line and a saved picture are the same thing: view name,
// options, selection, size. The same request always gives the same bytes.
package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A View is one way of looking.
type View struct {
	Name  string
	Title string
	// Paper is the source of the idea, for people; may be empty.
	Paper string
	// Summary describes the view in one line.
	Summary string
	// HowToRead is a short text for the page, in plain words.
	HowToRead string
	Needs     Needs
	// Runs is how many runs the view can show together; 0: one. More are refused, see
	// CheckRuns: a run that is left out in silence is a wrong answer.
	Runs int
	// Options are names from the one table of options, see OptionTable.
	Options []Option
	// OfTime: it draws when things happen, and no sums: of a run that is mostly blank the first window is shown first.
	OfTime bool
	// Examples are texts for an option of kind "file", offered by the page.
	Examples []Example
	// Completions are words of the language of such texts: names, and functions, whose text is a call.
	Completions []Example
	Report      Report
	// Data are the types that Data of its results may have, one value of each: the contract
	// with programs, see Schema.
	Data    []any
	Compute Compute
	// AtImport are results about all locations of a run that has many, which its first look would wait for.
	AtImport []Preparer
}

// A Report says how a view takes part in reports: files that are read without the page.
type Report struct {
	// Place is where its picture comes among those of every report, from 1 on, and Height
	// how high it is; 0: it is drawn only where a finding names the view.
	Place, Height int
	// AllLocations and AllRegions: on the page it shows all of them and marks those that are
	// chosen. In a file a row alone would have nothing next to it to compare with.
	AllLocations, AllRegions bool
	// About: it tells why the locations that findings name are different.
	About bool
	// Findings: its data holds the findings. Regions: its table has all regions.
	Findings, Regions bool
	// Lacks says in words why a result is not worth a picture; nil: it always is.
	Lacks func(Result) string
}

// An Example is a text with a name, and a line that describes it.
type Example struct {
	Name string `json:"name"`
	Note string `json:"note"`
	Text string `json:"text"`
}

// Needs lists the data that a run must hold for a view to make sense.
type Needs struct {
	Intervals, Links, Profile, Hierarchy, Coordinates bool
	// Moments that a recorder wrote will do in place of intervals.
	Moments bool
	// Instants or samples of counters will do in place of intervals.
	Instants bool
	// Spans of services, which name the request that they belong to.
	Spans bool
	// Devices: work of GPUs will do in place of spans.
	Devices bool
	// Places of regions in source files.
	Places bool
	// Rows that are busy at recorded times, where there are intervals: samples alone will not do.
	Rows bool
}

// Missing names the data that a run lacks, or "" if it has all.
func (n Needs) Missing(r store.Reader) string {
	switch {
	case n.Intervals && n.Moments && r.Info().Intervals == 0 && hasMoments(r):
	case n.Intervals && n.Profile && r.Info().Intervals == 0 && r.Info().Profile == 0:
		return "this view needs intervals or a profile, and the source has neither" + holdsOnly(r.Info())
	case n.Intervals && n.Instants && r.Info().Instants+r.Info().Samples > 0:
	case n.Intervals && !n.Profile && r.Info().Intervals == 0 && r.Info().Profile == 0:
		return "this view needs intervals, and the source has none" + holdsOnly(r.Info())
	case n.Intervals && !n.Profile && r.Info().Intervals == 0:
		return "this view needs time, and the source is a profile without it"
	case n.Rows && samplesAlone(r):
		return onlySamples
	case n.Spans && n.Devices && !runfacts.HasSpans(r) && !hasDevices(r):
		return "this view needs spans of services (OTLP, Jaeger, Zipkin) or work of GPUs, and the source has neither"
	case n.Spans && !n.Devices && !runfacts.HasSpans(r):
		return "this view needs spans of services (OTLP, Jaeger, Zipkin), and the source has none"
	case n.Places && !hasPlaces(r):
		return "this view needs regions that name their source file, and the source has none"
	case n.Links && r.Info().Links == 0:
		return "this view needs links (messages), and the source has none"
	case n.Coordinates && len(r.Topologies()) == 0:
		return "this view needs coordinates, and the source has none"
	}
	return ""
}

// CheckRuns refuses more runs than a view can show, and says which views show several.
func CheckRuns(v *View, n int, all []*View) error {
	if n <= max(v.Runs, 1) {
		return nil
	}
	var several []string
	for _, x := range all {
		if x.Runs >= n {
			several = append(several, x.Name)
		}
	}
	can := "one run"
	if v.Runs > 1 {
		can = fmt.Sprintf("at most %d runs", v.Runs)
	}
	hint := "ask for each run by itself"
	if len(several) > 0 {
		hint += ", or compare them by one of: " + strings.Join(several, ", ")
	}
	return fmt.Errorf("view %s shows %s, and %d are given; %s", v.Name, can, n, hint)
}

// holdsOnly names the content of a run without intervals: ": it holds 12 samples of
// counters".
func holdsOnly(i *store.Info) string {
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{{i.Samples, "samples of counters"}, {i.Instants, "instants"}, {i.Links, "links"}} {
		if p.n > 0 {
			parts = append(parts, Thousands(p.n)+" "+p.what)
		}
	}
	if parts == nil {
		return ""
	}
	return ": it holds " + strings.Join(parts, ", ")
}

// hasDevices looks for a row of a GPU. O(locations).
func hasDevices(r store.Reader) bool { return runfacts.HasGPU(r.Locations()) }

// hasPlaces looks for a region that names its source file. O(regions).
func hasPlaces(r store.Reader) bool {
	return slices.ContainsFunc(r.Regions(), func(g trace.Region) bool { return g.File != "" })
}

// hasMoments looks for one row of recorded moments. Damaged ones are there too: who reads them gets the error.
func hasMoments(r store.Reader) bool {
	found := errors.New("found")
	err := r.Moments(context.Background(), nil, func(rows []trace.MomentRow) error {
		if len(rows) > 0 {
			return found
		}
		return nil
	})
	return err != nil
}

// A Run is an open run under a name, with its results.
type Run = derived.Run

// A Preparer makes a result of a run at import.
type Preparer = derived.Preparer

// A Request is everything a view may depend on.
type Request struct {
	Runs      []Run // at least one, at most as many as the view can show
	Selection trace.Selection
	Values    Values
	// Size of the picture; only views whose data depends on it may look.
	Size scene.Size
	// together are the runs of the request that this one is a part of: its regions have one colour in all of them.
	together []Run
}

// Store is the reader of the first run.
func (r *Request) Store() store.Reader { return r.Runs[0].Store }

// Window is the selection's time and locations as a query.
func (r *Request) Window() store.Window {
	return store.Window{Begin: r.Selection.Begin, End: r.Selection.End, Locations: r.Selection.Locations}
}

// Digests returns a function that yields the calls of sets of locations in the
// selection's time, lane by lane, with the records of a digest if the store has them.
func (r *Request) Digests(ctx context.Context, name string) func([]trace.LocationID,
	func(*trace.DigestedLane) error) error {
	return func(ids []trace.LocationID, f func(*trace.DigestedLane) error) error {
		w := r.Window()
		w.Locations = ids
		return store.Digests(ctx, r.Store(), name, w, f)
	}
}

// A Result holds the computed data of a view. It may be used from one goroutine at a
// time and must not touch the store after Compute, except in Detail, and where it is Late.
type Result interface {
	// Data is the "data" of the JSON output: marshalled by encoding/json, lists never null.
	Data() any
	// Table is the CSV twin and the page's table.
	Table() *Table
	// Scene lays the result out. The scene does not depend on the theme; its marks carry
	// the items that they show.
	Scene(scene.Size) *scene.Scene
	// Notes lists the clipped, capped or guessed parts.
	Notes() []string
}

// A Late result reads parts of its run when it is drawn, or asked for its data, since it reads few of them.
type Late interface {
	// Failed returns the error of a store that could not be read: what the result gave has no meaning then.
	Failed() error
}

// Failed returns the error of a result that reads its run late.
func Failed(r Result) error {
	if l, ok := r.(Late); ok {
		return l.Failed()
	}
	return nil
}

// Facts describes the items of any scene of a result: an item names things of the result,
// not places. A fact is asked for of every item of a scene, so it must be quick; slow
// facts belong in Detail.
type Facts interface {
	Fact(scene.Item) (Fact, bool)
}

// A Fact describes a thing under the cursor, for the page. Choosing it sets those parts
// of the selection that it has.
type Fact struct {
	Title string     `json:"title"`
	Lines []FactLine `json:"lines"`
	// Text is one sentence; may be empty.
	Text string `json:"text,omitempty"`

	Locations []trace.LocationID `json:"locations,omitempty"`
	Regions   []trace.RegionID   `json:"regions,omitempty"`
	Begin     *trace.Time        `json:"begin,omitempty"`
	End       *trace.Time        `json:"end,omitempty"`
	// Count is how many things the mark stands for, where more than one.
	Count int64 `json:"count,omitempty"`
	// Row is the interval it is, where it is just one.
	Row *store.Row `json:"row,omitempty"`
	// Open are options of the view that a double click sets, such as the root of a subtree.
	Open map[string]string `json:"open,omitempty"`
	// Compare are the names of two runs that a click opens against each other.
	Compare []string `json:"compare,omitempty"`
	// Link opens the place in an editor; see sourcefile.Finder.
	Link string `json:"link,omitempty"`
	// More says that there is more to know than is held, see Detailed.
	More bool `json:"more,omitempty"`
}

// A FactLine is a label with its value: for reading, and exact.
type FactLine struct {
	Label string `json:"label"`
	Value string `json:"value"`
	Exact string `json:"exact,omitempty"`
	// Minor lines are left out where there is room for a few.
	Minor bool `json:"minor,omitempty"`
	// Text is the line of the layout that gave the value, its first line is 1; 0: none did.
	Text int `json:"text,omitempty"`
}

// A Table is rows under columns. Cells are string, int64, float64 or nil.
type Table struct {
	Columns []Column `json:"columns"`
	Rows    [][]any  `json:"rows"`
	// Locations and Regions are selected by choosing a row; nil or one per row.
	Locations []trace.LocationID `json:"locations,omitempty"`
	Regions   []trace.RegionID   `json:"regions,omitempty"`
}

// Entitle gives the column of that name a heading.
func (t *Table) Entitle(name, title string) *Table {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			t.Columns[i].Title = title
		}
	}
	return t
}

// A Column has a name (as in the JSON output), and a unit: "ns", "bytes", "count", "share" or "". Title is its
// heading for people, where that is not the name.
type Column struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"`            // "ns", "bytes", "count", "share" or "".
	Title string `json:"title,omitempty"` // The heading, where that is not the name.
}

// An EmptyError says that a selection holds nothing to show; the page shows it as an empty state, the command line as
// an error.
type EmptyError = words.EmptyError

// Empty makes an EmptyError.
func Empty(hint, format string, args ...any) error { return words.Empty(hint, format, args...) }

// NoIntervals is Empty for a selection without intervals. A run that has samples alone, as a flight recording of a JVM
// may, says so: no other selection has more.
func NoIntervals(r store.Reader, hint, text string) error {
	if samplesAlone(r) {
		return Empty("the views profile, boxprofile and calltree show them", onlySamples)
	}
	return Empty(hint, "%s", text)
}

const onlySamples = "the run has samples alone, which tell how long regions took and not when a row was busy"

func samplesAlone(r store.Reader) bool {
	return r.Info().Intervals > 0 && !slices.Contains(r.Locations().Holds, true)
}

// A Compute makes the result of a request.
type Compute = func(context.Context, *Request) (Result, error)

// InTime refuses requests that select no time of a run that has some.
func InTime(compute Compute) Compute {
	return func(ctx context.Context, q *Request) (Result, error) {
		if err := q.checkTime(); err != nil {
			return nil, err
		}
		return compute(ctx, q)
	}
}

func (r *Request) checkTime() error {
	if r.Store().Info().Timed() && r.Selection.Begin >= r.Selection.End {
		return Empty("choose a longer time", "no time is selected")
	}
	return nil
}

// Ask computes a view.
func Ask(ctx context.Context, v *View, q *Request) (Result, error) {
	return v.Compute(ctx, q.byRows(v))
}
