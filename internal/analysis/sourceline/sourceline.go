// Package sourceline adds up the values of source files and of the lines of one of them.
package sourceline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// MostColumns bounds the columns of a line.
const MostColumns = 512

// Values are the files of a run with their values, and the lines of one of them.
type Values struct {
	Files   []File // largest first
	File    string // the one whose lines these are
	Lines   []Line // with values, by number
	Columns []string
	Full    float64 // the largest value of a column
	Counted bool    // calls are
}

// A File is a source file with its value.
type File struct {
	Name      string
	Exclusive float64
}

// A Line is a line of the file with its values.
type Line struct {
	Number               int
	Exclusive, Inclusive float64
	Calls                float64
	Regions              []trace.RegionID // largest first
	Columns              []float64        // of the metric's number
	Callees              []Callee         // largest first

	byRegion map[trace.RegionID]float64
	byCallee map[trace.RegionID]*Callee
}

// A Callee is a function that a line calls.
type Callee struct {
	Region           trace.RegionID
	Calls, Inclusive float64
}

// A Source states the values to add up.
type Source struct {
	Store  store.Reader
	Window store.Window
	// Locations and Regions are those to add up; nil: all.
	Locations []trace.LocationID
	Regions   []trace.RegionID
	Metric    runfacts.MetricChoice
	// ByLine: the values of lines, not those of regions at their first line.
	ByLine bool
}

// Of adds up the files, and the lines of the file that choose returns.
func Of(ctx context.Context, s Source, choose func(files []File) (string, error)) (*Values, error) {
	g := newGatherer(s)
	return &g.Values, g.gather(ctx, choose)
}

// A gatherer adds up values.
type gatherer struct {
	Values
	Source
	regions []trace.Region
	shown   []bool  // by region; nil for all
	column  []int32 // of each location, -1 for none
	byLines map[int]*Line
}

func newGatherer(s Source) *gatherer {
	g := &gatherer{Source: s, regions: s.Store.Regions(), byLines: map[int]*Line{}}
	if s.Regions != nil {
		g.shown = make([]bool, len(g.regions))
		for _, id := range s.Regions {
			g.shown[id] = true
		}
	}
	return g
}

func (g *gatherer) has(region trace.RegionID) bool { return g.shown == nil || g.shown[region] }

func (g *gatherer) gather(ctx context.Context, choose func([]File) (string, error)) error {
	sums := map[string]float64{}
	each := g.eachRegion
	if g.ByLine {
		each = g.eachLine
	}
	seen := map[trace.LocationID]bool{}
	err := each(ctx, func(v *placed) {
		if v.callee == trace.NoRegion {
			sums[v.file] += v.exclusive
			seen[v.location] = true
		}
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		g.Files = append(g.Files, File{name, sums[name]})
	}
	slices.SortStableFunc(g.Files, func(a, b File) int { return cmp.Compare(b.Exclusive, a.Exclusive) })
	if g.File, err = choose(g.Files); err != nil {
		return err
	}
	g.makeColumns(seen)
	err = each(ctx, func(v *placed) {
		if v.file == g.File {
			g.add(v)
		}
	})
	if err != nil {
		return err
	}
	g.finish()
	return nil
}

// A placed is a value of a line of a region.
type placed struct {
	location                    trace.LocationID
	region, callee              trace.RegionID // callee: NoRegion for the line itself
	file                        string
	line                        int
	calls, inclusive, exclusive float64
}

// eachLine yields the line rows of the metric that have a file.
func (g *gatherer) eachLine(ctx context.Context, f func(*placed)) error {
	s := g.Store
	paths := s.CallPaths()
	var v placed
	return s.Lines(ctx, g.Locations, func(rows []trace.LineRow) error {
		for i := range rows {
			x := &rows[i]
			if x.Metric != g.Metric.ID || !g.has(paths[x.Path].Region) {
				continue
			}
			if v.file = store.FileOfLine(s, x); v.file == "" {
				continue
			}
			v.location, v.region, v.callee, v.line = x.Location, paths[x.Path].Region, trace.NoRegion, int(x.Line)
			v.calls, v.inclusive, v.exclusive = x.Calls, x.Inclusive, x.Exclusive
			if x.Callee != trace.NoCallPath {
				v.callee = paths[x.Callee].Region
			}
			f(&v)
		}
		return nil
	})
}

// eachRegion yields the totals of regions that have a file, at their first line.
func (g *gatherer) eachRegion(ctx context.Context, f func(*placed)) error {
	return runfacts.Totals(ctx, g.Store, g.Window, g.Metric.ID, func(list []runfacts.Total) {
		for _, t := range list {
			x := &g.regions[t.Region]
			if x.Line == 0 && !strings.ContainsAny(x.File, `./\`) || !g.has(t.Region) {
				continue // a tracer may name a library such as MPI in place of a file
			}
			f(&placed{t.Location, t.Region, trace.NoRegion, x.File, x.Line, t.Calls, t.Inclusive, t.Exclusive})
		}
	})
}

// makeColumns gives each location with values a column of the strips: one per rank if there are several, else one per
// location. Above MostColumns several share one.
func (g *gatherer) makeColumns(seen map[trace.LocationID]bool) {
	tree := g.Store.Locations()
	g.column = make([]int32, tree.Len())
	at := map[int]int32{}
	ranks := g.Store.Info().Ranks > 1
	var keys []int
	key := func(id int) int {
		if !ranks {
			return id
		}
		for up := trace.LocationID(id); up != trace.NoLocation; up = tree.Parent[up] {
			if tree.Rank[up] >= 0 {
				return int(tree.Rank[up])
			}
		}
		return -1
	}
	for id := range tree.Len() {
		g.column[id] = -1
		if !seen[trace.LocationID(id)] {
			continue
		}
		if _, ok := at[key(id)]; !ok {
			at[key(id)] = 0
			keys = append(keys, key(id))
		}
	}
	slices.Sort(keys)
	n := min(len(keys), MostColumns)
	g.Columns = make([]string, n)
	for i, k := range keys {
		c := int32(i * n / len(keys))
		at[k] = c
		if g.Columns[c] == "" {
			switch {
			case !ranks:
				g.Columns[c] = tree.Path(trace.LocationID(k))
			case k < 0:
				g.Columns[c] = "no rank"
			default:
				g.Columns[c] = fmt.Sprintf("rank %d", k)
			}
		}
	}
	for id := range tree.Len() {
		if seen[trace.LocationID(id)] {
			g.column[id] = at[key(id)]
		}
	}
}

func (g *gatherer) add(v *placed) {
	l := g.byLines[v.line]
	if l == nil {
		l = &Line{Number: v.line, Columns: make([]float64, len(g.Columns)), byRegion: map[trace.RegionID]float64{},
			byCallee: map[trace.RegionID]*Callee{}}
		g.byLines[v.line] = l
	}
	l.Calls += v.calls
	g.Counted = g.Counted || v.calls > 0
	if v.callee != trace.NoRegion {
		c := l.byCallee[v.callee]
		if c == nil {
			c = &Callee{Region: v.callee}
			l.byCallee[v.callee] = c
		}
		c.Calls += v.calls
		c.Inclusive += v.inclusive
		return
	}
	l.Exclusive += v.exclusive
	l.Inclusive += v.inclusive
	l.byRegion[v.region] += v.inclusive
	if c := g.column[v.location]; c >= 0 {
		l.Columns[c] += g.Metric.Of(v.calls, v.inclusive, v.exclusive)
	}
}

// finish puts lines, their regions and callees in order.
func (g *gatherer) finish() {
	for _, l := range g.byLines {
		for id := range l.byRegion {
			l.Regions = append(l.Regions, id)
		}
		slices.SortFunc(l.Regions, func(a, b trace.RegionID) int {
			return cmp.Or(cmp.Compare(l.byRegion[b], l.byRegion[a]), cmp.Compare(a, b))
		})
		for _, c := range l.byCallee {
			l.Callees = append(l.Callees, *c)
		}
		slices.SortFunc(l.Callees, func(a, b Callee) int {
			return cmp.Or(cmp.Compare(b.Inclusive, a.Inclusive), cmp.Compare(a.Region, b.Region))
		})
		for _, v := range l.Columns {
			g.Full = max(g.Full, v)
		}
		g.Lines = append(g.Lines, *l)
	}
	slices.SortFunc(g.Lines, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
}
