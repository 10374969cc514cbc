package write

import (
	"context"
	"errors"
	"sort"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Ahead takes the rows of a table that mostly come in its order: these are packed at once, where a spool would
// write them, read them and write them once more. Late rows are sorted outside memory.
type Ahead[T any] struct {
	Packed *disk.TablePacker[T]
	Late   *spool.Spool[T]
	Last   T    // of those that are packed
	closed bool // nothing more is packed
	by     spool.Order[T]
	sorter spool.Sorter[T]
}

func newAhead[T any](temp string, memory int64, by spool.Order[T], packed *disk.TablePacker[T]) *Ahead[T] {
	return &Ahead[T]{Packed: packed, Late: spool.NewSortedSpool(temp, memory, by), by: by}
}

// add takes rows, which are put in order. Among equal rows the packed ones came before the late ones.
func (a *Ahead[T]) add(rows []T) error {
	a.sorter.Sort(rows, a.by)
	late := len(rows)
	if !a.closed {
		late = 0
		if a.Packed.Count() > 0 {
			late = sort.Search(len(rows), func(i int) bool { return a.by.Compare(&a.Last, &rows[i]) <= 0 })
		}
	}
	if err := a.Late.AddAll(rows[:late]); err != nil || late == len(rows) {
		return err
	}
	a.Last = rows[len(rows)-1]
	return a.Packed.Add(context.Background(), rows[late:])
}

// Any reports whether there are rows.
func (a *Ahead[T]) Any() bool { return a.Packed.Count() > 0 || a.Late.Len() > 0 }

// All returns the rows as they came but for their order within the table; it is for those that cannot stay as they are
// packed.
func (a *Ahead[T]) All(ctx context.Context, temp string, memory int64) (*spool.Spool[T], error) {
	if a.Packed.Count() == 0 {
		return a.Late, nil
	}
	s := spool.NewSortedSpool(temp, memory, a.by)
	err := a.Packed.Each(ctx, s.AddAll)
	if err == nil {
		err = a.Late.Each(func(r *T) error { return s.Add(*r) })
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

var errGivenUp = errors.New("given up")

func (a *Ahead[T]) close() {
	_ = a.Packed.Finish(context.Background(), errGivenUp) // closes its files
	a.Late.Close()
}

// MomentFields and AtomicFields are the columns of their tables.
var (
	MomentFields = append(disk.FieldsOf("Location", "Role", "Begin", "End", "Weight", "Mean"),
		[]string{"", "", "M2", "M3", "", "", "", "", ""})
	AtomicFields = disk.FieldsOf("Location", "Path", "Metric", "Count", "Min", "Max", "Mean", "SumSquares")
)

func (w *Writer) startAhead(share int64) {
	w.AtomicRows = newAhead(w.Temp, share, AtomicByPath,
		disk.NewTablePacker[trace.AtomicRow](w.Temp, "atomic", AtomicFields...))
	w.MomentRows = newAhead(w.Temp, share, ByBegin,
		disk.NewTablePacker[MomentRecord](w.Temp, "moment", MomentFields...))
}
