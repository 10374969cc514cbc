package query

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/table"
)

// partRows is how many rows a goroutine takes from a table at once; mostReaders is how many goroutines do so. Two
// results of each may wait for their turn, and the one goroutine that writes them keeps up with no more.
var partRows int64 = 1 << 15 // tests set it

const mostReaders = 8

// Encode yields the rows of a stream, once, as encode makes them of batches. It calls encode on several goroutines
// where the table can be read in parts, and write in the order of the rows. A batch is valid until encode returns.
func Encode[T any](s *Stream, encode func(*table.Batch) (T, error), write func(T) error) error {
	var parts []*table.Filter
	if s.plan != nil && s.plan.table.Split != nil {
		var err error
		if parts, err = s.plan.table.Split(s.plan.run, &s.plan.filter, partRows); err != nil {
			return s.ended(err)
		}
	}
	if len(parts) < 2 {
		return s.each(func(b *table.Batch) error {
			made, err := encode(b)
			if err != nil {
				return err
			}
			return write(made)
		})
	}
	workers := min(parallel.Workers(), mostReaders)
	return s.ended(parallel.Ordered(s.rows.session.ctx, len(parts), workers, s.plan.output,
		func(ctx context.Context, out *table.Output, i int) (made []T, err error) {
			out.Emit = func(b *table.Batch) error {
				x, err := encode(s.plan.project(b))
				made, out.Again = append(made, x), b
				return err
			}
			return made, s.plan.table.Each(ctx, s.plan.run, parts[i], out)
		}, func(made []T) error {
			for _, x := range made {
				if err := write(x); err != nil {
					return err
				}
			}
			return nil
		}))
}
