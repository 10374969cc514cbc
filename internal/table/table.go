// Package table shows a run as tables: each is declared once, column by column with
// its type, unit and meaning, and SQL, Parquet and the documentation follow from that.
//
//	table.go     type Table             batch.go    rows on their way, in columns
//	filter.go    conditions that spare reading       column.go   how columns are declared
//	all.go       the list of tables     intervals.go, links.go …  one file per table
//
// A table whose rows are in memory is a list, where any row can be asked for. The
// others are scanned: a window of a large run costs the window.
package table

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Run is the source of tables.
type Run struct {
	Name, Source string
	Store        store.Reader

	profile profileFacts
	texts   regionTexts
}

// A Kind is the type of a column.
type Kind uint8

// The types. A flag is 0 or 1.
const (
	Integer Kind = iota + 1
	Number
	Text
	Flag
)

func (k Kind) String() string { return [...]string{"", "integer", "number", "text", "flag"}[k] }

// SinceEpoch is the unit of a column whose values are dates: microseconds since 1970, in UTC.
const SinceEpoch = "us since 1970"

// A Column has a name, a type and a meaning that do not change.
type Column struct {
	Name string
	Kind Kind
	Unit string // "ns", "bytes", SinceEpoch or ""
	Null bool   // may be null
	// Narrows says that conditions on it spare reading rows.
	Narrows bool
	Help    string
}

// A Table is rows under columns. One with arguments is a function that gives rows.
type Table struct {
	Name      string
	Help      string
	Arguments []Column
	Columns   []Column
	// Size is how many rows there are, about, without a filter.
	Size func(*Run) int64
	// List is set where any row can be asked for.
	List *List
	// Scan yields the rows. It may yield rows that do not pass the filter, never
	// leave out one that does.
	Scan func(ctx context.Context, r *Run, f *Filter, to *Output) error
	// Split returns filters that leave about so many rows each; one after the other, those are all rows of f in their
	// order. Nil where a table can only be read as a whole.
	Split func(r *Run, f *Filter, rows int64) ([]*Filter, error)
	// Find writes a few rows without the cost of a scan, where the filter names them; false: it does not.
	Find func(r *Run, f *Filter, to *Output) (bool, error)
}

// A List gives rows by their number, which is the column "id".
type List struct {
	Len  func(*Run) int
	Cell func(r *Run, row, column int) (any, error) // int64, float64, string or nil
}

// Function reports whether a table is asked with arguments.
func (t *Table) Function() bool { return t.Arguments != nil }

// Column finds a column by its name; -1: none.
func (t *Table) Column(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

func (r *Run) path(id trace.LocationID) string { return r.Store.Locations().Path(id) }

// rank returns the rank of a location, own or inherited.
func (r *Run) rank(id trace.LocationID) (int64, bool) {
	rank := r.Store.Locations().Rank[id]
	return int64(rank), rank != trace.NoRank
}

func (r *Run) region(id trace.RegionID) *trace.Region {
	if all := r.Store.Regions(); int(id) < len(all) {
		return &all[id]
	}
	return &trace.Region{}
}
