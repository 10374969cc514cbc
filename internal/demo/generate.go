package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/demo/write"
)

// Generate writes a demo as files of another tool's format, at any size. The same
// arguments give the same bytes. The files get their name when they are complete.
func Generate(ctx context.Context, d *Demo, format string, o Options, path string) error {
	f, err := write.Find(format)
	if err != nil {
		return fmt.Errorf("generate %s: %w", d.Name, err)
	}
	file, err := f.Create(path)
	if err != nil {
		return fmt.Errorf("generate %s: %w", d.Name, err)
	}
	if f.Sequential {
		o.workers = 1
	}
	if err := d.Write(ctx, o, file); err != nil {
		file.Abort()
		return fmt.Errorf("generate %s: %w", d.Name, err)
	}
	if err := file.Commit(); err != nil {
		return fmt.Errorf("generate %s: %w", d.Name, err)
	}
	return nil
}
