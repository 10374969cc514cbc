package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

func TestAttributesOfALocationComeBeforeThoseAboveIt(t *testing.T) {
	text := func(key, value string) trace.Attribute { return trace.Attribute{Key: key, Value: trace.Text(value)} }
	tree := &store.Tree{Parent: []trace.LocationID{trace.NoLocation, 0}, Attributes: [][]trace.Attribute{
		{text("host", "nid7"), text("colour", "red")}, {text("colour", "blue"), {Key: "core", Value: trace.Integer(3)}}}}
	got := fmt.Sprint(view.AttributeLines(tree, 1))
	if got != "[{colour blue  false 0} {core 3  false 0} {host nid7  false 0}]" {
		t.Error(got)
	}
	for k := range 20 {
		tree.Attributes[1] = append(tree.Attributes[1], text(fmt.Sprint("key ", k), strings.Repeat("x", 100)))
	}
	lines := view.AttributeLines(tree, 1)
	if last := lines[len(lines)-1]; len(lines) != 13 || last.Value != "11 more in the source" || len(lines[2].Exact) != 100 || len([]rune(lines[2].Value)) != 80 {
		t.Errorf("%d lines, the last %+v", len(lines), last)
	}
}
