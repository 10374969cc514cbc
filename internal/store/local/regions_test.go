package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// writeRegions writes one trace that uses regions everywhere they may be used, having
// defined them in the given order.
func writeRegions(names []string, sorted bool) func(trace.Writer) {
	return func(w trace.Writer) {
		if sorted {
			trace.SortRegions(w)
		}
		id := map[string]trace.RegionID{}
		for _, n := range names {
			name, category, _ := strings.Cut(n, "|")
			id[n] = w.Region(trace.Region{Name: name, Category: category, Role: trace.RoleCompute, Attributes: []trace.Attribute{{Key: "is", Value: trace.Text(n)}}})
		}
		s := w.Stream(thread(w, 1), trace.StreamOptions{})
		s.Enter(0, id["step 10|"])
		s.Interval(10, 20, id["copy|host"])
		s.Interval(15, 30, id["copy|device"]) // on another lane
		s.Instant(25, id["mark|"])
		s.Leave(40, id["step 10|"])
		s.Enter(40, id["step 2|"])
		s.Leave(50, id["step 2|"])
		_ = s.Close()
		end := func(t trace.Time, r string) trace.End { return trace.End{Time: t, Region: id[r]} }
		w.Link(trace.Link{Kind: trace.LinkFlow, From: end(15, "copy|host"), To: end(50, "step 2|"), Communicator: trace.NoCommunicator})
		w.Link(trace.Link{Kind: trace.LinkFlow, From: end(15, "copy|device"), To: trace.End{Time: 45, Region: trace.NoRegion}, Communicator: trace.NoCommunicator})
		path := w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: id["step 2|"]})
		w.CallPath(trace.CallPath{Parent: path, Region: id["mark|"]})
	}
}

// told lists what a store says of regions, by their names.
func told(t *testing.T, r *Reader) string {
	t.Helper()
	var b strings.Builder
	name := func(id trace.RegionID) string {
		g := r.Regions()[id]
		return fmt.Sprintf("%s|%s(%s)", g.Name, g.Category, g.Attributes[0].Value.String())
	}
	all := store.Window{End: r.Info().End + 1}
	rows := map[[2]int32]string{}
	err := r.Intervals(context.Background(), all, func(c *trace.Columns) error {
		for i := range c.Begin {
			rows[[2]int32{int32(c.Lane), int32(i)}] = name(c.Region[i])
			fmt.Fprintln(&b, "interval", c.Lane, c.Begin[i], c.Duration[i], name(c.Region[i]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Instants(context.Background(), all, func(c *store.InstantColumns) error {
		for i := range c.Time {
			fmt.Fprintln(&b, "instant", c.Time[i], name(c.Region[i]))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := r.Links(context.Background(), all, func(c *store.LinkColumns) error {
		for i := range c.Kind {
			fmt.Fprintln(&b, "link", c.FromTime[i], rows[[2]int32{c.FromLane[i], c.FromRow[i]}], c.ToTime[i], rows[[2]int32{c.ToLane[i], c.ToRow[i]}])
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.CallPaths() {
		fmt.Fprintln(&b, "path", name(p.Region))
	}
	return b.String()
}

func TestSortedRegionsHaveTheSameNumbersInWhateverOrderTheyCome(t *testing.T) {
	names := []string{"step 10|", "copy|host", "mark|", "step 2|", "copy|device"}
	plain := reopen(t, build(t, Options{}, writeRegions(names, false)))
	if plain.Regions()[0].Name != "step 10" {
		t.Error("regions that nobody wants sorted have not the numbers they came with")
	}
	want := told(t, plain)
	var first map[string][]byte
	for i := range names {
		path := build(t, Options{Workers: 2}, writeRegions(slices.Concat(names[i:], names[:i]), true))
		r := reopen(t, path)
		if got := told(t, r); got != want {
			t.Fatalf("defined from %q on:\n%swant\n%s", names[i], got, want)
		}
		var order []string
		for _, g := range r.Regions() {
			order = append(order, g.Name+"|"+g.Category)
		}
		if want := []string{"copy|device", "copy|host", "mark|", "step 2|", "step 10|"}; !slices.Equal(order, want) {
			t.Fatalf("the order is %q, want %q", order, want)
		}
		if first == nil {
			first = filesOf(t, path)
		}
		sameFiles(t, first, filesOf(t, path))
	}
}
