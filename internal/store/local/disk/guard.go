package disk

import (
	"fmt"
	"runtime/debug"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Damage is the panic value of a query that finds an impossible column.
type Damage string

// Guard runs part of a query. A column that is damaged in a way no checksum was
// asked about ends the query with an error, not the process: a value out of range,
// or a page that the disk no longer gives.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case Damage:
			err = fmt.Errorf("column %s: %w", string(p), ErrDamaged)
		case Unreachable:
			err = p
		case interface {
			error
			RuntimeError()
		}:
			err = fmt.Errorf("%w (%w)", ErrDamaged, p)
		case string: // of a library that was given invalid data
			err = fmt.Errorf("%w (%s)", ErrDamaged, p)
		default:
			panic(p)
		}
	}()
	return f()
}

// A CalleePanic is a panic in code that a query calls: it is passed on as it is.
type CalleePanic struct {
	Value any
	stack []byte
}

func (p CalleePanic) String() string { return fmt.Sprintf("%v\n%s", p.Value, p.stack) }

// Shield keeps guard from taking a panic in a callback for damage.
func Shield[T any](f func(T) error) func(T) error {
	return func(x T) error {
		defer PassOn()
		return f(x)
	}
}

// PassOn is deferred around code of others. Damage is ours also there: they may read on within, such as the calls of a
// lane.
func PassOn() {
	switch p := recover().(type) {
	case nil:
	case Damage, Unreachable:
		panic(p)
	default:
		panic(CalleePanic{p, debug.Stack()})
	}
}

// A Shielded summary does the same for the code of a summary.
type Shielded struct {
	trace.Summary
	Condenser trace.Condenser // nil: blocks are kept as they are
}

func ShieldSummary(s trace.Summary) Shielded {
	c, _ := s.(trace.Condenser)
	return Shielded{s, c}
}

func (s Shielded) Build(dst trace.Block, x *trace.Stretch, regions []trace.Region) trace.Block {
	defer PassOn()
	return s.Summary.Build(dst, x, regions)
}

func (s Shielded) Merge(dst trace.Block, a, b trace.Block) trace.Block {
	defer PassOn()
	return s.Summary.Merge(dst, a, b)
}

func (s Shielded) Condense(dst, long trace.Block) trace.Block {
	defer PassOn()
	return s.Condenser.Condense(dst, long)
}
