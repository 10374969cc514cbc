package tau

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/parallel"
)

// readTexts reads the files of all threads, several at once, and converts them in
// order, so that ids do not depend on which file is read first. At most a few files
// a core are in memory.
func readTexts(ctx context.Context, run importer.Run, threads []threadFiles, c *converter) error {
	for _, t := range threads {
		c.expect(t.at)
		if !t.named {
			c.guessedNode(run.Label(t.files[0]))
		}
	}
	return parseAll(ctx, run, threads, func(t *threadFiles, file int, f *textFile) {
		c.textFile(t, file, f, run.Label(t.files[file]))
	})
}

// parseAll reads the files of all threads, several at once, and gives them in order.
func parseAll(ctx context.Context, run importer.Run, threads []threadFiles,
	give func(t *threadFiles, file int, f *textFile)) error {
	ahead := 2*parallel.Workers() + 2
	g, ctx := errgroup.WithContext(ctx)
	jobs := make(chan textJob)
	order := make(chan textJob, ahead)
	free := make(chan *textFile, 2*ahead)
	for range cap(free) {
		free <- new(textFile)
	}
	g.Go(func() error {
		defer close(jobs)
		defer close(order)
		for i := range threads {
			for k := range threads[i].files {
				j := textJob{thread: &threads[i], file: k, done: make(chan error, 1)}
				select {
				case j.to = <-free:
				case <-ctx.Done():
					return ctx.Err()
				}
				for _, to := range []chan textJob{order, jobs} {
					select {
					case to <- j:
					case <-ctx.Done():
						return ctx.Err()
					}
				}
			}
		}
		return nil
	})
	for range parallel.Workers() {
		g.Go(func() error {
			for j := range jobs {
				j.done <- j.to.load(run, j.thread.files[j.file])
			}
			return nil
		})
	}
	g.Go(func() error {
		for j := range order {
			select {
			case err := <-j.done:
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			give(j.thread, j.file, j.to)
			free <- j.to
		}
		return nil
	})
	return g.Wait()
}

// A textJob is a file to be read.
type textJob struct {
	thread *threadFiles
	file   int
	to     *textFile
	done   chan error
}
