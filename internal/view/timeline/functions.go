package timeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// foldFunctions draws goroutines by function, the one that is running, runnable or blocked for longest first, and those
// that have no room as one row. It applies to a picture of goroutines alone; ok is false for others.
func (p *plan) foldFunctions(ctx context.Context, in *input, folds folding, space float32) (out []row, ok bool,
	err error) {
	f := p.forest
	if folds.opened || f.all() <= int(space/scene.RowLabelPitch) || !f.onlyGoroutines() {
		return nil, false, nil
	}
	weight, err := in.activity(ctx, f)
	if err != nil {
		return nil, false, err
	}
	folds.cut = f.functions()
	rows, _, _ := f.rows(folds, 1<<31-1)
	var heads []row
	var functions [][]row // each with what was opened in it
	level := 0
	for _, w := range rows {
		switch {
		case len(functions) == 0 && w.kind == header && !slices.Contains(folds.cut, w.location):
			heads, level = append(heads, w), w.level+1
		case w.level <= level:
			functions = append(functions, []row{w})
		default:
			last := len(functions) - 1
			functions[last] = append(functions[last], w)
		}
	}
	sum := func(list []row) (t trace.Time) {
		n := list[0].node
		for id := n.top; id <= f.tree.Last[n.top]; id++ {
			t += weight[id]
		}
		return t
	}
	slices.SortStableFunc(functions, func(a, b []row) int { return cmp.Compare(sum(b), sum(a)) })
	slots := max(2, int(space/scene.RowLabelPitch)) - len(heads)
	out = heads
	for i, list := range functions {
		if len(out)+len(list) > len(heads)+slots-1 && i+1 < len(functions) && !slices.ContainsFunc(functions[i:],
			func(l []row) bool { return len(l) > 1 }) {
			return append(out, f.others(functions[i:])), true, nil
		}
		out = append(out, list...)
	}
	return out, true, nil
}

// others draws rows as one.
func (f *forest) others(list [][]row) row {
	first := list[0][0]
	w := row{location: trace.NoLocation, kind: folded, node: first.node, level: first.level, auto: true,
		label: fmt.Sprintf("%d functions", len(list))}
	for _, rows := range list {
		w.count += f.below(rows[0].node.top)
		w.pieces = append(w.pieces, f.pieces(rows[0].node.top)...)
	}
	return w
}

// onlyGoroutines reports whether all that is drawn are goroutines.
func (f *forest) onlyGoroutines() bool {
	for id := range f.tree.Len() {
		if f.holds(trace.LocationID(id)) && f.tree.Kind[id] != trace.KindGoroutine {
			return false
		}
	}
	return true
}

// functions lists the groups of goroutines of one function.
func (f *forest) functions() []trace.LocationID {
	ids := []trace.LocationID{}
	for id := range f.tree.Len() {
		if parent := f.tree.Parent[id]; f.holds(trace.LocationID(id)) && parent != trace.NoLocation &&
			!slices.Contains(ids[max(0, len(ids)-1):], parent) {
			ids = append(ids, parent)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// activity returns the time of the whole run in which each location is not idle.
func (in *input) activity(ctx context.Context, f *forest) (map[trace.LocationID]trace.Time, error) {
	size := func(m map[trace.LocationID]trace.Time) int64 { return 32 * int64(len(m)) }
	return derived.Keep(in.run.Cache, "timeline activity "+fmt.Sprint(f.selected), size,
		func() (map[trace.LocationID]trace.Time, error) {
			table, err := in.reader.Time(ctx, store.Window{Begin: 0, End: in.reader.Info().End, Locations: f.selected})
			if err != nil {
				return nil, err
			}
			out := make(map[trace.LocationID]trace.Time, len(table.Locations))
			for k, id := range table.Locations {
				for i := table.Offsets[k]; i < table.Offsets[k+1]; i++ {
					if role := in.regions[table.Region[i]].Role; role != trace.RoleIdle && role != trace.RoleNone {
						out[id] += table.Exclusive[i]
					}
				}
			}
			return out, nil
		})
}
