package paje

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// importRun reads the first file of a run, then those that it names.
func importRun(ctx context.Context, run importer.Run, w trace.Writer) error {
	return importWith(ctx, run, w, parallel.Workers(), nil)
}

// importWith does so on a number of cores; a test may change the converter.
func importWith(ctx context.Context, run importer.Run, w trace.Writer, workers int, change func(*converter)) error {
	first := run.Files[0]
	head := run.Source.Head(first)
	u := seconds
	if isStarPU(head) {
		u = milliseconds
		w.Report(trace.Guessed, "times taken as milliseconds, which StarPU writes where Paje has seconds", 1,
			run.Label(first))
	}
	if text := comment(head); text != "" {
		w.Property("comment", text)
	}
	c := newConverter(w, u, workers)
	if change != nil {
		change(c)
	}
	defined, err := c.file(ctx, run, first, header{now: &layouts{}})
	if err != nil {
		return err
	}
	if len(defined.list) == 0 {
		return importer.Malformed(run.Label(first), "line 1",
			"no event is defined (%%EventDef), so this is no Paje trace")
	}
	if err := c.readParts(ctx, run, first, defined); err != nil {
		return err
	}
	err = c.finish()
	c.tally.Report(w, run.Label(first), "line", reasons[:])
	reportUnknown(w, c.unknown, run.Label(first))
	return err
}

// readParts reads the files that a trace names, those that they name too. A file
// without definitions has those of the first one.
func (c *converter) readParts(ctx context.Context, run importer.Run, first string, defined *layouts) error {
	seen := map[string]bool{first: true}
	for len(c.parts) > 0 {
		name := path.Join(path.Dir(first), strings.TrimPrefix(strings.ReplaceAll(c.parts[0], "\\", "/"), "./"))
		c.parts = c.parts[1:]
		if seen[name] {
			c.tally.Add(repeatedPart, nowhere)
			continue
		}
		seen[name] = true
		if !fs.ValidPath(name) {
			c.w.Report(trace.MissingFiles, reasons[missingPart].What, 1, name)
			continue
		}
		c.tally.Report(c.w, run.Label(first), "line", reasons[:])
		_, err := c.file(ctx, run, name, header{now: defined, shared: true, file: len(seen)})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.w.Report(trace.MissingFiles, reasons[missingPart].What, 1, err.Error())
		}
		c.tally.Report(c.w, run.Label(name), "line", reasons[:])
	}
	return nil
}

// file reads one file: a feeder cuts it into blocks, parsers take those as they
// come, and the blocks are converted in the order of the file.
func (c *converter) file(ctx context.Context, run importer.Run, name string, h header) (*layouts, error) {
	r, err := run.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f := &feeder{header: h, size: c.blockSize}
	c.base = 0
	if err := c.flow(ctx, f, r); err != nil {
		return nil, err
	}
	c.gather()
	if f.header.open != nil {
		c.tally.Add(openDefinition, c.base)
	}
	if f.err != nil {
		if c.base == 0 {
			return nil, f.err
		}
		c.w.Report(reasons[damaged].Kind, reasons[damaged].What, 1, f.err.Error())
	}
	return f.header.now, nil
}

// flow runs the goroutines that a file goes through. The queues between them bound the memory.
func (c *converter) flow(ctx context.Context, f *feeder, r io.Reader) error {
	jobs, order := make(chan *block, len(c.parsers)), make(chan *block, 2*len(c.parsers))
	var caught parallel.Caught
	defer caught.Pass()
	g, ctx := errgroup.WithContext(ctx)
	run := func(what func() error) { g.Go(func() error { return caught.Do(what) }) }
	give := func(to chan *block, b *block) error {
		select {
		case to <- b:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.ready = func(b *block) error {
		b.spread(len(c.shards))
		b.done <- struct{}{}
		return give(order, b)
	}
	f.send = func(b *block) error {
		if err := give(jobs, b); err != nil {
			return err
		}
		return give(order, b)
	}
	run(func() error {
		defer close(order)
		defer close(jobs)
		return f.run(ctx, r)
	})
	for _, p := range c.parsers {
		run(func() error {
			for b := range jobs {
				p.take(b)
				b.done <- struct{}{}
			}
			return nil
		})
	}
	for _, s := range c.shards {
		s.todo = make(chan handed, ahead)
		run(func() error { s.run(); return nil })
	}
	run(func() error {
		defer func() {
			for _, s := range c.shards {
				close(s.todo)
			}
		}()
		for b := range order {
			select {
			case <-b.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := c.convert(ctx, b); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// isStarPU recognises StarPU's traces by the names of its types, which come first.
func isStarPU(head []byte) bool {
	return bytes.Contains(head, []byte("Memory Node")) &&
		(bytes.Contains(head, []byte("Worker State")) || bytes.Contains(head, []byte("Thread State")))
}

// comment returns the text before the first definition, such as the writer of the
// file.
func comment(head []byte) string {
	const most = 1000
	var lines []string
	for line := range bytes.Lines(head[:min(len(head), most)]) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			break
		}
		if text := strings.ToValidUTF8(strings.TrimSpace(strings.TrimLeft(string(line), "#")), "\uFFFD"); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "; ")
}
