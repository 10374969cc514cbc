package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A gatherer adds up the values of the files, and of the lines of one of them.
type gatherer struct {
	*result
	shown   []bool  // by region; nil for all
	column  []int32 // of each location, -1 for none
	byLines map[int]*line
}

func newGatherer(r *result) *gatherer {
	g := &gatherer{result: r, byLines: map[int]*line{}}
	if chosen := r.request.Selection.Regions; chosen != nil {
		g.shown = make([]bool, len(r.regions))
		for _, id := range chosen {
			g.shown[id] = true
		}
	}
	return g
}

func (g *gatherer) has(region trace.RegionID) bool { return g.shown == nil || g.shown[region] }

func (g *gatherer) gather(ctx context.Context) error {
	sums := map[string]float64{}
	each := g.eachRegion
	if g.byLine {
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
	if err := g.chooseFile(sums); err != nil {
		return err
	}
	g.makeColumns(seen)
	err = each(ctx, func(v *placed) {
		if v.file == g.file {
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

// eachLine hands out the line rows of the metric that have a file.
func (g *gatherer) eachLine(ctx context.Context, f func(*placed)) error {
	s := g.request.Store()
	paths := s.CallPaths()
	var v placed
	return s.Lines(ctx, g.request.Selection.Locations, func(rows []trace.LineRow) error {
		for i := range rows {
			x := &rows[i]
			if x.Metric != g.metric.ID || !g.has(paths[x.Path].Region) {
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

// eachRegion hands out the totals of regions that have a file, at their first line.
func (g *gatherer) eachRegion(ctx context.Context, f func(*placed)) error {
	return runfacts.Totals(ctx, g.request.Store(), g.request.Window(), g.metric.ID, func(list []runfacts.Total) {
		for _, t := range list {
			x := &g.regions[t.Region]
			if x.File == "" || !g.has(t.Region) {
				continue
			}
			f(&placed{t.Location, t.Region, trace.NoRegion, x.File, x.Line, t.Calls, t.Inclusive, t.Exclusive})
		}
	})
}

// makeColumns gives each location with values a column of the strips: one per rank if there are several, else one per
// location. Above maxColumns several share one.
func (g *gatherer) makeColumns(seen map[trace.LocationID]bool) {
	tree := g.request.Store().Locations()
	g.column = make([]int32, tree.Len())
	at := map[int]int32{}
	ranks := g.request.Store().Info().Ranks > 1
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
	n := min(len(keys), maxColumns)
	g.columns = make([]string, n)
	for i, k := range keys {
		c := int32(i * n / len(keys))
		at[k] = c
		if g.columns[c] == "" {
			switch {
			case !ranks:
				g.columns[c] = tree.Path(trace.LocationID(k))
			case k < 0:
				g.columns[c] = "no rank"
			default:
				g.columns[c] = fmt.Sprintf("rank %d", k)
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
		l = &line{number: v.line, columns: make([]float64, len(g.columns)), byRegion: map[trace.RegionID]float64{},
			byCallee: map[trace.RegionID]*callee{}}
		g.byLines[v.line] = l
	}
	l.calls += v.calls
	g.counted = g.counted || v.calls > 0
	if v.callee != trace.NoRegion {
		c := l.byCallee[v.callee]
		if c == nil {
			c = &callee{region: v.callee}
			l.byCallee[v.callee] = c
		}
		c.calls += v.calls
		c.inclusive += v.inclusive
		return
	}
	l.exclusive += v.exclusive
	l.inclusive += v.inclusive
	l.byRegion[v.region] += v.inclusive
	if c := g.column[v.location]; c >= 0 {
		l.columns[c] += g.metric.Of(v.calls, v.inclusive, v.exclusive)
	}
}

// finish puts lines, their regions and callees in order.
func (g *gatherer) finish() {
	for _, l := range g.byLines {
		for id := range l.byRegion {
			l.regions = append(l.regions, id)
		}
		slices.SortFunc(l.regions, func(a, b trace.RegionID) int {
			return cmp.Or(cmp.Compare(l.byRegion[b], l.byRegion[a]), cmp.Compare(a, b))
		})
		for _, c := range l.byCallee {
			l.callees = append(l.callees, *c)
		}
		slices.SortFunc(l.callees, func(a, b callee) int {
			return cmp.Or(cmp.Compare(b.inclusive, a.inclusive), cmp.Compare(a.region, b.region))
		})
		for _, v := range l.columns {
			g.full = max(g.full, v)
		}
		g.lines = append(g.lines, *l)
	}
	slices.SortFunc(g.lines, func(a, b line) int { return cmp.Compare(a.number, b.number) })
}

// calleeWords lists the callees of a line.
func (r *result) calleeWords(l *line) string {
	var words []string
	for i, c := range l.callees {
		if i == 3 {
			words = append(words, fmt.Sprintf("%d more", len(l.callees)-i))
			break
		}
		w := r.regions[c.region].Name
		if c.calls > 0 {
			w += " (" + view.FormatCount(c.calls) + "×)"
		}
		words = append(words, w)
	}
	return strings.Join(words, ", ")
}
