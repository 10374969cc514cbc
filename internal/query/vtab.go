package query

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/table"
	"modernc.org/sqlite/vtab"
)

const moduleName = "parallax"

// A module makes tables: create virtual table NAME using parallax(SESSION, RUN).
type module struct{}

// Connect and Create make the same.
func (m module) Connect(c vtab.Context, args []string) (vtab.Table, error) { return m.Create(c, args) }

// Create implements vtab.Module.
func (module) Create(c vtab.Context, args []string) (vtab.Table, error) {
	if len(args) != 5 {
		return nil, fmt.Errorf("want a session and a run")
	}
	id, _ := strconv.ParseInt(strings.TrimSpace(args[3]), 10, 64)
	run, _ := strconv.Atoi(strings.TrimSpace(args[4]))
	sessions.Lock()
	s := sessions.open[id]
	sessions.Unlock()
	if s == nil || run < 0 || run >= len(s.runs) {
		return nil, fmt.Errorf("no session %q, or no run %q in it", args[3], args[4])
	}
	t := s.find(args[2])
	if t == nil {
		return nil, fmt.Errorf("no table %q", args[2])
	}
	return &virtual{session: s, run: s.runs[run], table: t}, c.Declare(declaration(t))
}

var declaredAs = map[table.Kind]string{table.Integer: "INTEGER", table.Number: "REAL", table.Text: "TEXT",
	table.Flag: "INTEGER"}

// declaration returns the table as SQLite wants it told: arguments of a function are hidden columns.
func declaration(t *table.Table) string {
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, quote(c.Name)+" "+declaredAs[c.Kind])
	}
	for _, c := range t.Arguments {
		columns = append(columns, quote(c.Name)+" "+declaredAs[c.Kind]+" HIDDEN")
	}
	return "create table x(" + strings.Join(columns, ", ") + ")"
}

// A virtual is one table of one run on a connection.
type virtual struct {
	session *session
	run     *table.Run
	table   *table.Table
}

func (v *virtual) Open() (vtab.Cursor, error) { return &cursor{virtual: v}, nil }
func (v *virtual) Disconnect() error          { return nil }
func (v *virtual) Destroy() error             { return nil }

var operators = map[vtab.ConstraintOp]table.Op{
	vtab.OpEQ: table.Equal, vtab.OpLT: table.Less, vtab.OpLE: table.AtMost, vtab.OpGT: table.More,
	vtab.OpGE: table.AtLeast, vtab.OpLIKE: table.Like,
}

// BestIndex chooses which conditions the table gets. They are told to the cursor by a
// text: the column and operator of each value, then which columns are read.
func (v *virtual) BestIndex(info *vtab.IndexInfo) error {
	var plan []string
	rows := float64(max(v.table.Size(v.run), 1))
	unusable := false
	given := map[string]bool{}
	for i := range info.Constraints {
		c := &info.Constraints[i]
		op, known := operators[c.Op]
		argument := c.Column >= len(v.table.Columns)
		switch {
		case c.Column < 0 || !known:
			continue
		case argument && !c.Usable:
			unusable = true
			continue
		case argument && op != table.Equal, !argument && (!c.Usable || !v.table.Columns[c.Column].Narrows):
			continue
		}
		c.ArgIndex, c.Omit = len(plan), argument
		plan = append(plan, strconv.Itoa(c.Column)+string(op))
		if !argument {
			name := v.table.Columns[c.Column].Name
			rows = max(rows*v.share(name, op), 1)
			given[name] = given[name] || op == table.Equal
		}
	}
	info.IdxStr = strings.Join(plan, " ") + "|" + strconv.FormatUint(info.ColUsed, 16)
	info.EstimatedRows, info.EstimatedCost = int64(rows), rows
	switch one := v.table.List != nil && given["id"] || given["location"] && given["lane"] && given["row"]; {
	case unusable: // a function is asked for before its arguments are known
		info.EstimatedCost = 1e18
	case one:
		info.EstimatedRows, info.EstimatedCost, info.IdxFlags = 1, 1, vtab.IndexScanUnique
	case v.table.List == nil:
		info.EstimatedCost += 200 // the cost of a start
	}
	return nil
}

// share guesses which part of the rows a condition leaves.
func (v *virtual) share(column string, op table.Op) float64 {
	part := func(n int) float64 { return 1 / float64(max(n, 1)) }
	if op != table.Equal {
		return 0.25
	}
	if v.run.Store == nil { // a lake, whose runs are not open
		return 0.1
	}
	switch column {
	case "location", "path", "from_location", "to_location", "from_path", "to_path":
		return part(v.run.Store.Info().Rows)
	case "rank", "from_rank", "to_rank":
		return part(v.run.Store.Info().Ranks)
	case "region", "region_id":
		return part(min(len(v.run.Store.Regions()), 100))
	case "counter":
		return part(len(v.run.Store.Counters()))
	}
	return 0.1
}
