package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/demo/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Generate writes a demo as files of another tool's format, at any size. The same arguments give the same bytes.
// The files get their name when they are complete. left lists the records that the format has no place for.
func Generate(ctx context.Context, d *Demo, format string, o Options, path string) (left []trace.ReportEntry,
	err error) {
	f, err := write.Find(format)
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", d.Name, err)
	}
	file, err := f.Create(path)
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", d.Name, err)
	}
	if f.Sequential {
		o.workers = 1
	}
	if err := d.Write(ctx, o, file); err != nil {
		file.Abort()
		return nil, fmt.Errorf("generate %s: %w", d.Name, err)
	}
	if err := file.Commit(); err != nil {
		return nil, fmt.Errorf("generate %s: %w", d.Name, err)
	}
	return file.Left(), nil
}
