package invocation

import (
	"context"
	"errors"
	"math"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// LevelSums are sums over the tree of a run whose nodes are its rows, lane by lane below a virtual root: with them, and
// with the depths of rows at the edges of sectors, a tree is drawn without being read. Block 0 is the root, and each
// other block the next rowBlock rows: 8 bytes for 256 calls.
type LevelSums struct {
	Rows        bool     // else the nodes are not the rows lane by lane, and there is nothing below
	Sum         []uint32 // of the levels in each block
	Least, Most []uint16
	First, Last trace.Time // when the first and the last call begin
}

// rowBlock is how many rows are a block: as many as a store decodes at once.
const rowBlock = 256

// fewRows is the number of rows from which on sums are kept: of fewer they are made in no time.
const fewRows = 1 << 20

// LevelsOfRun are the sums of a whole run, roots by rank.
var LevelsOfRun = derived.Derived[*LevelSums]{
	Name: "levels", Version: 1,
	Keeps: func(r store.Reader) bool { return r.Info().Intervals >= fewRows },
	Make: func(ctx context.Context, run *derived.Run) (*LevelSums, error) {
		p, ok := run.Store.(store.Peeker)
		if !ok || !p.Peeks() {
			return &LevelSums{}, nil
		}
		w := store.Window{End: run.Store.Info().End}
		rows := rowsOf(run.Store, p, w)
		if rows == nil {
			return &LevelSums{}, nil
		}
		if spawns, err := spawnsAny(ctx, run.Store, w); err != nil || spawns {
			return &LevelSums{}, err
		}
		return rows.sums(ctx)
	},
	Restore: func(s *LevelSums, r store.Reader) error {
		if n := int(r.Info().Intervals+rowBlock-1)/rowBlock + 1; s.Rows &&
			(len(s.Sum) > n || len(s.Least) != len(s.Sum) || len(s.Most) != len(s.Sum)) {
			return errNotOfRun
		}
		return nil
	},
}

var errNotOfRun = errors.New("sums of levels do not fit the rows of the run")

// SizeBytes returns the memory of the sums.
func (s *LevelSums) SizeBytes() int64 { return 8 * int64(len(s.Sum)) }

// sums goes through the depths of all rows.
func (r *rowTree) sums(ctx context.Context) (*LevelSums, error) {
	n := (r.nodes-1+rowBlock-1)/rowBlock + 1
	s := &LevelSums{Rows: true, Sum: make([]uint32, n), Least: make([]uint16, n), Most: make([]uint16, n)}
	const part = 1 << 12
	var deep atomic.Bool
	parts := int(n+part-1) / part
	errs := make([]error, parts+1)
	err := parallel.For(ctx, parts, func(k int) {
		errs[k] = r.store.Peek(func(p store.Peek) error {
			for b := max(int32(k)*part, 1); b < min(int32(k+1)*part, n); b++ {
				least, most, sum := uint16(math.MaxUint16), uint16(0), uint32(0)
				r.stretches(blockStart(b), min(blockStart(b+1), r.nodes), func(lo, hi uint64) {
					p.Depths(lo, hi, func(depths []uint16) {
						for _, d := range depths {
							least, most, sum = min(least, d), max(most, d), sum+uint32(d)+1
						}
					})
				})
				if most >= math.MaxUint16-1 { // a store counts no further
					deep.Store(true)
					return nil
				}
				s.Least[b], s.Most[b], s.Sum[b] = least+1, most+1, sum
			}
			return nil
		})
	})
	errs[parts] = r.store.Peek(func(p store.Peek) error {
		s.First, s.Last = math.MaxInt64, math.MinInt64
		for k, at := range r.starts {
			first := r.rowOf(k, at)
			s.First = min(s.First, p.Begin(first))
			s.Last = max(s.Last, p.Begin(first+uint64(r.lanes[k].calls)-1))
		}
		return nil
	})
	if err = errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	if deep.Load() {
		return &LevelSums{}, nil
	}
	return s, nil
}

// blockStart is the first node of a block of rows.
func blockStart(b int32) int32 {
	if b == 0 {
		return 0
	}
	return (b-1)*rowBlock + 1
}

// outline returns the outline of the tree with these sums.
func (r *rowTree) outline(s *LevelSums) *Outline {
	n := len(s.Sum)
	o := &Outline{n: r.nodes, size: rowBlock, skip: rowBlock - 1, levels: r}
	e := extremes{make([]int32, n), make([]int32, n)}
	for b := range n {
		e.least[b], e.most[b] = int32(s.Least[b]), int32(s.Most[b])
	}
	o.over(e)
	for b, sum := range s.Sum {
		first := blockStart(int32(b))
		count := min(blockStart(int32(b)+1), r.nodes) - first
		o.sum[b+1] = int64(count)*int64(o.Height) - int64(sum)
	}
	o.addUp()
	return o
}
