// Package warehouse keeps the tables of many runs in ClickHouse: those of a lake (package lake) under the same names,
// with the run in each row. So one statement asks over years of runs, and a statement for a lake is one for it.
//
//	TABLE_rows   rows of all runs, partitioned by time, ordered for questions about a region
//	TABLE_all    on a cluster: those of all servers
//	TABLE        a view of the rows of whole runs, for queries
//	lake_runs    the state of each run: loading, whole or gone
//	lake_outlines  each run without rows, for comparisons of many runs
//
// A run is visible when its row in lake_runs says that it is whole, and no longer from the moment when it says gone.
//
//	schema.go   tables and their statements     append.go   a run into them, and out
//	query.go    statements of people
package warehouse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/table"
)

// need is for lightweight deletes, tokens of inserts and times in nanoseconds.
var need = clickhouse.Need{Major: 23, Minor: 3, For: "a lake"}

// runKeys are the keys of a run that have a column in each table: they are asked often, and take no room.
var runKeys = []string{"machine", "commit", "branch", "service", "version"}

// ofRun are the columns that each stored row has before those of its table.
const ofRun = "run_id UInt64 CODEC(ZSTD(1)), project LowCardinality(String) CODEC(ZSTD(1)), " +
	"run LowCardinality(String) CODEC(ZSTD(1)), run_start DateTime64(6, 'UTC') CODEC(ZSTD(1))"

// monthColumn is stored since making the text of 10^7 rows takes longer than all else in most questions.
const monthColumn = "month LowCardinality(String) default formatDateTime(run_start, '%Y-%m') CODEC(ZSTD(1))"

// runIndex finds the rows of a run that is named: they lie by region, among those of all runs.
const runIndex = "by_run run type bloom_filter(0.01) granularity 1"

// stateTable has a row for each state that a run had; the last one counts.
const stateTable = "lake_runs"

const stateColumns = "run_id UInt64, project LowCardinality(String), run String, run_start DateTime64(6, 'UTC'), " +
	"clock String, keys Map(String, String), state Enum8('loading' = 0, 'whole' = 1, 'gone' = 2), changed UInt64"

// outlineTable has the outline of each run, by which it is compared with others.
const outlineTable = "lake_outlines"

// A layout is how the tables of a place are stored.
type layout struct {
	cluster string // "" on one server
	keep    int    // days; 0: for ever
}

// on is the clause that runs a statement on all servers.
func (l layout) on() string {
	if l.cluster == "" {
		return ""
	}
	return " on cluster '" + l.cluster + "'"
}

// engine is the clause of a table's engine; of is what comes before MergeTree in its name.
func (l layout) engine(of, arguments string) string {
	if l.cluster == "" {
		return of + "MergeTree(" + arguments + ")"
	}
	path := "'/clickhouse/tables/{uuid}/{shard}', '{replica}'"
	if arguments != "" {
		path += ", " + arguments
	}
	return "Replicated" + of + "MergeTree(" + path + ")"
}

// window is the setting that says how many inserts are remembered, so that one that is sent again counts once.
func (l layout) window() string {
	if l.cluster == "" {
		return "non_replicated_deduplication_window = 10000"
	}
	return "replicated_deduplication_window = 10000"
}

// statements make all tables and views that are not there.
func (l layout) statements() []string {
	out := []string{fmt.Sprintf("create table if not exists %s%s (%s) engine = %s order by run_id", stateTable, l.on(),
		stateColumns, l.engine("Replacing", "changed")),
		fmt.Sprintf("create table if not exists %s%s (run_id UInt64, outline String CODEC(ZSTD(3))) engine = %s "+
			"order by run_id settings %s", outlineTable, l.on(), l.engine("", ""), l.window())}
	for _, t := range lake.Tables {
		out = append(out, l.create(t))
		from := t.Name + "_rows"
		if l.cluster != "" {
			from = t.Name + "_all"
			out = append(out, fmt.Sprintf("create table if not exists %s%s as %s_rows engine = "+
				"Distributed('%s', currentDatabase(), '%s_rows', run_id)", from, l.on(), t.Name, l.cluster, t.Name))
		}
		out = append(out, fmt.Sprintf("create or replace view %s%s as select %s from %s where run_id in "+
			"(select run_id from %s final where state = 'whole')", t.Name, l.on(), shown(t), from, stateTable))
	}
	return out
}

// large are the tables whose rows are removed by age. The others are sums of runs, and stay.
var large = []string{"intervals", "links", "samples", "instants", "attributes"}

func (l layout) create(t *table.Table) string {
	columns := []string{ofRun, monthColumn}
	for _, k := range runKeys {
		columns = append(columns, "`"+keyColumn(t, k)+"` LowCardinality(String) CODEC(ZSTD(1))")
	}
	for _, c := range t.Columns {
		columns = append(columns, "`"+c.Name+"` "+typeOf(&c))
	}
	columns = append(columns, "index "+runIndex)
	partition, ttl := "toYear(run_start)", ""
	if slices.Contains(large, t.Name) {
		partition = "toYYYYMM(run_start)"
		if l.keep > 0 {
			ttl = fmt.Sprintf(" ttl toDateTime(run_start) + interval %d day", l.keep)
		}
	}
	return fmt.Sprintf("create table if not exists %s_rows%s (%s) engine = %s partition by %s order by (%s)%s "+
		"settings %s",
		t.Name, l.on(), strings.Join(columns, ", "), l.engine("", ""), partition, strings.Join(key(t), ", "), ttl,
		l.window())
}

// complete adds missing columns to a table of an older version.
func (l layout) complete(name string) string {
	add := "add column if not exists " + monthColumn
	if strings.HasSuffix(name, "_rows") {
		add += ", add index if not exists " + runIndex
	} else { // a table over all servers stores nothing
		add = "add column if not exists month LowCardinality(String)"
	}
	return "alter table " + name + l.on() + " " + add
}

// keyColumn is the column for a key of the run: a table may have one of that name.
func keyColumn(t *table.Table, key string) string {
	if t.Column(key) >= 0 {
		return "run_" + key
	}
	return key
}

// key is the order of rows: questions over many runs name a region, those about one run its start.
func key(t *table.Table) []string {
	out := []string{"project"}
	add := func(names ...string) {
		for _, n := range names {
			if i := t.Column(n); i >= 0 && !t.Columns[i].Null {
				out = append(out, "`"+n+"`")
			}
		}
	}
	add("region", "counter")
	out = append(out, "run_start", "run_id")
	add("location", "location_id", "begin", "time", "from_time")
	return out
}

// typeOf is the type and codec of a column. Measured for intervals by region: differences pack times best, T64
// durations (1.8 bytes a row), and names take nothing.
func typeOf(c *table.Column) string {
	kind, codec := "", "ZSTD(1)"
	switch c.Kind {
	case table.Text:
		kind = "LowCardinality(String)"
		if c.Null {
			kind = "LowCardinality(Nullable(String))"
		}
		return kind + " CODEC(ZSTD(1))"
	case table.Number:
		kind = "Float64"
	case table.Flag:
		kind = "UInt8"
	default:
		kind, codec = "Int64", "T64, ZSTD(1)"
		if slices.Contains(rising, c.Name) {
			codec = "Delta, ZSTD(1)"
		}
	}
	if c.Null {
		kind = "Nullable(" + kind + ")"
	}
	return kind + " CODEC(" + codec + ")"
}

// rising are columns whose values follow each other closely in the order of rows.
var rising = []string{"id", "row", "begin", "end", "time", "from_time", "to_time", "parent"}

// shown are the columns of a view: those of a lake, the keys of the run, and the time of the clock where rows have one.
func shown(t *table.Table) string {
	out := []string{"project", "month", "run", "run_start"}
	for _, c := range t.Columns {
		out = append(out, "`"+c.Name+"`")
	}
	for _, k := range runKeys {
		out = append(out, "`"+keyColumn(t, k)+"`")
	}
	for _, n := range []string{"begin", "time", "from_time"} {
		if t.Column(n) >= 0 && t.Column("clock_time") < 0 {
			out = append(out, "addNanoseconds(toDateTime64(run_start, 9, 'UTC'), `"+n+"`) as clock_time")
			break
		}
	}
	return strings.Join(out, ", ")
}
