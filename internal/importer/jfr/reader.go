package jfr

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// largestChunk bounds the bytes held at once; recorders begin another chunk after some ten megabytes.
const largestChunk = 2 << 30

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := newConverter(w, run.Name, label)
	at := int64(0)
	for n := 0; ; n++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k, err := readChunk(in, at)
		if err != nil || k == nil {
			if n == 0 {
				return first(err, label)
			}
			if err != nil {
				w.Report(trace.MissingRest, "files that break off, read up to there", 1, place(label, at))
			}
			break
		}
		at += int64(len(k.data))
		if err := c.chunk(ctx, k); err != nil {
			return err
		}
	}
	if c.events == 0 {
		return importer.Malformed(label, "", "holds no events that can be read")
	}
	return c.finish(ctx)
}

// first is the error of a file whose first chunk cannot be read.
func first(err error, label string) error {
	var known *importer.Error
	if errors.As(err, &known) {
		return known
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return importer.Malformed(label, "", "%v", err)
}

func place(label string, at int64) string { return fmt.Sprintf("%s: byte %d", label, at) }

// readChunk reads the next chunk; nil at the end. One that the file cuts is given as far as it goes.
func readChunk(in io.Reader, at int64) (*chunk, error) {
	head := make([]byte, headSize)
	n, err := io.ReadFull(in, head)
	if n == 0 && err == io.EOF {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(head, magic) {
		return nil, fmt.Errorf("no chunk begins at byte %d", at)
	}
	if head[67]&1 == 0 {
		return nil, fmt.Errorf("the chunk at byte %d has numbers of fixed length, which are not read", at)
	}
	size := int64(binary.BigEndian.Uint64(head[8:]))
	if size < headSize || size > largestChunk {
		size = largestChunk // of a recording that was not closed
	}
	var data bytes.Buffer
	data.Write(head)
	if _, err := io.CopyN(&data, in, size-headSize); err != nil && !errors.Is(err, io.EOF) {
		if data.Len() == headSize {
			return nil, err
		}
	}
	k := newChunk(data.Bytes(), at)
	if int64(data.Len()) < size {
		k.lost = 1
	}
	return k, nil
}
