package table

import (
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An interval is a row of the table: one of some columns of a lane.
type interval struct {
	*Run
	*trace.Columns
	i    int
	path string // of the location; "" until it is asked for
}

// where returns the path of the location, made once for all rows of it.
func (x *interval) where() string {
	if x.path == "" {
		x.path = strings.ToValidUTF8(x.Run.path(x.Location), "\uFFFD")
	}
	return x.path
}

var intervalColumns = []column[interval]{
	narrow(ofLane("location", "its id", false, func(x *interval) (int64, bool) { return int64(x.Location), true })),
	narrow(pathColumn),
	narrow(ofLane("rank", "of the location", true, func(x *interval) (int64, bool) { return x.rank(x.Location) })),
	narrow(ofLane("lane", "which of the location's lanes: intervals that overlap without nesting are in several", false,
		func(x *interval) (int64, bool) { return int64(x.Lane), true })),
	narrow(ofRow("row", "", "its number in the lane; location, lane and row name an interval",
		func(x *interval, from int, out []int64) {
			for i := range out {
				out[i] = int64(x.First + from + i)
			}
		})),
	narrow(ofRow("begin", "ns", "", func(x *interval, from int, out []int64) { copyTimes(out, x.Begin[from:]) })),
	narrow(ofRow("end", "ns", "not included", func(x *interval, from int, out []int64) {
		for i := range out {
			out[i] = int64(x.End(from + i))
		}
	})),
	narrow(ofRow("duration", "ns", "end - begin, with callees (inclusive)",
		func(x *interval, from int, out []int64) { copyTimes(out, x.Duration[from:]) })),
	narrow(ofRow("exclusive", "ns", "without callees",
		func(x *interval, from int, out []int64) { copyTimes(out, x.Exclusive[from:]) })),
	narrow(ofRegion("region", "its name", func(g *trace.Region) string { return g.Name })),
	narrow(ofRow("region_id", "", "its number in regions", func(x *interval, from int, out []int64) {
		for i := range out {
			out[i] = int64(x.Region[from+i])
		}
	})),
	narrow(ofRegionOrNone("category", "of the region", func(g *trace.Region) string { return g.Category })),
	narrow(ofRegion("role", "of the region", func(g *trace.Region) string { return g.Role.String() })),
	inSlices(Column{Name: "parent", Kind: Integer, Null: true,
		Help: "row of the interval around it in the same lane; null at the top"},
		func(v *Vector, x *interval, from, to int) {
			for _, row := range x.Parent[from:to] {
				if row < 0 {
					v.null()
				} else {
					v.integer(int64(row))
				}
			}
		}),
	narrow(ofRow("depth", "", "how many intervals of the lane are around it",
		func(x *interval, from int, out []int64) {
			for i := range out {
				out[i] = int64(x.Depth[from+i])
			}
		})),
	inSlices(Column{Name: "inferred", Kind: Flag,
		Help: "1 if it is not in the source: work around the calls of a rank that records communication only"},
		func(v *Vector, x *interval, from, to int) {
			regions, out := x.regionTexts(), v.integers(to-from)
			for i, g := range x.Region[from:to] {
				out[i] = 0
				if int(g) < len(regions.inferred) && regions.inferred[g] {
					out[i] = 1
				}
			}
		}),
}

// inSlices makes a column that takes the values of rows from … to of the slice of columns of an interval.
func inSlices(c Column, many func(v *Vector, x *interval, from, to int)) column[interval] {
	out := plain(c, func(v *Vector, x *interval) { many(v, x, x.i, x.i+1) })
	out.many = many
	return out
}

// ofRow makes a column of whole numbers that differ from row to row.
func ofRow(name, unit, help string, fill func(x *interval, from int, out []int64)) column[interval] {
	return inSlices(Column{Name: name, Kind: Integer, Unit: unit, Help: help},
		func(v *Vector, x *interval, from, to int) { fill(x, from, v.integers(to-from)) })
}

// ofLane makes a column of whole numbers that all rows of a lane share.
func ofLane(name, help string, nullable bool, get func(x *interval) (int64, bool)) column[interval] {
	return inSlices(Column{Name: name, Kind: Integer, Help: help, Null: nullable},
		func(v *Vector, x *interval, from, to int) {
			value, known := get(x)
			if !known {
				for range to - from {
					v.null()
				}
				return
			}
			out := v.integers(to - from)
			for i := range out {
				out[i] = value
			}
		})
}

var pathColumn = inSlices(Column{Name: "path", Kind: Text, Help: "of the location"},
	func(v *Vector, x *interval, from, to int) {
		path, out := x.where(), v.texts(to-from)
		for i := range out {
			out[i] = path
		}
	})

// ofRegion makes a column of strings that regions have.
func ofRegion(name, help string, get func(*trace.Region) string) column[interval] {
	return inSlices(Column{Name: name, Kind: Text, Help: help}, func(v *Vector, x *interval, from, to int) {
		texts, out := x.regionTexts().of(x.Run, name, get), v.texts(to-from)
		for i, g := range x.Region[from:to] {
			out[i] = ""
			if int(g) < len(texts) {
				out[i] = texts[g]
			}
		}
	})
}

// ofRegionOrNone is ofRegion whose empty strings are null.
func ofRegionOrNone(name, help string, get func(*trace.Region) string) column[interval] {
	return inSlices(Column{Name: name, Kind: Text, Null: true, Help: help},
		func(v *Vector, x *interval, from, to int) {
			texts := x.regionTexts().of(x.Run, name, get)
			for _, g := range x.Region[from:to] {
				if int(g) >= len(texts) || texts[g] == "" {
					v.null()
				} else {
					v.text(texts[g])
				}
			}
		})
}

// regionTexts are the strings of all regions as valid UTF-8, by column, each found once for a run.
type regionTexts struct {
	mu       sync.Mutex
	byColumn map[string][]string

	once     sync.Once
	inferred []bool
}

func (r *Run) regionTexts() *regionTexts {
	t := &r.texts
	t.once.Do(func() {
		regions := r.Store.Regions()
		t.inferred = make([]bool, len(regions))
		for i := range regions {
			t.inferred[i] = trace.Inferred(&regions[i])
		}
	})
	return t
}

func (t *regionTexts) of(r *Run, column string, get func(*trace.Region) string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if found, ok := t.byColumn[column]; ok {
		return found
	}
	regions := r.Store.Regions()
	texts := make([]string, len(regions))
	for i := range regions {
		texts[i] = strings.ToValidUTF8(get(&regions[i]), "\uFFFD")
	}
	if t.byColumn == nil {
		t.byColumn = map[string][]string{}
	}
	t.byColumn[column] = texts
	return texts
}

func copyTimes(out []int64, times []trace.Time) {
	for i, t := range times[:len(out)] {
		out[i] = int64(t)
	}
}

// integers appends n values that are there, and returns them, to be overwritten.
func (v *Vector) integers(n int) []int64 {
	at := len(v.Integers)
	v.Integers = slices.Grow(v.Integers, n)[:at+n]
	v.areThere(n)
	return v.Integers[at:]
}

// texts appends n strings that are there, and returns them, to be overwritten.
func (v *Vector) texts(n int) []string {
	at := len(v.Texts)
	v.Texts = slices.Grow(v.Texts, n)[:at+n]
	v.areThere(n)
	return v.Texts[at:]
}

func (v *Vector) areThere(n int) {
	if v.Null != nil {
		v.Null = append(v.Null, make([]bool, n)...)
	}
}
