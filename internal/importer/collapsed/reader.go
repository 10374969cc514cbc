package collapsed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// longest bounds a line.
const longest = 16 << 20

// parse splits a line at its last blank: frames may hold blanks themselves.
func parse(line []byte) (frames []byte, count float64, ok bool) {
	line = bytes.TrimRight(line, " \t\r")
	i := bytes.LastIndexAny(line, " \t")
	if i <= 0 {
		return nil, 0, false
	}
	number := line[i+1:]
	if k := bytes.IndexByte(number, ','); k > 0 && austinRoot.Match(line) {
		number = number[:k] // time, whether it was idle, memory
	}
	if len(number) == 0 || (number[0] < '0' || number[0] > '9') && number[0] != '.' {
		return nil, 0, false
	}
	count, err := strconv.ParseFloat(string(number), 64)
	frames = bytes.TrimSpace(line[:i])
	return frames, count, err == nil && !math.IsInf(count, 0) && len(frames) > 0
}

// lines reads a file. Empty lines and comments are no stacks; other lines that are
// none are counted.
func lines(ctx context.Context, f io.Reader, label string, c *converter) error {
	s := bufio.NewScanner(f)
	s.Buffer(make([]byte, 64<<10), longest)
	number := 0
	for s.Scan() {
		if number%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		number++
		line := s.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if line[0] == '#' {
			c.comment(string(line))
			continue
		}
		frames, count, ok := parse(line)
		if !ok {
			c.w.Report(trace.MissingSamples,
				"lines that are no stack and count", 1, fmt.Sprintf("%s: line %d", label, number))
			continue
		}
		c.stack(frames, count)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var packed *importer.Error
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return importer.Malformed(label, fmt.Sprintf("line %d", number+1), "the line is longer than %d bytes", longest)
	case err != nil && c.stacks == 0 && errors.As(err, &packed):
		return packed
	case err != nil:
		c.w.Report(trace.MissingRest, "the rest of a file that cannot be unpacked", 1,
			fmt.Sprintf("%s: after line %d", label, number))
	}
	if c.stacks == 0 {
		return importer.Malformed(label, "", "no line is a stack and a count")
	}
	c.finish()
	return nil
}
