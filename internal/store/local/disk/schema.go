// Package disk is the bytes of a store: every table and column, declared once
// (schema.go, columns.go), the manifest with sizes and checksums, and the files.
package disk

import (
	"slices"
	"strings"
)

// A colType is how one value of a column is in its file: little endian.
type colType string

const (
	u8  colType = "u8"
	u16 colType = "u16"
	u32 colType = "u32"
	u64 colType = "u64"
	i32 colType = "i32"
	i64 colType = "i64"
	f64 colType = "f64"
)

var typeWidth = map[colType]int64{u8: 1, u16: 2, u32: 4, u64: 8, i32: 4, i64: 8, f64: 8}

// A columnKind says how long a column is and when it is checked.
type columnKind uint8

const (
	plain   columnKind = iota // one value a row
	Offsets                   // one more than rows: row i owns [v[i], v[i+1]) of another table
	Free                      // as long as an offsets column says
	WithAll                   // one more than rows: the last is of all rows together
)

// A column is one file of a store. The file's name is table.name.type.
type column struct {
	table, name string
	Kind        columnKind
	typ         colType
	Per         int64 // values a row, 0 for 1
	Packed      bool  // in frames, see packed.go
	Meaning     string
}

// A Column is one of the schema, or SectionOffsets.
type Column = column

func (c *column) File() string { return c.table + "." + c.name + "." + string(c.typ) }

// Floats reports whether the values are floating point numbers.
func (c *column) Floats() bool { return c.typ == f64 }

func (c *column) Width() int64 { return typeWidth[c.typ] * max(c.Per, 1) }

// A table is a group of columns with as many rows.
type table struct {
	Name    string
	Core    bool // small: its checksums are verified at every Open
	Meaning string
	Columns []column
}

// version of the format. It goes up with every change that another program would
// misread; stores of another version are imported again, see version.go.
const Version = 6

// schema declares every file of a store but the manifest and the sections of
// summaries. The document docs/store-format.md is written from it.
var Schema = buildSchema()

// packedTables are those that grow with the trace and are touched or unpacked before they are used, all over: none of
// their columns is searched in place.
var packedTables = map[string]bool{"interval": true, "link": true, "sample": true, "sum": true, "node": true,
	"group": true, "link_sum": true, "profile": true, "line": true, "atomic": true,
	"moment": true}

// packedColumns are those of other tables with little information per row: with many locations and few intervals each
// they were a seventh of a store. A reader unpacks them whole when it opens the store. The row and the key of an
// attribute were most of a store whose intervals have many. Its value stays plain, since it may be changed, see
// package rename.
var packedColumns = map[string]bool{
	"string.offset.u64": true, "location.name.u32": true, "location.kind.u32": true, "location.parent.u32": true,
	"location.last.u32": true, "location.lane.u32": true,
	"location.level.u16": true, "location.rank.i32": true, "location.group.u64": true, "location.group_level.u8": true,
	"location.group_roles.u16": true,
	"lane.row.u64":             true, "lane.end.i64": true, "lane.checkpoint.u64": true, "lane.forest.u64": true,
	"interval_fact.row.u64": true, "interval_fact.attribute.u32": true,
}

// isPacked reports whether a column is packed, by its file.
func isPacked(file string) bool {
	table, _, _ := strings.Cut(file, ".")
	return packedTables[table] || packedColumns[file]
}

// SectionOffsets is how offsets of a section are packed.
var SectionOffsets = &column{typ: u64}

// tableAt returns the place of a table in the schema.
func tableAt(name string) int {
	return slices.IndexFunc(Schema, func(t table) bool { return t.Name == name })
}

func buildSchema() []table {
	all := append(definitionTables(), recordTables()...)
	all = append(all, indexTables()...)
	for i := range all {
		for j := range all[i].Columns {
			c := &all[i].Columns[j]
			c.table = all[i].Name
			c.Packed = packedTables[c.table] || packedColumns[c.File()]
		}
	}
	return all
}

func col(name string, typ colType, meaning string) column {
	return column{name: name, typ: typ, Meaning: meaning}
}

func offsetCol(name string, meaning string) column {
	return column{name: name, Kind: Offsets, typ: u64, Meaning: meaning}
}

func factColumns(owner, ownerMeaning string, typ colType, key, keyMeaning string) []column {
	return []column{
		col(owner, typ, ownerMeaning), col(key, u32, keyMeaning),
		col("kind", u8, "1 integer, 2 number, 3 text, 4 text of sixteen hexadecimal digits"),
		col("bits", u64, "the integer, the bits of the number, the number of the text, or what its digits are"),
	}
}

func definitionTables() []table {
	return []table{
		{"string", true, "Names of everything defined, each once. Other tables name a string by its row.", []column{
			offsetCol("offset", "offset of the string in `bytes`"),
			{name: "bytes", Kind: Free, typ: u8, Meaning: "UTF-8, not terminated"},
		}},
		{"location", true, "The tree in preorder, children in display order.", []column{
			col("name", u32, "string"), col("kind", u32, "string"),
			col("parent", u32, "location, 2^32-1 at the top"),
			col("last", u32, "last location of the subtree"),
			col("level", u16, "0 at the top"),
			col("rank", i32, "own or inherited, -1 for none"),
			{name: "lane", Kind: Offsets, typ: u32, Meaning: "its lanes in the numbering of all lanes"},
			{name: "group", Kind: WithAll, typ: u64, Meaning: "first of its values in `group.time`"},
			{name: "group_level", Kind: WithAll, typ: u8, Meaning: "bins of `group.time` are 2^level ns wide"},
			{name: "group_roles", Kind: WithAll, typ: u16, Meaning: "bit r set: bins of role r are kept"},
		}},
		{"location_fact", true, "Attributes of locations, sorted by location.",
			factColumns("location", "location", u32, "key", "string")},
		{"region", true, "What can be entered.", []column{
			col("name", u32, "string"), col("category", u32, "string"), col("role", u8, "as numbered in package trace"),
			col("file", u32, "string"), col("line", i32, "0 unknown"),
		}},
		{"region_fact", true, "Attributes of regions, sorted by region.",
			factColumns("region", "region", u32, "key", "string")},
		{"attribute", true, "Kinds of facts of intervals and instants.", []column{col("name", u32, "string")}},
		{"counter", true, "Series of samples.", []column{
			col("location", u32, "location"), col("name", u32, "string"), col("unit", u32, "string"),
			col("monotone", u8, "bit 0: counts on, bit 1: its values only grow"),
			col("first", u64, "first row in `sample`"), col("count", u64, "number of samples"),
		}},
		{"communicator", true, "Ordered groups of locations.", []column{
			col("name", u32, "string"), col("parent", u32, "communicator, 2^32-1 for none"),
			offsetCol("member", "its rows in `member`"),
		}},
		{"member", true, "Members of communicators; the index within is the rank.",
			[]column{col("location", u32, "location")}},
		{"coordinate", true, "Places of locations in topologies; the manifest lists the topologies.", []column{
			col("topology", u32, "index in the manifest's list"), col("location", u32, "location"),
			offsetCol("value", "its rows in `axis`"),
		}},
		{"axis", true, "Coordinates, one a dimension.", []column{col("value", i64, "place on the axis")}},
		{"callpath", true, "Call paths of profiles.", []column{
			col("parent", u32, "call path, 2^32-1 at a root"), col("region", u32, "region"),
			col("flat", u8, "1: total over all callers"),
		}},
		{"lane", true, "Sequences of properly nested intervals, by location.", []column{
			offsetCol("row", "its rows in `interval`"),
			col("end", i64, "when its last interval ends, ns"),
			offsetCol("checkpoint", "its rows in `checkpoint`"),
			offsetCol("forest", "its rows in `level`"),
		}},
	}
}

func recordTables() []table {
	f := func(names ...string) []column {
		var out []column
		for _, n := range names {
			out = append(out, col(n, f64, ""))
		}
		return out
	}
	return []table{
		{"interval", false, "Stays in regions, by lane, in preorder: by begin, parents before children.", []column{
			col("begin", i64, "ns from the start of the trace"), col("duration", i64, "ns"),
			col("exclusive", i64, "duration less the union of its direct children, ns"),
			col("region", u32, "region"), col("parent", i32, "row within the lane, -1 at the top"),
			col("depth", u16, "0 at the top; stays at 65535"),
		}},
		{"caller", false,
			"Rows at the top of a lane whose caller is in another lane, of this location or another one, sorted by " +
				"row.", []column{
				col("row", u64, "row of `interval`"), col("caller", u64, "row of `interval`"),
			}},
		{"cover", false,
			"When a row is innermost in its lane and has children in other lanes, of any location, by lane and " +
				"begin: time that is not exclusive.", []column{
				col("lane", u32, "in the numbering of all lanes"), col("region", u32, "region of the row"),
				col("begin", i64, "ns"), col("end", i64, "ns"),
			}},
		{"interval_fact", false, "Attributes of intervals, sorted by row.",
			factColumns("row", "row of `interval`", u64, "attribute", "attribute")},
		{"instant", false, "Points in time, by location and time.", []column{
			col("location", u32, "location"), col("time", i64, "ns"), col("region", u32, "region"),
		}},
		{"instant_fact", false, "Attributes of instants, sorted by row.",
			factColumns("row", "row of `instant`", u64, "attribute", "attribute")},
		{"text", false, "Texts that are values of attributes.", []column{
			offsetCol("offset", "offset of the text in `bytes`"),
			{name: "bytes", Kind: Free, typ: u8, Meaning: "UTF-8, not terminated"},
		}},
		{"sample", false, "Samples of counters, by counter and time.",
			[]column{col("time", i64, "ns"), col("value", f64, "the value")}},
		{"link", false, "Links with times, by the time at which they start.", append([]column{
			col("kind", u8, "as numbered in package trace"),
			col("from_location", u32, "location"), col("from_time", i64, "ns"),
			col("from_lane", i32, "lane within the location, -1: no interval known"),
			col("from_row", i32, "row within the lane, -1"),
			col("to_location", u32, "location"), col("to_time", i64, "ns"),
			col("to_lane", i32, "as `from_lane`"), col("to_row", i32, "as `from_row`"),
		}, linkTail()...)},
		{"link_block", false, "Blocks of 1024 links.", []column{
			col("begin", i64, "earliest time of an end, ns"), col("end", i64, "latest time of an end, ns"),
		}},
		{"link_node", false,
			"Sums of 16,384 links that follow each other, and of 8 such nodes, and so on; each comes after those " +
				"below it. Those of the last links, and with more pairs than a quarter of its links, have none.",
			[]column{
				offsetCol("sum", "its rows in `link_sum`"),
			}},
		{"link_sum", false, "Links of a node added up by kind and pair of locations, sorted by these.", []column{
			col("kind", u8, "as numbered in package trace"), col("from_location", u32, "location"),
			col("to_location", u32, "location"),
			col("count", i64, "how many links they stand for"), col("sized", i64, "links whose size is known"),
			col("size", i64, "bytes of those"), col("time", i64, "ns from start to end"),
		}},
		{"untimed", false, "Links without times, as given.", append([]column{
			col("kind", u8, "as numbered in package trace"), col("from_location", u32, "location"),
			col("to_location", u32, "location"),
		}, linkTail()...)},
		{"profile", false, "Profile rows, by location, call path, metric.", append([]column{
			col("location", u32, "location"), col("path", u32, "call path"),
			col("metric", u32, "index in the manifest's list"),
		}, f("calls", "subcalls", "inclusive", "exclusive")...)},
		{"profile_total", false, "Profile rows added up over all locations, by call path and metric.", append([]column{
			col("path", u32, "call path"), col("metric", u32, "index in the manifest's list"),
		}, f("calls", "subcalls", "inclusive", "exclusive")...)},
		{"line", false, "Profile values of source lines, by location, call path, file, line, metric.", append([]column{
			col("location", u32, "location"), col("path", u32, "call path of the region that has the line"),
			col("callee", u32, "call path that the line calls, 2^32-1 for the line itself"),
			col("file", u32, "index in the manifest's list of source files, 2^32-1 for the file of the region"),
			col("line", u32, "0: not known"), col("metric", u32, "index in the manifest's list"),
		}, f("calls", "inclusive", "exclusive")...)},
		{"atomic", false, "Condensed distributions, in the order of `profile`.", append([]column{
			col("location", u32, "location"), col("path", u32, "call path, 2^32-1 for none"),
			col("metric", u32, "index in the manifest's list"),
		}, f("count", "min", "max", "mean", "sum_squares")...)},
		{"moment", false, "Sketches of a role's time, by location, begin, role.", append(append([]column{
			col("location", u32, "location"), col("role", u8, "as numbered in package trace"),
			col("begin", i64, "ns"), col("end", i64, "ns"),
		}, f("weight", "mean")...), column{name: "central", typ: f64, Per: 9, Meaning: "M0 to M8, from M2 on in use"})},
	}
}

func linkTail() []column {
	return []column{
		col("size", i64, "bytes, -1 unknown"), col("tag", i64, "as the source has it"),
		col("communicator", u32, "communicator, 2^32-1 for none"), col("count", i64, "how many links it summarizes"),
	}
}

func indexTables() []table {
	return []table{
		{"checkpoint", false,
			"For each lane of more than 256 rows: the begins of rows 256, 512 …, and the end of the lane.", []column{
				offsetCol("sum", "its rows in `sum`"),
				col("base", u32, "the checkpoint of the lane, counted from 1, from which lists are added up"),
			}},
		{"sum", false,
			"What each region added since the checkpoint before; at a checkpoint that is its own base, and at the " +
				"last of a lane, what it has added in all.", []column{
				col("region", u32, "region"),
				{name: "value", typ: i64, Per: 3,
					Meaning: "ns in which it was innermost, ns in which it was anywhere on the stack, rows"},
			}},
		{"level", false, "For each lane of more than 64 rows: the levels of its forest, from the coarsest down.",
			[]column{
				offsetCol("node", "its rows in `node`"),
			}},
		{"node", false, "Nodes of the forest, by index. Blocks of summaries are parallel to this table.", []column{
			col("index", i64, "the node covers [index << level, (index+1) << level) ns"),
			col("row", u32, "first row of the lane that begins in it"),
		}},
		{"group", false, "Time per role and bin, of a location and all below.", []column{
			{name: "time", Kind: Free, typ: i64, Meaning: "ns; role by role, bins of each in order"},
		}},
	}
}

// linkBlock is how many links share an entry of table link_block.
const LinkBlock = 1024

// Nodes of sums of links: LinkNode links in each of the lowest level, LinkFan nodes in one of the next. One is kept
// where it has not more pairs than one for LinkWorth links.
const (
	LinkNode  = 16 * LinkBlock
	LinkFan   = 8
	LinkWorth = 4
)

// LinkNodeAt returns the row of table link_node of a node, by its level and number. All nodes that end before it, or
// where it does on lower levels, come first.
func LinkNodeAt(level int, index uint64) uint64 {
	below := uint64(1)
	for range level {
		below *= LinkFan
	}
	end := (index + 1) * below // in nodes of the lowest level
	at := uint64(0)
	for l, size := 0, uint64(1); size <= end; l, size = l+1, size*LinkFan {
		if l <= level {
			at += end / size
		} else {
			at += (end - 1) / size
		}
	}
	return at - 1
}

// The bits of column counter.monotone.
const (
	CounterMonotone = 1 << iota
	CounterGrows
)
