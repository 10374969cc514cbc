package timeline

import (
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// isGPU reports whether a row is a GPU or one of its streams.
func (w *row) isGPU(t *store.Tree) bool {
	if w.location == trace.NoLocation {
		return false
	}
	k := t.Kind[w.location]
	return k == trace.KindDevice || k == trace.KindStream
}

// foldGPUs folds the streams of GPUs, then the threads of their processes, if not every row has the height of a label:
// GPUs come first there, and have their names. Groups that were opened by hand stay open.
func (f *forest) foldGPUs(rows []row, folds folding, space float32) []row {
	fit := func(rows []row) bool { return float32(len(rows))*scene.RowLabelPitch <= space }
	if folds.opened || fit(rows) {
		return rows
	}
	byHand := func(n node) bool { open, _ := folds.state(f.tree, n); return open }
	withGPU := map[trace.LocationID]bool{} // by parent
	var out []row
	for i := 0; i < len(rows); i++ {
		w := rows[i]
		if w.isGPU(f.tree) && f.tree.Kind[w.node.top] == trace.KindDevice {
			withGPU[f.tree.Parent[w.node.top]] = true
			if w.kind == header && !byHand(w.node) {
				w.kind, w.auto, w.tall = folded, true, false
				for i+1 < len(rows) && rows[i+1].level > w.level {
					i++
				}
			}
		}
		out = append(out, w)
	}
	if len(withGPU) == 0 || fit(out) {
		return out
	}
	return f.foldThreads(out, func(w *row) bool {
		return w.kind == leaf && !w.own && !w.isGPU(f.tree) && withGPU[f.tree.Parent[w.node.top]] && !byHand(w.node)
	})
}

// foldThreads draws rows that folds is true of as one per process.
func (f *forest) foldThreads(rows []row, folds func(*row) bool) []row {
	var out []row
	for i := 0; i < len(rows); i++ {
		n := i
		for n < len(rows) && folds(&rows[n]) && rows[n].level == rows[i].level {
			n++
		}
		if n < i+2 {
			out = append(out, rows[i])
			continue
		}
		w := row{location: trace.NoLocation, kind: folded, node: rows[i].node, level: rows[i].level, auto: true,
			label: "threads"}
		for _, r := range rows[i:n] {
			w.count += r.count
			w.pieces = append(w.pieces, f.pieces(r.node.top)...)
		}
		out = append(out, w)
		i = n - 1
	}
	return out
}
