package chrometrace

import (
	"bytes"
	"context"
	"io"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/parallel"
)

// align finds the offset of each file's times that puts all files on one axis. A
// file alone needs none. Kineto writes its base either before the records, where
// the head has it, or after them.
func (p *plan) align(ctx context.Context) error {
	if len(p.files) == 1 {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel.Workers())
	for i := range p.files {
		f := &p.files[i]
		if f.dialect == dftracer || f.hasBase || f.epoch || f.dialect == kineto && !p.reads(i) {
			continue
		}
		g.Go(func() error {
			if f.dialect == kineto {
				f.base, f.hasBase = lateBase(ctx, p.run, f.path, `"baseTimeNanoseconds":`)
			} else if us, ok := lateBase(ctx, p.run, f.path, `"beginningOfTime":`); ok && us < maxNanos/1000 {
				f.base, f.hasBase = us*1000, true // clang's, one unit a file
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var without int64
	for i := range p.files {
		if f := &p.files[i]; f.dialect != dftracer && !f.hasBase && !f.epoch {
			without++
			if p.reads(i) {
				p.Without++
				p.Last = p.run.Label(f.path)
			}
		}
	}
	if without > 0 && without < int64(len(p.files)) && p.files[0].dialect == chrome {
		for i := range p.files { // a base of some alone would tear them apart
			p.files[i].base = 0
		}
	}
	return nil
}

// lateBase looks for the base at the end of a file: directly where the file can
// be read there, else by unpacking all of it.
func lateBase(ctx context.Context, run importer.Run, file, word string) (int64, bool) {
	const window = 64 << 10
	if raw, err := run.OpenRaw(file); err == nil {
		defer raw.Close()
		at, random := raw.(io.ReaderAt)
		info, err := raw.Stat()
		if random && err == nil {
			first := make([]byte, 1)
			if _, err := at.ReadAt(first, 0); err == nil && strings.IndexByte(" \t\r\n[{\xEF", first[0]) >= 0 {
				tail := make([]byte, min(window, info.Size()))
				n, _ := at.ReadAt(tail, info.Size()-int64(len(tail)))
				return baseIn(tail[:n], word)
			}
		}
	}
	run.Progress = nil // this reading is not the import
	r, err := run.Open(file)
	if err != nil {
		return 0, false
	}
	defer r.Close()
	buf := make([]byte, 0, 4*window)
	for ctx.Err() == nil {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			break
		}
		if len(buf) == cap(buf) {
			buf = append(buf[:0], buf[len(buf)-window:]...)
		}
	}
	return baseIn(buf, word)
}

func baseIn(tail []byte, word string) (int64, bool) {
	i := bytes.LastIndex(tail, []byte(word))
	if i < 0 {
		return 0, false
	}
	rest := bytes.TrimLeft(tail[i+len(word):], " \t\r\n")
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	return decimal(rest[:end], 0)
}
