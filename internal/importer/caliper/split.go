package caliper

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A split is a json-split file. Rows come before the tree that they refer to, so they are held:
// a cell is a number of eight bytes.
type split struct {
	*jsonstream.Reader
	columns []string
	values  []bool // columns whose cells are values, not nodes
	units   []string
	rows    [][]float64
	nodes   []splitNode
	globals map[string]string
}

type splitNode struct {
	label, column string
	parent        int
}

func readSplit(ctx context.Context, in io.Reader, label string, to *converter) error {
	s := &split{globals: map[string]string{}}
	s.Reader = jsonstream.NewReader(ctx, in, label,
		jsonstream.Reporter(to.w))
	err := s.Members(s.member)
	if err = s.End(err, len(s.rows), "rows"); err != nil {
		return err
	}
	for key, value := range s.globals {
		to.w.Property(key, value)
	}
	return s.convert(ctx, to, label)
}

func (s *split) member(name string) error {
	switch name {
	case "data":
		return s.Array(func() error {
			_, err := s.Take(func(c *jsonstream.Cursor) {
				var row []float64
				for ok := c.Open('['); ok && c.More(']'); {
					v, _ := c.Scalar().Number()
					row = append(row, v)
				}
				s.rows = append(s.rows, row)
			})
			return err
		})
	case "columns":
		_, err := s.Take(func(c *jsonstream.Cursor) {
			for ok := c.Open('['); ok && c.More(']'); {
				s.columns = append(s.columns, c.Text())
			}
		})
		return err
	case "column_metadata":
		_, err := s.Take(func(c *jsonstream.Cursor) {
			for ok := c.Open('['); ok && c.More(']'); {
				value, unit := false, ""
				for ok := c.Open('{'); ok && c.More('}'); {
					switch string(c.Key()) {
					case "is_value":
						value = c.Truth()
					case "attribute.unit", "unit":
						unit = c.Text()
					}
				}
				s.values, s.units = append(s.values, value), append(s.units, unit)
			}
		})
		return err
	case "nodes":
		return s.Array(func() error {
			n := splitNode{parent: -1}
			_, err := s.Take(func(c *jsonstream.Cursor) {
				for ok := c.Open('{'); ok && c.More('}'); {
					switch string(c.Key()) {
					case "label":
						n.label = c.Scalar().String()
					case "column":
						n.column = c.Text()
					case "parent":
						if p, ok := c.Whole(); ok {
							n.parent = int(p)
						}
					}
				}
			})
			s.nodes = append(s.nodes, n)
			return err
		})
	}
	if s.Next() == '"' {
		_, err := s.Take(func(c *jsonstream.Cursor) { s.globals[name] = c.ID() })
		return err
	}
	return s.Skip()
}

func (s *split) convert(ctx context.Context, to *converter, label string) error {
	if len(s.columns) == 0 || len(s.nodes) == 0 && len(s.values) == 0 {
		return s.End(errors.New("breaks off before its columns, without which rows mean nothing"), 0, "columns")
	}
	attributes := make([]*attribute, len(s.columns))
	for i, name := range s.columns {
		attributes[i] = &attribute{name: name, properties: propertyAsValue, kind: nodeDouble}
		if i < len(s.units) {
			attributes[i].unit = s.units[i]
		}
		if i >= len(s.values) || !s.values[i] {
			attributes[i].properties, attributes[i].kind = propertyNested, nodeString
			if plainFact(name) {
				attributes[i].properties = 0
			}
		}
	}
	for k, row := range s.rows {
		if k%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		snap := to.begin()
		for i, v := range row {
			switch {
			case i >= len(attributes):
				to.w.Report(trace.MissingValues, "cells beyond the last column", 1, label)
			case attributes[i].kind == nodeDouble:
				snap.value(attributes[i], strconv.FormatFloat(v, 'g', -1, 64))
			default:
				from := len(snap.path)
				for at, depth := int(v), 0; at >= 0; depth++ {
					if at >= len(s.nodes) || depth > len(s.nodes) {
						to.w.Report(trace.MissingEvents,
							"references to a node that is not defined, or to a cycle", 1, label)
						break
					}
					snap.value(attributes[i], s.nodes[at].label)
					at = s.nodes[at].parent
				}
				reverse(snap.path[from:])
			}
		}
		to.add(snap, label)
	}
	return nil
}

// plainFact recognises columns of samples that say where in a module one was taken: finer than a function.
func plainFact(column string) bool {
	return strings.HasPrefix(column, "module#") || strings.HasPrefix(column, "sourceloc#") ||
		strings.HasPrefix(column, "symboladdress#")
}
