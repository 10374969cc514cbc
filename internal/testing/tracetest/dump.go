package tracetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Dump writes everything a store holds as text, the same for the same content
// whatever the order in which it was written. It is meant for small traces.
func Dump(r store.Reader) string { return DumpSome(r, -1) }

// DumpSome is Dump with at most limit records of each kind per location, and of each table; a comment counts those
// left out.
func DumpSome(r store.Reader, limit int) string {
	d := &dumper{r: r, tree: r.Locations(), limit: limit}
	d.nameRegions()
	d.nameLocations()
	i := r.Info()
	d.line(0, "# end %d, origin %d, depth %d; %d locations, %d with intervals, %d ranks", i.End, i.Origin, i.Depth,
		d.tree.Len(), i.Rows, i.Ranks)
	d.line(0, "# %d regions, %d intervals, %d instants, %d samples, %d links, %d profile rows", len(r.Regions()),
		i.Intervals, i.Instants, i.Samples, i.Links, i.Profile)
	for _, k := range slices.Sorted(maps.Keys(i.Properties)) {
		d.line(0, "property %s %s", quote(k), quote(i.Properties[k]))
	}
	d.regions()
	d.readRecords()
	for id := range d.tree.Len() {
		d.location(trace.LocationID(id))
	}
	d.communicators()
	d.topologies()
	d.links()
	d.profile()
	report := slices.Clone(i.Report)
	slices.SortFunc(report, func(a, b trace.ReportEntry) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.What, b.What))
	})
	for _, e := range report {
		d.line(0, "report %s %s %d %s", e.Kind, quote(e.What), e.Count, quote(e.Example))
	}
	return d.out.String()
}

type dumper struct {
	r       store.Reader
	tree    *store.Tree
	limit   int
	out     strings.Builder
	names   []string // of regions, unique
	places  []string // of locations, unique
	mu      sync.Mutex
	records [][]string // by location: lines of intervals, instants and samples
}

// line writes one line at a level of indentation, without blanks at its end.
func (d *dumper) line(level int, format string, args ...any) {
	fmt.Fprintf(&d.out, "%*s%s\n", 2*level, "", strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// some writes lines up to the limit and counts the rest.
func (d *dumper) some(level int, lines []string) {
	for i, s := range lines {
		if d.limit >= 0 && i == d.limit {
			d.line(level, "# %d more", len(lines)-i)
			return
		}
		d.line(level, "%s", s)
	}
}

// nameRegions gives each region a name of its own: its own, or with a number if several share it.
func (d *dumper) nameRegions() {
	regions := d.r.Regions()
	d.names = make([]string, len(regions))
	count := map[string]int{}
	for _, id := range d.sortedRegions() {
		name := regions[id].Name
		count[name]++
		if count[name] > 1 {
			name += "~" + strconv.Itoa(count[name])
		}
		d.names[id] = name
	}
}

// sortedRegions are the regions in an order that does not depend on their ids.
func (d *dumper) sortedRegions() []int {
	regions := d.r.Regions()
	ids := make([]int, len(regions))
	for i := range ids {
		ids[i] = i
	}
	slices.SortFunc(ids, func(i, j int) int {
		a, b := &regions[i], &regions[j]
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Category, b.Category),
			strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return ids
}

func (d *dumper) nameLocations() {
	count := map[string]int{}
	paths := make([]string, d.tree.Len())
	for id := range paths {
		paths[id] = d.tree.Path(trace.LocationID(id))
		count[paths[id]]++
	}
	for id, path := range paths {
		if count[path] > 1 {
			d.places = append(d.places, "#"+strconv.Itoa(id))
		} else {
			d.places = append(d.places, quote(path))
		}
	}
}

func (d *dumper) region(id trace.RegionID) string { return quote(d.names[id]) }

func (d *dumper) regions() {
	for _, id := range d.sortedRegions() {
		g := d.r.Regions()[id]
		s := "region " + quote(g.Name) + " role=" + g.Role.String()
		if d.names[id] != g.Name {
			s += " as=" + quote(d.names[id])
		}
		if g.Category != "" {
			s += " category=" + quote(g.Category)
		}
		if g.File != "" {
			s += " file=" + quote(g.File)
		}
		if g.Line != 0 {
			s += " line=" + strconv.Itoa(g.Line)
		}
		d.line(0, "%s%s", s, facts(g.Attributes))
	}
}

// facts writes attributes in order of their keys.
func facts(list []trace.Attribute) string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b trace.Attribute) int { return strings.Compare(a.Key, b.Key) })
	s := ""
	for _, a := range list {
		s += " " + quote(a.Key) + "=" + writeValue(a.Value)
	}
	return s
}

func (d *dumper) location(id trace.LocationID) {
	level := int(d.tree.Level[id])
	s := fmt.Sprintf("location %s %s", quote(string(d.tree.Kind[id])), quote(d.tree.Name[id]))
	outer := int32(trace.NoRank)
	if p := d.tree.Parent[id]; p != trace.NoLocation {
		outer = d.tree.Rank[p]
	}
	if rank := d.tree.Rank[id]; rank != outer {
		s += " rank=" + strconv.Itoa(int(rank))
	}
	d.line(level, "%s%s", s, facts(d.tree.Attributes[id]))
	for _, group := range d.records[id] {
		d.some(level+1, strings.Split(group, "\n"))
	}
}

// readRecords collects the records of every location; callbacks run on several
// goroutines, but those of one location one after the other.
func (d *dumper) readRecords() {
	ctx := context.Background()
	whole := store.Window{Begin: 0, End: d.r.Info().End}
	for id := range d.tree.Len() { // by name, so that those aside are there
		whole.Locations = append(whole.Locations, trace.LocationID(id))
	}
	d.records = make([][]string, d.tree.Len())
	intervals := make([][]string, d.tree.Len())
	lane := make([]int, d.tree.Len())
	d.must("intervals", d.r.Intervals(ctx, whole, func(c *trace.Columns) error {
		if c.Lane != lane[c.Location] {
			lane[c.Location] = c.Lane
			intervals[c.Location] = append(intervals[c.Location], "lane "+strconv.Itoa(c.Lane))
		}
		for i := range c.Begin {
			at := store.Row{Location: c.Location, Lane: c.Lane, Row: c.First + i}
			list, err := d.r.IntervalAttributes(at)
			if err != nil {
				return err
			}
			intervals[c.Location] = append(intervals[c.Location], fmt.Sprintf("%*s%d..%d %s%s",
				2*int(c.Depth[i]), "", c.Begin[i], c.End(i), d.region(c.Region[i]), facts(list)))
		}
		return nil
	}))
	instants := make([][]string, d.tree.Len())
	d.must("instants", d.r.Instants(ctx, whole, func(c *store.InstantColumns) error {
		for i := range c.Time {
			instants[c.Location] = append(instants[c.Location],
				fmt.Sprintf("%d ! %s", c.Time[i], d.region(c.Region[i])))
		}
		return nil
	}))
	samples := make([][]string, len(d.r.Counters()))
	d.must("samples", d.r.Samples(ctx, nil, 0, whole.End, func(c *store.SampleColumns) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		for i := range c.Time {
			samples[c.Counter] = append(samples[c.Counter], fmt.Sprintf("%d %s=%s", c.Time[i],
				quote(d.r.Counters()[c.Counter].Name), strconv.FormatFloat(c.Value[i], 'g', -1, 64)))
		}
		return nil
	}))
	for id := range d.records {
		d.records[id] = append(joined(intervals[id]), joined(instants[id])...)
	}
	d.counters(samples)
}

// joined is one group of lines, or none.
func joined(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return []string{strings.Join(lines, "\n")}
}

// counters adds to each location its series, in order of their names.
func (d *dumper) counters(samples [][]string) {
	counters := d.r.Counters()
	ids := make([]int, len(counters))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(i, j int) int { return strings.Compare(counters[i].Name, counters[j].Name) })
	for _, i := range ids {
		c := counters[i]
		s := "counter " + quote(c.Name)
		if c.Unit != "" {
			s += " unit=" + quote(c.Unit)
		}
		if c.Monotone {
			s += " monotone"
		}
		d.records[c.Location] = append(append(d.records[c.Location], s), joined(samples[i])...)
	}
}

// must writes a failed query in place of its answer, so that a dump with an error never equals one without.
func (d *dumper) must(what string, err error) {
	if err != nil {
		d.line(0, "# error: %s: %v", what, err)
	}
}
