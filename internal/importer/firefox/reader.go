package firefox

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
)

// A table is columns of numbers by name; null or absent values are NaN. Column "data" of markers is kept as it is
// written.
type table struct {
	columns map[string][]float64
	data    payloads
	weights string // meaning of the samples' column "weight"
	rows    int
}

// payloads are values of one column, one after the other in one buffer.
type payloads struct {
	text []byte
	ends []int
}

func (p *payloads) add(b []byte) {
	p.text = append(p.text, b...)
	p.ends = append(p.ends, len(p.text))
}

// at is the value of a row; nil: it has none.
func (p *payloads) at(i int) []byte {
	if i >= len(p.ends) {
		return nil
	}
	begin := 0
	if i > 0 {
		begin = p.ends[i-1]
	}
	return p.text[begin:p.ends[i]]
}

// has reports whether there is a column.
func (t *table) has(name string) bool { return len(t.columns[name]) > 0 }

// at is a number, NaN if there is none.
func (t *table) at(name string, i int) float64 {
	if c := t.columns[name]; i >= 0 && i < len(c) {
		return c[i]
	}
	return math.NaN()
}

// index is a number that counts rows of another table, -1 if there is none.
func (t *table) index(name string, i int) int {
	v := t.at(name, i)
	if !(v >= 0 && v < math.MaxInt32) {
		return -1
	}
	return int(v)
}

// readTable reads a table in columns, or in rows with a schema; of it the columns that are asked for.
func readTable(r *jsonstream.Reader, columns ...string) (*table, error) {
	t := &table{columns: map[string][]float64{}}
	wanted := map[string]bool{}
	for _, name := range columns {
		wanted[name] = true
	}
	var schema []string
	var early *jsonstream.Reader // data before its schema, or a column of that name
	err := r.Members(func(name string) error {
		switch {
		case name == "schema":
			_, err := r.Take(func(c *jsonstream.Cursor) { schema = schemaOf(c, wanted) })
			return err
		case name == "data" && schema != nil:
			return t.readRows(r, schema)
		case name == "data":
			var err error
			early, err = r.Hold()
			return err
		case name == "weightType":
			_, err := r.Take(func(c *jsonstream.Cursor) { t.weights = c.Scalar().String() })
			return err
		case wanted[name]:
			list, err := readColumn(r)
			t.columns[name] = list
			return err
		}
		return r.Skip()
	})
	if err == nil && early != nil {
		if schema != nil {
			err = t.readRows(early, schema)
		} else {
			err = early.Array(func() error {
				v, err := early.Value()
				t.data.add(v)
				return err
			})
		}
	}
	for _, c := range t.columns {
		t.rows = max(t.rows, len(c))
	}
	return t, err
}

func readColumn(r *jsonstream.Reader) (list []float64, err error) {
	err = r.Array(func() error {
		v := math.NaN()
		if _, err := r.Take(func(c *jsonstream.Cursor) { v = number(c) }); err != nil {
			return err
		}
		list = append(list, v)
		return nil
	})
	return list, err
}

func number(c *jsonstream.Cursor) float64 {
	if v, ok := c.Scalar().Number(); ok {
		return v
	}
	return math.NaN()
}

// mostColumns bounds the columns of a schema.
const mostColumns = 64

// schemaOf lists names by position; those that are not wanted are empty.
func schemaOf(c *jsonstream.Cursor, wanted map[string]bool) []string {
	schema := []string{}
	for ok := c.Open('{'); ok && c.More('}'); {
		name := c.Name()
		at, ok := c.Whole()
		if !ok || at < 0 || at >= mostColumns || !wanted[name] && name != "data" {
			continue
		}
		for int64(len(schema)) <= at {
			schema = append(schema, "")
		}
		schema[at] = name
	}
	return schema
}

// readRows reads rows, which may be shorter than their schema.
func (t *table) readRows(r *jsonstream.Reader, schema []string) error {
	lists := make([][]float64, len(schema))
	err := r.Array(func() error {
		_, err := r.Take(func(c *jsonstream.Cursor) {
			i := 0
			for ok := c.Open('['); ok && c.More(']'); i++ {
				switch {
				case i >= len(schema) || schema[i] == "":
					c.Skip()
				case schema[i] == "data":
					t.data.add(c.Raw())
				default:
					lists[i] = append(lists[i], number(c))
				}
			}
			for ; i < len(schema); i++ {
				if schema[i] == "data" {
					t.data.add(nil)
				} else if schema[i] != "" {
					lists[i] = append(lists[i], math.NaN())
				}
			}
		})
		return err
	})
	for i, name := range schema {
		if name != "" && name != "data" {
			t.columns[name] = lists[i]
		}
	}
	return err
}

func readTexts(r *jsonstream.Reader) (list []string, err error) {
	err = r.Array(func() error {
		var text string
		if _, err := r.Take(func(c *jsonstream.Cursor) { text = c.Text() }); err != nil {
			return err
		}
		list = append(list, text)
		return nil
	})
	return list, err
}
