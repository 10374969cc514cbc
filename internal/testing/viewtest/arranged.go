package viewtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// arranged: a view whose rows are locations orders them by groups that behave alike when asked to, with the same
// rows and the same numbers, groups unbroken, and facts picked at a row are of the row's location.
func arranged(t *testing.T, v *view.View, c *Case, r store.Reader) {
	plain := c.with("arrange", nil)
	tree := plain.Compute(t, v, r)
	if !hasOption(v, "arrange") {
		if n := len(locationRows(tree.Scene(c.size()))); n > 1 {
			t.Errorf("%d rows are locations, and there is no option --arrange to order them by groups", n)
		}
		return
	}
	for by, said := range map[string]string{"groups:k=2": "ordered by groups",
		"optimal:p=0.3": "the best cut of the tree"} {
		arrangedBy(t, v, c, r, tree, by, said)
	}
}

// arrangedBy checks one order; said is the text of its note.
func arrangedBy(t *testing.T, v *view.View, c *Case, r store.Reader, tree view.Result, by, said string) {
	asked := c.with("arrange", []string{by})
	result := asked.Compute(t, v, r)
	if r.Info().Intervals == 0 && r.Info().Profile == 0 || slices.Contains(c.Options["show"], "average") ||
		hasOption(v, "hierarchy") && len(c.Options["hierarchy"])+len(c.Options["group"]) > 0 {
		// Nothing to compare locations by, or rows are groups already: then it is
		// not an error, since a page asks all its views for one order, but it is said.
		if n := len(result.Notes()); n <= len(tree.Notes()) {
			t.Errorf("that rows are not arranged is not said: %q", result.Notes())
		}
		return
	}
	a, ok := result.(view.ArrangedResult)
	if !ok || a.Arrangement() == nil {
		t.Fatalf("the result has no arrangement: embed view.Arranged and set it from Request.Arrange")
	}
	sameNumbers(t, v, tree.Table(), result.Table())
	s := result.Scene(c.size())
	rowsInGroups(t, a.Arrangement(), locationRows(tree.Scene(c.size())), locationRows(s))
	rowsArePicked(t, r.Locations(), result, s)
	if text := strings.Join(append(result.Notes(), s.Notes...), "\n"); !strings.Contains(text, said) {
		t.Errorf("--arrange %s: no note says the order: %q", by, text)
	}
	for _, size := range Sizes {
		at := *asked
		at.Size = size
		if err := CheckScene(at.Compute(t, v, r).Scene(size)); err != nil {
			t.Errorf("%d × %d: %v", size.Width, size.Height, err)
		}
	}
	storetest.AtMost(t, MostQueries, r, func(slow store.Reader) { asked.Compute(t, v, slow) })
}

// with returns the case with one option set, or not set.
func (c *Case) with(name string, values []string) *Case {
	out := *c
	out.Options = maps.Clone(c.Options)
	if out.Options == nil {
		out.Options = map[string][]string{}
	}
	if out.Options[name] = values; values == nil {
		delete(out.Options, name)
	}
	return &out
}

func hasOption(v *view.View, name string) bool {
	return slices.ContainsFunc(v.Options, func(o view.Option) bool { return o.Name == name })
}

// A locationRow is a row of a frame that is one location.
type locationRow struct {
	frame int
	row   scene.Row
}

// locationRows lists the rows of a picture that are single locations.
func locationRows(s *scene.Scene) (out []locationRow) {
	for i, f := range s.Frames {
		for _, row := range f.YScale.Rows {
			if row.Location != scene.NoID && row.Count == 1 && !row.Open && !row.Folded {
				out = append(out, locationRow{i, row})
			}
		}
	}
	return out
}

// sameNumbers compares the rows of two tables in any order. If the hierarchy is the groups its parts are others,
// and add up to the same.
func sameNumbers(t *testing.T, v *view.View, want, got *view.Table) {
	t.Helper()
	lines := func(x *view.Table) []string {
		var out []string
		for _, row := range x.Rows {
			cells := make([]string, len(row))
			for i, cell := range row {
				cells[i] = view.Cell(cell)
			}
			out = append(out, strings.Join(cells, "\t"))
		}
		if hasOption(v, "hierarchy") {
			return sums(x)
		}
		if hasOption(v, "all") && hasOption(v, "scroll") {
			return nil // rows depend on the width of the drawing
		}
		slices.Sort(out)
		return out
	}
	a, b := lines(want), lines(got)
	if len(a) != len(b) {
		t.Fatalf("%d rows in the table, want %d", len(b), len(a))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("a row of the table is\n%s\nwant\n%s", b[i], a[i])
		}
	}
}

// sums adds up the times of a table by column, in ms.
func sums(x *view.Table) (out []string) {
	for k, col := range x.Columns {
		if col.Unit != "ns" || col.Name == "begin" || col.Name == "end" {
			continue
		}
		sum := 0.0
		for _, row := range x.Rows {
			switch v := row[k].(type) {
			case float64:
				sum += v
			case int64:
				sum += float64(v)
			}
		}
		out = append(out, fmt.Sprintf("%s %.0f", col.Name, sum/10))
	}
	return out
}

// rowsInGroups: the same locations as before, each group in one piece, in order.
func rowsInGroups(t *testing.T, a *view.Arrangement, before, after []locationRow) {
	t.Helper()
	ids := func(rows []locationRow) []uint32 {
		out := make([]uint32, len(rows))
		for i := range rows {
			out[i] = rows[i].row.Location
		}
		return out
	}
	if len(before) > 0 && len(after) > 0 { // else rows are folded in one of the two
		x, y := ids(before), ids(after)
		slices.Sort(x)
		slices.Sort(y)
		if len(x) == len(y) && !slices.Equal(x, y) {
			t.Errorf("rows are %v, want %v in another order", y, x)
		}
	}
	turn := make([]int, len(a.Groups))
	for k, next := len(a.Order)-1, len(a.Groups); k >= 0; k-- {
		if g := a.Group(a.Order[k]); k+1 == len(a.Order) || g != a.Group(a.Order[k+1]) {
			next--
			turn[g] = next
		}
	}
	last, frame := -1, -1
	for _, row := range after {
		if row.frame != frame {
			last, frame = -1, row.frame
		}
		now := len(a.Groups) // locations without calls come last
		if g := a.Group(trace.LocationID(row.row.Location)); g >= 0 {
			now = turn[g]
		}
		if now < last {
			t.Errorf("row %q is of the group that comes as number %d, and comes after one of number %d", row.row.Label,
				now+1, last+1)
		}
		last = now
	}
}

// rowsArePicked checks that facts picked at a row are of its location.
func rowsArePicked(t *testing.T, tree *store.Tree, result view.Result, s *scene.Scene) {
	t.Helper()
	related := func(a, b trace.LocationID) bool {
		return a <= b && b <= tree.Last[a] || b <= a && a <= tree.Last[b]
	}
	for _, row := range locationRows(s) {
		f := &s.Frames[row.frame]
		for share := float32(0.02); share < 1; share += 0.06 {
			fact, ok, _ := view.PickAt(result, s, float64(f.X+share*f.W), float64(row.row.From+row.row.To)/2)
			if !ok || len(fact.Locations) != 1 || fact.Count > 1 { // a link, or a mark that stands for many
				continue
			}
			if !related(fact.Locations[0], trace.LocationID(row.row.Location)) {
				t.Fatalf("at row %q (location %d) lies %q of locations %v", row.row.Label, row.row.Location, fact.Title,
					fact.Locations)
			}
		}
	}
}
