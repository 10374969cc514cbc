package warehouse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/query"
)

// Standard are settings under which the engine answers as other engines of SQL do: a sum of no rows is null, and so
// are columns of an outer join without a partner.
var Standard = clickhouse.Settings{"aggregate_functions_null_for_empty": 1, "join_use_nulls": 1,
	"union_default_mode": "DISTINCT"}

// Query runs a statement on the servers, in their SQL, and returns rows as they come.
func (p *Place) Query(ctx context.Context, text string, limits query.Limits) (*query.Rows, error) {
	settings := maps.Clone(Standard)
	settings["readonly"] = 2 // a statement may change settings, but no data
	if limits.Time > 0 {
		settings["max_execution_time"] = int(math.Ceil(limits.Time.Seconds()))
	}
	s := p.servers[0]
	rows, err := s.Query(clickhouse.Context(ctx, clickhouse.WithSettings(settings)), text)
	if err != nil {
		return nil, p.explain(err)
	}
	a := &answer{rows: rows, place: p}
	var columns []query.Column
	for _, c := range rows.ColumnTypes() {
		columns = append(columns, query.Column{Name: c.Name(), Unit: unitOf(c.Name())})
		a.cells = append(a.cells, reflect.New(c.ScanType()))
	}
	return query.From(columns, a, limits), nil
}

// Codes of errors of servers for which a lake has words of its own.
const (
	noTable   = 60
	tooLong   = 159
	noAnswer  = 209
	nodeIsOut = 279
)

func (p *Place) explain(err error) error {
	s := p.servers[0]
	var e *clickhouse.Exception
	if errors.As(err, &e) {
		text := strings.TrimPrefix(e.Message, "DB::Exception: ")
		switch int(e.Code) {
		case noTable:
			return fmt.Errorf("%s: %s; `parallax export SOURCE --lake %s` makes the tables of a lake", s.Host(), text,
				p.name)
		case tooLong:
			return fmt.Errorf("%s: %s; --timeout gives it more time, a condition on project or run_start less to "+
				"read", s.Host(), text)
		case noAnswer, nodeIsOut:
			return fmt.Errorf("%s: a server of the cluster does not answer, so rows would be missing: %s", s.Host(),
				text)
		}
	}
	return s.Failed(err)
}

// unitOf is the unit that a column of this name has in all tables; "" if they differ.
func unitOf(name string) (unit string) {
	seen := false
	for _, t := range lake.Tables {
		if i := t.Column(name); i >= 0 {
			if seen && t.Columns[i].Unit != unit {
				return ""
			}
			unit, seen = t.Columns[i].Unit, true
		}
	}
	return unit
}

// An answer is the rows of a server as those of a query.
type answer struct {
	rows  driver.Rows
	place *Place
	cells []reflect.Value // pointers to values of the columns' types
}

// Next implements query.Source.
func (a *answer) Next() ([]any, error) {
	if !a.rows.Next() {
		return nil, a.place.explain(a.rows.Err())
	}
	into := make([]any, len(a.cells))
	for i, c := range a.cells {
		into[i] = c.Interface()
	}
	if err := a.rows.Scan(into...); err != nil {
		return nil, a.place.explain(err)
	}
	out := make([]any, len(a.cells))
	for i, c := range a.cells {
		out[i] = plain(c.Elem())
	}
	return out, nil
}

// Close implements query.Source.
func (a *answer) Close() { _ = a.rows.Close() }

// plain returns a value as int64, float64, string or nil. Numbers past 64 bits, lists and maps are text.
func plain(v reflect.Value) any {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		if n, ok := v.Interface().(*big.Int); ok {
			if n.IsInt64() {
				return n.Int64()
			}
			return n.String()
		}
		v = v.Elem()
	}
	if n, ok := v.Interface().(big.Int); ok {
		return plain(reflect.ValueOf(&n))
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format("2006-01-02 15:04:05.999999999")
	case fmt.Stringer:
		return x.String()
	}
	switch {
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			return int64(1)
		}
		return int64(0)
	case v.CanInt():
		return v.Int()
	case v.CanUint() && v.Uint() > math.MaxInt64:
		return fmt.Sprint(v.Uint())
	case v.CanUint():
		return int64(v.Uint())
	case v.CanFloat():
		return v.Float()
	case v.Kind() == reflect.String:
		return v.String()
	}
	return fmt.Sprint(v.Interface())
}
