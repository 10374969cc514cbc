package importer

import (
	"context"
	"io"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// EachFile claims every file whose beginning is one of a format's, as a run of its own.
func EachFile(is ...func(head []byte) bool) func(Source) []Run {
	return func(s Source) (runs []Run) {
		for _, f := range s.Files {
			head := s.Head(f.Path)
			for _, yes := range is {
				if yes(head) {
					runs = append(runs, Run{Files: []string{f.Path}})
					break
				}
			}
		}
		return runs
	}
}

// Together makes one run of all files with the same key, in the order of their first files. A file with an empty key is
// a run of its own, and one that is not claimed none.
func Together(s Source, keyOf func(file string, head []byte) (key string, claimed bool)) (runs []Run) {
	at := map[string]int{}
	for _, f := range s.Files {
		key, claimed := keyOf(f.Path, s.Head(f.Path))
		if !claimed {
			continue
		}
		if i, known := at[key]; known && key != "" {
			runs[i].Files = append(runs[i].Files, f.Path)
			continue
		}
		at[key] = len(runs)
		runs = append(runs, Run{Files: []string{f.Path}})
	}
	return runs
}

// OneFile imports runs of one file: read gets its unpacked content, and its name for reports.
func OneFile(read func(ctx context.Context, run Run, in io.Reader, label string,
	w trace.Writer) error) func(context.Context, Run, trace.Writer) error {
	return func(ctx context.Context, run Run, w trace.Writer) error {
		in, err := run.Open(run.Files[0])
		if err != nil {
			return err
		}
		defer in.Close()
		return read(ctx, run, in, run.Label(run.Files[0]), w)
	}
}
