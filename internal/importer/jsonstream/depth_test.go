package jsonstream

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Whoever reads a tree calls itself for each level: a file of brackets alone must not end the program.
func TestUnboundedNestingIsRefused(t *testing.T) {
	const n = 5_000_000
	text := strings.Repeat(`{"in":`, n) + "1" + strings.Repeat("}", n)
	leave := Silent

	r := NewReader(context.Background(), strings.NewReader(text), "x", leave)
	var inner func(string) error
	inner = func(string) error { return r.Members(inner) }
	if err := r.Members(inner); !errors.Is(err, errDeep) {
		t.Errorf("a reader gives %v, want %v", err, errDeep)
	}

	var walk func(c *Cursor)
	walk = func(c *Cursor) {
		for ok := c.Open('{'); ok && c.More('}'); {
			c.Key()
			walk(c)
		}
	}
	r = NewReader(context.Background(), strings.NewReader(text), "x", leave)
	if _, err := r.Take(walk); !errors.Is(err, errDeep) {
		t.Errorf("a cursor gives %v, want %v", err, errDeep)
	}
}

// Lists one after the other are no deeper than one.
func TestDepthEndsWithItsList(t *testing.T) {
	text := `{"a":[` + strings.Repeat(`[{"b":[1]}],`, 2*deepest) + `]}`
	r := NewReader(context.Background(), strings.NewReader(text), "x", func(_ trace.ReportKind, what, place string) { t.Errorf("%s at %s", what, place) })
	count := 0
	err := r.Members(func(string) error {
		return r.Array(func() error {
			return r.Array(func() error {
				count++
				_, err := r.Take(func(c *Cursor) {
					for ok := c.Open('{'); ok && c.More('}'); {
						c.Key()
						for ok := c.Open('['); ok && c.More(']'); {
							c.Skip()
						}
					}
				})
				return err
			})
		})
	})
	if err != nil || count != 2*deepest {
		t.Errorf("%d read, %v", count, err)
	}
}
