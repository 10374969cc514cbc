package table

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var locations = listed("locations",
	"The tree of machines, processes, threads and streams. Ids are in preorder, so the descendants of a location "+
		"are `id` to `last`.",
	func(r *Run) int { return r.Store.Locations().Len() },
	[]column[place]{
		narrow(integer("id", "", "its number; `location` in other tables",
			func(p *place) int64 { return int64(p.at) })),
		maybe("parent", "", "the location above; null at the top", func(p *place) (int64, bool) {
			up := p.Store.Locations().Parent[p.at]
			return int64(up), up != trace.NoLocation
		}),
		text("name", "as in the source", func(p *place) string { return p.Store.Locations().Name[p.at] }),
		text("path", "the names from the top, joined by slashes",
			func(p *place) string { return p.path(trace.LocationID(p.at)) }),
		text("kind", "machine, process, thread, stream, or a word of the format",
			func(p *place) string { return string(p.Store.Locations().Kind[p.at]) }),
		maybe("rank", "", "of its process, own or inherited",
			func(p *place) (int64, bool) { return p.rank(trace.LocationID(p.at)) }),
		integer("level", "", "0 at the top", func(p *place) int64 { return int64(p.Store.Locations().Level[p.at]) }),
		integer("last", "", "the last location below it, itself where there is none",
			func(p *place) int64 { return int64(p.Store.Locations().Last[p.at]) }),
		stored(Column{Name: "intervals", Kind: Integer, Help: "how many intervals it has itself"},
			func(p *place) (any, error) { return ownIntervals(p.Run, trace.LocationID(p.at)) }),
		flag("overlay",
			"1 if its intervals repeat the time of another location (sampled stacks, repeated states); "+
				"sums leave them out",
			func(p *place) bool { return p.Store.Locations().IsAside(trace.LocationID(p.at)) }),
		flag("aside", "the name of overlay in the release before",
			func(p *place) bool { return p.Store.Locations().IsAside(trace.LocationID(p.at)) }),
	})

// ownIntervals counts the intervals of a location without those below it.
func ownIntervals(r *Run, id trace.LocationID) (int64, error) {
	if lanes := r.Store.Lanes(); lanes[id] == lanes[id+1] {
		return 0, nil
	}
	whole := store.Window{Begin: 0, End: r.Store.Info().End + 1, Locations: []trace.LocationID{id}}
	n, err := r.Store.Count(whole)
	var below []trace.LocationID
	r.Store.Locations().Children(id, func(c trace.LocationID) {
		if !r.Store.Locations().IsAside(c) {
			below = append(below, c)
		}
	})
	if err != nil || len(below) == 0 {
		return n, err
	}
	whole.Locations = below
	others, err := r.Store.Count(whole)
	return n - others, err
}

var regions = listed("regions", "Regions of the program: functions, operators, states.",
	func(r *Run) int { return len(r.Store.Regions()) },
	[]column[place]{
		narrow(integer("id", "", "its number; `region_id` in other tables",
			func(p *place) int64 { return int64(p.at) })),
		text("name", "`region` in other tables; several regions may share a name",
			func(p *place) string { return p.region(trace.RegionID(p.at)).Name }),
		maybeText("category", "a word of the format",
			func(p *place) string { return p.region(trace.RegionID(p.at)).Category }),
		text("role", "compute, communication, synchronization, idle, io, copy, overhead or annotation",
			func(p *place) string { return p.region(trace.RegionID(p.at)).Role.String() }),
		maybeText("file", "where it is in the program",
			func(p *place) string { return p.region(trace.RegionID(p.at)).File }),
		maybe("line", "", "and on which line", func(p *place) (int64, bool) {
			n := p.region(trace.RegionID(p.at)).Line
			return int64(n), n > 0
		}),
		maybeText("without_end",
			"the region whose calls have no end in the source, if this region is made for them: how long they took is "+
				"not known", func(p *place) string {
				name, without := trace.EndOf(p.region(trace.RegionID(p.at)))
				if !without {
					return ""
				}
				return name
			}),
		flag("inferred", "1 if its intervals are not in the source",
			func(p *place) bool { return trace.Inferred(p.region(trace.RegionID(p.at))) }),
	})

var counters = listed("counters", "Numbers recorded over time; their values are `samples`.",
	func(r *Run) int { return len(r.Store.Counters()) },
	[]column[place]{
		narrow(integer("id", "", "its number; `counter` in samples", func(p *place) int64 { return int64(p.at) })),
		text("name", "", func(p *place) string { return p.Store.Counters()[p.at].Name }),
		maybeText("unit", "", func(p *place) string { return p.Store.Counters()[p.at].Unit }),
		flag("monotone", "1 if its values only grow, 0 if it is a level",
			func(p *place) bool { return p.Store.Counters()[p.at].Monotone }),
		integer("location", "", "id of the location of the counter",
			func(p *place) int64 { return int64(p.Store.Counters()[p.at].Location) }),
		text("path", "of the location", func(p *place) string { return p.path(p.Store.Counters()[p.at].Location) }),
		maybe("rank", "", "of the location",
			func(p *place) (int64, bool) { return p.rank(p.Store.Counters()[p.at].Location) }),
	})

var callPaths = listed("callpaths", "Call paths of a profile: a region under those that called it.",
	func(r *Run) int { return len(r.Store.CallPaths()) },
	[]column[place]{
		narrow(integer("id", "", "its number; `callpath` in profile", func(p *place) int64 { return int64(p.at) })),
		maybe("parent", "", "the path above; null at the top", func(p *place) (int64, bool) {
			up := p.Store.CallPaths()[p.at].Parent
			return int64(up), up != trace.NoCallPath
		}),
		text("path", "the regions from the top, joined by ` => `",
			func(p *place) string { return p.callPath(trace.CallPathID(p.at)) }),
		text("region", "the last of them",
			func(p *place) string { return p.region(p.Store.CallPaths()[p.at].Region).Name }),
		integer("region_id", "", "its number", func(p *place) int64 { return int64(p.Store.CallPaths()[p.at].Region) }),
		integer("depth", "", "how many are above",
			func(p *place) int64 { return int64(p.callDepth(trace.CallPathID(p.at))) }),
		flag("flat",
			"1 if it is the total of a region over all callers, as in the source: never add it to paths",
			func(p *place) bool { return p.Store.CallPaths()[p.at].Flat }),
	})

func (r *Run) callPath(id trace.CallPathID) string {
	var names []string
	for all := r.Store.CallPaths(); id != trace.NoCallPath && int(id) < len(all); id = all[id].Parent {
		names = append(names, r.region(all[id].Region).Name)
	}
	var b strings.Builder
	for i := len(names) - 1; i >= 0; i-- {
		b.WriteString(names[i])
		if i > 0 {
			b.WriteString(" => ")
		}
	}
	return b.String()
}

func (r *Run) callDepth(id trace.CallPathID) int {
	depth := -1
	for all := r.Store.CallPaths(); id != trace.NoCallPath && int(id) < len(all); id = all[id].Parent {
		depth++
	}
	return depth
}

var metrics = listed("metrics", "Metrics of a profile.",
	func(r *Run) int { return len(r.Store.Metrics()) },
	[]column[place]{
		narrow(integer("id", "", "its number", func(p *place) int64 { return int64(p.at) })),
		text("name", "`metric` in profile", func(p *place) string { return p.Store.Metrics()[p.at].Name }),
		maybeText("unit", "ns, bytes, or the source's own; null for a count",
			func(p *place) string { return p.Store.Metrics()[p.at].Unit }),
		maybeText("parent", "the metric above, by name",
			func(p *place) string { return p.Store.Metrics()[p.at].Parent }),
		text("joins", "how values of several locations become one: sum, min, max or mean", func(p *place) string {
			if j := p.Store.Metrics()[p.at].Join; j != trace.JoinSum {
				return string(j)
			}
			return "sum"
		}),
		flag("whole", "1 if values are whole numbers",
			func(p *place) bool { return p.Store.Metrics()[p.at].Integer }),
		flag("main", "1 for the metric of time",
			func(p *place) bool { return p.Store.Metrics()[p.at].Default }),
		maybeText("description", "the source's own text",
			func(p *place) string { return p.Store.Metrics()[p.at].Description }),
	})

func total(name, help string, get func(*store.Info) int64) column[place] {
	return integer(name, "", help, func(p *place) int64 { return get(p.Store.Info()) })
}

var runs = listed("runs", "The run, in one row: the numbers of `parallax info`.",
	func(*Run) int { return 1 },
	[]column[place]{
		text("name", "", func(p *place) string { return p.Name }),
		text("source", "the path or address that was opened", func(p *place) string { return p.Source }),
		text("format", "", func(p *place) string { return p.Store.Info().Format }),
		integer("begin", "ns", "0: times are from the start of the trace", func(*place) int64 { return 0 }),
		integer("end", "ns", "length of the run", func(p *place) int64 { return int64(p.Store.Info().End) }),
		integer("origin", "ns", "the time of the source that is 0 here",
			func(p *place) int64 { return int64(p.Store.Info().Origin) }),
		integer("locations", "", "nodes of the tree", func(p *place) int64 { return int64(p.Store.Locations().Len()) }),
		total("ranks", "", func(i *store.Info) int64 { return int64(i.Ranks) }),
		total("rows", "locations that hold intervals", func(i *store.Info) int64 { return int64(i.Rows) }),
		integer("regions", "", "", func(p *place) int64 { return int64(len(p.Store.Regions())) }),
		total("intervals", "of the source", func(i *store.Info) int64 { return i.Intervals - i.Inferred }),
		total("inferred", "intervals that are not in the source", func(i *store.Info) int64 { return i.Inferred }),
		total("links", "", func(i *store.Info) int64 { return i.Links }),
		integer("counters", "", "", func(p *place) int64 { return int64(len(p.Store.Counters())) }),
		total("samples", "", func(i *store.Info) int64 { return i.Samples }),
		total("instants", "", func(i *store.Info) int64 { return i.Instants }),
		total("profile_rows", "", func(i *store.Info) int64 { return i.Profile }),
		total("depth", "deepest nesting of intervals", func(i *store.Info) int64 { return int64(i.Depth) }),
	})

var report = listed("report",
	"The import report: records that were repaired, guessed or left out, as in `parallax info`.",
	func(r *Run) int { return len(r.Store.Info().Report) },
	[]column[place]{
		text("kind", "repaired, guessed or skipped",
			func(p *place) string { return p.Store.Info().Report[p.at].Kind.String() }),
		text("what", "", func(p *place) string { return p.Store.Info().Report[p.at].What }),
		integer("count", "", "number of cases", func(p *place) int64 { return p.Store.Info().Report[p.at].Count }),
		maybeText("example", "first place where it occurred",
			func(p *place) string { return p.Store.Info().Report[p.at].Example }),
		flag("lost",
			"1 if the run lacks data of the program because of it; 0 for skipped records that repeat others",
			func(p *place) bool { return p.Store.Info().Report[p.at].Kind.Lost() }),
		maybeText("consequence", "effect on the run of parts that are not kept",
			func(p *place) string { return p.Store.Info().Report[p.at].Kind.Consequence() }),
	})
