// Package schema describes answers for programs that check them: the data of each view
// and the rows of each table as JSON Schema (2020-12), made from the Go types that the
// answers are written from.
//
// Names in a schema stay, with their meaning; fields may be added, so none is forbidden.
package schema

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Version counts changes that a program would notice: a field that went, or means
// something else.
const Version = 1

const dialect = "https://json-schema.org/draft/2020-12/schema"

// View describes the "data" of a view's JSON.
func View(v *view.View) (*jsonschema.Schema, error) {
	var kinds []*jsonschema.Schema
	for _, d := range v.Data {
		s, err := Of(d)
		if err != nil {
			return nil, fmt.Errorf("view %s: %w", v.Name, err)
		}
		kinds = append(kinds, s)
	}
	s := &jsonschema.Schema{AnyOf: kinds}
	if len(kinds) == 1 {
		s = kinds[0]
	}
	return named(s, "view/"+v.Name, v.Title, v.Summary), nil
}

// Table describes a row of a table as an object.
func Table(t *table.Table) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, c := range t.Columns {
		p := &jsonschema.Schema{Type: kinds[c.Kind], Description: describe(c)}
		if c.Kind == table.Flag {
			p.Enum = []any{0, 1}
		}
		if c.Null {
			p.Types, p.Type = []string{"null", p.Type}, ""
		}
		s.Properties[c.Name] = p
		s.PropertyOrder = append(s.PropertyOrder, c.Name)
		s.Required = append(s.Required, c.Name)
	}
	return named(s, "table/"+t.Name, t.Name, t.Help)
}

var kinds = map[table.Kind]string{table.Integer: "integer", table.Number: "number", table.Text: "string",
	table.Flag: "integer"}

func describe(c table.Column) string {
	if c.Unit == "" {
		return c.Help
	}
	if c.Help == "" {
		return "in " + c.Unit
	}
	return c.Help + ", in " + c.Unit
}

func named(s *jsonschema.Schema, id, title, text string) *jsonschema.Schema {
	s.Schema, s.ID = dialect, fmt.Sprintf("parallax:%d/%s", Version, id)
	s.Title, s.Description = title, text
	return s
}

// own are types that write themselves.
var own = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[trace.Sum]():  {Type: "integer"},
	reflect.TypeFor[view.Exact](): {Type: "number"},
}

// Of returns the schema of a Go type's JSON.
func Of(value any) (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(reflect.TypeOf(value), &jsonschema.ForOptions{TypeSchemas: own})
	if err != nil {
		return nil, err
	}
	open(s)
	return s, nil
}

// open allows additional fields, and states a rule of all answers: a list is never null.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties != nil {
		s.AdditionalProperties = nil
	}
	if slices.Equal(s.Types, []string{"null", "array"}) && s.MinItems == nil { // a pair may be undefined
		s.Types, s.Type = nil, "array"
	}
	for _, p := range s.Properties {
		open(p)
	}
	for _, p := range s.AnyOf {
		open(p)
	}
	open(s.Items)
	open(s.AdditionalProperties)
}
