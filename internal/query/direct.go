package query

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/table"
)

// A direct statement takes columns of one table as they are:
//
//	select a, b from t [where a = 1 and b between 2 and 3] [limit 10]
//
// Its rows go straight from the table to the caller. Through the engine a cell costs twenty times as much.
type direct struct {
	run     *table.Run
	table   *table.Table
	columns []int // of the result, by column of the table
	filter  table.Filter
	tests   []test
	limit   int64 // -1: none
}

// A test is a condition on a column of the table, of which the filter may let some rows pass that do not meet it.
type test struct {
	column int
	low    int64
	high   int64
	text   *string
}

// newDirect reads a statement that the engine has compiled; nil if it does more than take columns. Columns are those
// of the result, as the engine knows where they come from.
func newDirect(d *Database, text string, origins []origin, params []any) *direct {
	p := &statementReader{tokens: tokens(text), params: params}
	for len(p.tokens) > 0 && p.tokens[len(p.tokens)-1].is(";") {
		p.tokens = p.tokens[:len(p.tokens)-1]
	}
	out := &direct{limit: -1}
	if !p.accept("select") || !p.columnList() || !p.accept("from") || !out.takeTable(d, p) {
		return nil
	}
	for _, o := range origins {
		at := out.table.Column(o.column)
		if o.table != out.table.Name || at < 0 {
			return nil
		}
		out.columns = append(out.columns, at)
	}
	if p.accept("where") {
		if !out.takeCondition(p) {
			return nil
		}
		for p.accept("and") {
			if !out.takeCondition(p) {
				return nil
			}
		}
	}
	if p.accept("limit") {
		n, ok := p.value()
		if out.limit, ok = n.(int64); !ok {
			return nil
		}
	}
	if len(p.tokens) > 0 || p.used != len(params) {
		return nil
	}
	return out
}

// An origin is the table and column that a column of a result is.
type origin struct{ table, column string }

// A statementReader reads the tokens of a statement one after the other.
type statementReader struct {
	tokens []token
	params []any
	used   int // of the parameters
}

func (p *statementReader) accept(keyword string) bool {
	if len(p.tokens) == 0 || !p.tokens[0].is(keyword) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

// name reads a name, in quotes or plain.
func (p *statementReader) name() (string, bool) {
	if len(p.tokens) == 0 || p.tokens[0].kind != named && p.tokens[0].kind != word {
		return "", false
	}
	text := p.tokens[0].text
	p.tokens = p.tokens[1:]
	return strings.ToLower(text), true
}

// columnList passes over a star, or names of columns. The engine checks that they are columns.
func (p *statementReader) columnList() bool {
	if p.accept("*") {
		return true
	}
	for {
		if first, ok := p.name(); !ok || first == "distinct" || first == "all" {
			return false
		}
		if p.accept(".") {
			if _, ok := p.name(); !ok {
				return false
			}
		}
		if p.accept("as") {
			if _, ok := p.name(); !ok {
				return false
			}
		}
		if !p.accept(",") {
			return true
		}
	}
}

// value reads a number, a text, null or a parameter.
func (p *statementReader) value() (any, bool) {
	negative := p.accept("-")
	if len(p.tokens) == 0 {
		return nil, false
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	switch {
	case t.kind == literal && !negative:
		return t.text, true
	case t.kind == parameter && !negative:
		return p.parameter(t.text)
	case t.is("null") && !negative:
		return nil, true
	case t.kind != word:
		return nil, false
	}
	text := t.text
	if p.accept(".") && len(p.tokens) > 0 && p.tokens[0].kind == word {
		text += "." + p.tokens[0].text
		p.tokens = p.tokens[1:]
	}
	return number(text, negative)
}

func number(text string, negative bool) (any, bool) {
	if strings.Trim(text, "0123456789.eE") != "" {
		return nil, false
	}
	factor := int64(1)
	if negative {
		factor = -1
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return factor * n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return float64(factor) * f, err == nil
}

// parameter finds the value of ? or of a name.
func (p *statementReader) parameter(text string) (any, bool) {
	if text == "?" {
		if p.used++; p.used > len(p.params) {
			return nil, false
		}
		_, isNamed := p.params[p.used-1].(sql.NamedArg)
		return p.params[p.used-1], !isNamed
	}
	for _, x := range p.params {
		if n, ok := x.(sql.NamedArg); ok && n.Name == text[1:] {
			p.used++
			return n.Value, true
		}
	}
	return nil, false
}

// takeTable reads the name of a table, with that of its run, and the arguments of a function.
func (d *direct) takeTable(of *Database, p *statementReader) bool {
	name, ok := p.name()
	if !ok || len(of.Runs) == 0 {
		return false
	}
	d.run = of.Runs[0]
	if p.accept(".") {
		if d.run = of.run(name); d.run == nil {
			return false
		}
		if name, ok = p.name(); !ok {
			return false
		}
	}
	if d.table = of.find(name); d.table == nil {
		return false
	}
	if !p.accept("(") {
		return true
	}
	for i := 0; !p.accept(")"); i++ {
		if i > 0 && !p.accept(",") || i >= len(d.table.Arguments) {
			return false
		}
		v, ok := p.value()
		if !ok {
			return false
		}
		if d.filter.Arguments == nil {
			d.filter.Arguments = map[string]any{}
		}
		d.filter.Arguments[d.table.Arguments[i].Name] = v
	}
	return true
}

// run finds a further run by the name that its tables stand under.
func (d *Database) run(name string) *table.Run {
	for _, r := range d.Runs[1:] {
		if strings.EqualFold(r.Name, name) {
			return r
		}
	}
	return nil
}

// takeCondition reads a comparison of a column with a value of its own type. Comparisons between types have rules that
// only the engine knows.
func (d *direct) takeCondition(p *statementReader) bool {
	name, ok := p.name()
	at := d.table.Column(name)
	if !ok || at < 0 {
		return false
	}
	if p.accept("between") {
		low, ok := p.value()
		if !ok || !d.compare(at, table.AtLeast, low) || !p.accept("and") {
			return false
		}
		high, ok := p.value()
		return ok && d.compare(at, table.AtMost, high)
	}
	op := ""
	for len(p.tokens) > 0 && p.tokens[0].kind == sign && strings.Contains("<>=", p.tokens[0].text) {
		op += p.tokens[0].text
		p.tokens = p.tokens[1:]
	}
	v, ok := p.value()
	switch o := table.Op(op); o {
	case table.Equal, table.Less, table.AtMost, table.More, table.AtLeast:
		return ok && d.compare(at, o, v)
	case "==":
		return ok && d.compare(at, table.Equal, v)
	}
	return false
}

func (d *direct) compare(column int, op table.Op, value any) bool {
	c := &d.table.Columns[column]
	t := test{column: column}
	switch v := value.(type) {
	case string:
		if c.Kind != table.Text || op != table.Equal {
			return false
		}
		t.text = &v
	case int64, float64:
		if f, isFloat := v.(float64); c.Kind != table.Integer && c.Kind != table.Flag ||
			isFloat && !(math.Abs(f) < 1<<62) {
			return false
		}
		only := table.Filter{Conditions: []table.Condition{{Column: c.Name, Op: op, Value: v}}}
		t.low, t.high = only.Between(c.Name)
	default:
		return false
	}
	d.tests = append(d.tests, t)
	if c.Narrows {
		d.filter.Conditions = append(d.filter.Conditions, table.Condition{Column: c.Name, Op: op, Value: value})
	}
	return true
}

// errEnough ends a scan of which enough rows have come.
var errEnough = errors.New("enough rows")

// each yields the rows of the result in batches; left is how many may come, -1: all. More is called where there
// would have been more than that.
func (d *direct) each(ctx context.Context, left int64, more func(), emit func(*table.Batch) error) error {
	if d.limit >= 0 && (left < 0 || d.limit <= left) {
		left, more = d.limit, func() {}
	}
	out := d.output()
	out.Emit = func(b *table.Batch) error {
		b = d.project(b)
		if left < 0 {
			return emit(b)
		}
		if enough := int64(b.Rows) > left; enough {
			more()
			b.Cut(int(left))
		}
		left -= int64(b.Rows)
		if b.Rows > 0 {
			if err := emit(b); err != nil {
				return err
			}
		}
		if left == 0 && d.limit >= 0 {
			return errEnough
		}
		return nil
	}
	if err := d.table.Each(ctx, d.run, &d.filter, out); err != nil && err != errEnough {
		return err
	}
	return nil
}

// output wants the columns that the statement takes and tests.
func (d *direct) output() *table.Output {
	out := &table.Output{Want: make([]bool, len(d.table.Columns)), Most: batchRows}
	for _, at := range d.columns {
		out.Want[at] = true
	}
	for _, t := range d.tests {
		out.Want[t.column] = true
	}
	return out
}

// project leaves the rows that meet all conditions, and the columns of the result.
func (d *direct) project(b *table.Batch) *table.Batch {
	if len(d.tests) > 0 {
		b.Keep(func(i int) bool {
			for t := range d.tests {
				if !d.tests[t].passes(b, i) {
					return false
				}
			}
			return true
		})
	}
	out := &table.Batch{Rows: b.Rows, Columns: make([]table.Vector, len(d.columns))}
	for i, at := range d.columns {
		out.Columns[i] = b.Columns[at]
	}
	return out
}

func (t *test) passes(b *table.Batch, i int) bool {
	v := &b.Columns[t.column]
	switch {
	case v.IsNull(i):
		return false
	case t.text != nil:
		return v.Texts[i] == *t.text
	}
	return v.Integers[i] >= t.low && v.Integers[i] <= t.high
}
