// Package derived keeps results of open runs. A result of a whole run is a Derived: it is found in memory, else next
// to the store, else made.
//
//	run.go      an open run
//	cache.go    results in memory, bounded by a budget
//	derived.go  results of whole runs
//	file.go     how they lie next to the store
package derived

import (
	"context"
	"errors"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store"
)

// A Derived is a result that is computed once for a run: found in memory, else next to the store, else made.
type Derived[T any] struct {
	Name    string // a plain word
	Version int    // changes with the result or its computation
	Make    func(context.Context, *Run) (T, error)
	// Keeps reports whether making it takes so long that it is kept next to the store; nil: it always is.
	Keeps func(store.Reader) bool
	// Restore checks a result that was read from next to the store against its run, and completes it. An error means
	// that it names objects that the run does not have; nil: there is nothing to check.
	Restore func(T, store.Reader) error
}

// errNotKept is the error of a result that has to be made.
var errNotKept = errors.New("the result is not stored with the run")

// Of returns the result of a run.
func (d Derived[T]) Of(ctx context.Context, run *Run) (T, error) {
	return Keep(run.Cache, d.Name, sizeBytes[T], func() (T, error) {
		x, err := d.read(run.Store)
		if err == nil {
			return x, nil
		}
		if x, err = d.Make(ctx, run); err == nil {
			d.write(run.Store, x)
		}
		return x, err
	})
}

// Found returns the result of a run where it is in memory or next to the store; it is not made.
func (d Derived[T]) Found(run *Run) (T, bool) {
	x, err := Keep(run.Cache, d.Name, sizeBytes[T], func() (T, error) { return d.read(run.Store) })
	return x, err == nil
}

// Prepare makes the result of a run that was just imported, where it is one that is kept.
func (d Derived[T]) Prepare(ctx context.Context, run *Run) error {
	if d.keeper(run.Store) == nil {
		return nil
	}
	_, err := d.Of(ctx, run)
	return err
}

// A Preparer is a Derived of any type: an import makes a list of them.
type Preparer interface {
	// Declare comes before Prepare: of those that are declared in the same order, the same results have the same bytes.
	Declare()
	Prepare(context.Context, *Run) error
}

// keeper returns the keeper of the result; nil: it is not stored.
func (d Derived[T]) keeper(r store.Reader) store.Keeper {
	k, ok := r.(store.Keeper)
	if !ok || d.Keeps != nil && !d.Keeps(r) {
		return nil
	}
	return k
}

// sizeBytes estimates the memory of a result, in bytes.
func sizeBytes[T any](x T) int64 {
	if s, ok := any(x).(interface{ SizeBytes() int64 }); ok {
		return s.SizeBytes()
	}
	var s memory.Sizer
	return s.Of(x)
}
