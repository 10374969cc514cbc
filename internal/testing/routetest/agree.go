package routetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/all"
)

// Find returns the view of a name.
func Find(name string) *view.View {
	for _, v := range all.Views {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// twins checks that the table states the numbers of the JSON. It takes the list with as many entries as the table
// has rows that has most of its columns; its values must be equal to those of the row.
func (r *Run) twins() {
	r.Helper()
	if r.Result == nil {
		return
	}
	table := r.Result.Table()
	list, columns := r.twinList(table)
	for i, row := range table.Rows {
		for _, c := range columns {
			var cell float64
			switch x := row[c].(type) {
			case float64:
				cell = x
			case int64:
				cell = float64(x)
			default:
				continue
			}
			name := table.Columns[c].Name
			if v, ok := list[i][name].(float64); ok && !near(v, cell) {
				r.wrong("row %d of the table has %s %v, the data %v", i, name, cell, v)
				return
			}
		}
	}
}

func (r *Run) twinList(table *view.Table) (best []map[string]any, columns []int) {
	var fields map[string]json.RawMessage
	must(r, json.Unmarshal(r.data, &fields))
	for _, f := range fields {
		var list []map[string]any
		if json.Unmarshal(f, &list) != nil || len(list) != len(table.Rows) || len(list) == 0 {
			continue
		}
		var have []int
		for c, col := range table.Columns {
			if _, ok := list[0][col.Name]; ok {
				have = append(have, c)
			}
		}
		if len(have) > len(columns) {
			best, columns = list, have
		}
	}
	return best, columns
}

// rowsOf returns numbers by name from one list of a view's data.
func (r *Run) rowsOf(list, key, value string) map[string]float64 {
	out := map[string]float64{}
	var d map[string]json.RawMessage
	r.Data(&d)
	var rows []map[string]any
	if d == nil || json.Unmarshal(d[list], &rows) != nil {
		return out
	}
	for _, x := range rows {
		if v, ok := x[value].(float64); ok {
			out[fmt.Sprint(x[key])] += v
		}
	}
	return out
}

// Agree checks that the same thing has the same number in every view, that windows add up, and that nothing exceeds
// the capacity of its window.
func (x *Raw) Agree(tb testing.TB, windows []Window) {
	tb.Helper()
	x.info(tb)
	for _, w := range windows {
		p := x.Ask(tb, Find("profile"), w, nil)
		exclusive, calls := p.rowsOf("rows", "region", "exclusive"), p.rowsOf("rows", "region", "calls")
		left := map[string]bool{} // in pictures of time, not in statistics of calls
		for id := range p.leftOut() {
			left[x.Regions[id].Name] = true
		}
		compare := func(name string, options map[string]string, got map[string]float64, want map[string]float64) {
			tb.Helper()
			for k, v := range got {
				if !near(v, want[k]) && !left[k] {
					tb.Errorf("%s: %s %v has %v of %s, the profile %v", w.String(), name, options, v, k, want[k])
				}
			}
		}
		l := x.Ask(tb, Find("landscape"), w, nil)
		compare("landscape", nil, l.rowsOf("regions", "name", "value"), exclusive)
		if c := x.Ask(tb, Find("calltree"), w, nil); w.Regions == nil && c.Result != nil && exclusive != nil &&
			!hasFlat(x) {
			compare("calltree", nil, c.rowsOf("nodes", "region", "exclusive"), exclusive)
			compare("calltree", nil, c.rowsOf("nodes", "region", "calls"), calls)
		}
		if b := x.Ask(tb, Find("boxprofile"), w, nil); b.Result != nil && x.timed() && w.Regions == nil {
			compare("boxprofile", nil, b.rowsOf("rows", "region", "count"), calls)
		}
		if x.timed() && w.End-w.Begin > 3 {
			x.addUp(tb, w)
		}
	}
}

func hasFlat(x *Raw) bool {
	for _, p := range x.Paths {
		if p.Flat {
			return true
		}
	}
	return false
}

// addUp cuts a window in two: times and calls of the parts are those of the whole.
func (x *Raw) addUp(tb testing.TB, w Window) {
	tb.Helper()
	middle := w.Begin + (w.End-w.Begin)/3
	first, second := w.Selection, w.Selection
	first.End, second.Begin = middle, middle
	for _, what := range []struct{ view, list, key, value string }{
		{"profile", "rows", "id", "exclusive"}, {"profile", "rows", "id", "inclusive"},
		{"profile", "rows", "id", "calls"},
		{"boxprofile", "rows", "region", "count"}, {"boxprofile", "rows", "region", "total"},
		{"moments", "rows", "path", "m0"}, {"commmatrix", "cells", "from_path", "count"},
	} {
		v := Find(what.view)
		if !suits(v, x.Reader) {
			continue
		}
		whole := x.Ask(tb, v, w, nil).rowsOf(what.list, what.key, what.value)
		a := x.Ask(tb, v, x.window(first), nil).rowsOf(what.list, what.key, what.value)
		b := x.Ask(tb, v, x.window(second), nil).rowsOf(what.list, what.key, what.value)
		for k := range whole {
			if !near(a[k]+b[k], whole[k]) {
				tb.Errorf("%s of %s in %s: %v in %s, %v up to %d and %v from there", what.value, k, what.view, whole[k],
					w.String(), a[k], middle, b[k])
			}
		}
	}
}

// info holds the region table and the counts of `info`.
func (x *Raw) info(tb testing.TB) {
	tb.Helper()
	info, err := view.InfoOf(context.Background(), x.Reader)
	must(tb, err)
	w := x.window(trace.Selection{End: x.End})
	want := map[string]sum{}
	for k, s := range x.totals(&w) {
		name := x.Regions[k.Region].Name
		v := want[name]
		want[name] = sum{v.Calls + s.Calls, v.Inclusive + s.Inclusive, v.Exclusive + s.Exclusive}
	}
	if len(info.RegionTable) != len(want) {
		tb.Errorf("info lists %d regions, %d occur", len(info.RegionTable), len(want))
	}
	for _, g := range info.RegionTable {
		s := want[g.Name]
		calls := 0.0
		if g.Calls != nil {
			calls = *g.Calls
		}
		if !near(calls, s.Calls) || !near(g.Inclusive, s.Inclusive) || !near(g.Exclusive, s.Exclusive) {
			tb.Errorf("info says of %s: %v calls, %v inclusive, %v exclusive; recomputed %+v", g.Name, calls,
				g.Inclusive, g.Exclusive, s)
		}
	}
	rows, depth := int64(0), 0
	for _, l := range x.Lanes {
		rows += int64(len(l.Rows))
		for _, r := range l.Rows {
			depth = max(depth, r.Depth+1)
		}
	}
	if info.Intervals != rows || info.Depth != depth || info.Links != int64(len(x.Links)) || info.Rows != len(x.of) {
		tb.Errorf("info says %d intervals, depth %d, %d links, %d rows; recorded %d, %d, %d, %d", info.Intervals,
			info.Depth, info.Links, info.Rows, rows, depth, len(x.Links), len(x.of))
	}
	ranks := map[int32]bool{}
	for _, r := range x.Tree.Rank {
		if r >= 0 {
			ranks[r] = true
		}
	}
	if info.Ranks != len(ranks) {
		tb.Errorf("info says %d ranks, there are %d", info.Ranks, len(ranks))
	}
}
