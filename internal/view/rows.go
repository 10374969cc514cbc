package view

import (
	"math"
	"reflect"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// TableOf makes the table of a result from the rows of its JSON output, so that a number
// is declared once. The tags of a row's fields say how:
//
//	json    the name, of the column too
//	unit    makes the field a column: "ns", "bytes", "count", "share", "", or a word that
//	        the result gives a unit, such as that of its metric
//	table   another name of the column
//	write   "whole": whole numbers without a point; "yes,no": words for true and false
//	spread  makes the field several columns: one for each of those under that word, by
//	        name from a map, in order from a list
//	about   "location" or "region": selected by choosing the row
func TableOf[T any](rows []T, units map[string]string, spread map[string][]Column) *Table {
	t := &Table{Columns: []Column{}, Rows: make([][]any, len(rows))}
	var fields []field
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		x := field{index: f.Index, write: f.Tag.Get("write"), about: f.Tag.Get("about")}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if other := f.Tag.Get("table"); other != "" {
			name = other
		}
		if unit, ok := f.Tag.Lookup("unit"); ok {
			if own, ok := units[unit]; ok {
				unit = own
			}
			t.Columns = append(t.Columns, Column{Name: name, Unit: unit})
			x.column = true
		}
		if word := f.Tag.Get("spread"); word != "" {
			x.spread = spread[word]
			t.Columns = append(t.Columns, x.spread...)
		}
		switch x.about {
		case "location":
			t.Locations = make([]trace.LocationID, len(rows))
		case "region":
			t.Regions = make([]trace.RegionID, len(rows))
		}
		if x.column || x.about != "" || x.spread != nil {
			fields = append(fields, x)
		}
	}
	cells := make([]any, 0, len(rows)*len(t.Columns))
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		from := len(cells)
		for k := range fields {
			x := &fields[k]
			v := row.FieldByIndex(x.index)
			if x.column {
				cells = append(cells, x.cell(v))
			}
			for at, c := range x.spread {
				cells = append(cells, x.part(v, at, c.Name))
			}
			switch x.about {
			case "location":
				t.Locations[i] = idOf(v, trace.NoLocation)
			case "region":
				t.Regions[i] = idOf(v, trace.NoRegion)
			}
		}
		t.Rows[i] = cells[from:len(cells):len(cells)]
	}
	return t
}

// A field holds the tags of a field of a row.
type field struct {
	index        []int
	column       bool
	write, about string
	spread       []Column
}

// cell is a value of a table: string, int64, float64 or nil.
func (x *field) cell(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return x.cell(v.Elem())
	case reflect.String:
		return v.String()
	case reflect.Bool:
		if yes, no, ok := strings.Cut(x.write, ","); ok {
			if v.Bool() {
				return yes
			}
			return no
		}
		return v.Bool()
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		if x.write == "whole" && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f)
		}
		return f
	}
	if v.CanInt() {
		return v.Int()
	}
	return int64(v.Uint())
}

// part is one of several columns of a field; nil if it has none.
func (x *field) part(v reflect.Value, at int, name string) any {
	if v.Kind() == reflect.Map {
		if v = v.MapIndex(reflect.ValueOf(name)); !v.IsValid() {
			return nil
		}
		return x.cell(v)
	}
	if at >= v.Len() {
		return nil
	}
	return x.cell(v.Index(at))
}

// idOf returns the id that a row is about: none if it is null.
func idOf[T ~uint32](v reflect.Value, none T) T {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return none
		}
		v = v.Elem()
	}
	return T(v.Uint())
}
