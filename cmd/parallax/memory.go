package main

import (
	"context"
	"errors"
	"os"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/view"
)

// within runs a command within the budget of --memory.
func (e *env) within(ctx context.Context, f func(context.Context) error, serves bool) error {
	most := memory.Share()
	if text := e.text("memory"); text != "" {
		var err error
		if most, err = parseSize(text); err != nil {
			return usage("--memory: %v", err)
		}
		if most < memory.Least {
			return usage("--memory %s: the program itself needs %s", text, view.FormatBytes(float64(memory.Least)))
		}
	}
	e.budget = memory.New(most)
	if os.Getenv("GOMEMLIMIT") == "" {
		e.budget.Limit()
	}
	if serves {
		return f(ctx)
	}
	ctx, done := e.budget.Work(ctx)
	defer done()
	err := f(ctx)
	var much *memory.Exceeded
	if err != nil && errors.As(context.Cause(ctx), &much) && !errors.As(err, &much) {
		return much
	}
	return err
}

// importShare returns the part of the budget that buffers of an import may have. Definitions come on top, and
// values kept meanwhile. Imports have more than the usual only if the user gives more.
func (e *env) importShare() int64 {
	const usual = 256 << 20
	share := e.budget.Most() / 4
	if e.text("memory") == "" {
		share = min(share, usual)
	}
	return share
}
