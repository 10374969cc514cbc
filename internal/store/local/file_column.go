package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// writeColumn writes a whole column; an empty one has no file.
func writeColumn[T any](dir, name string, values []T) error {
	if len(values) == 0 {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, name), bytesOf(values), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// A columnFile is a column that is written in pieces, from several goroutines.
type columnFile[T any] struct {
	file *os.File
	name string
}

func createColumn[T any](dir, name string) (*columnFile[T], error) {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &columnFile[T]{f, name}, nil
}

// put writes values from row at on.
func (c *columnFile[T]) put(values []T, at int64) error {
	if len(values) == 0 {
		return nil
	}
	from, size := at*sizeOf[T](), int64(len(values))*sizeOf[T]()
	if _, err := c.file.WriteAt(bytesOf(values), from); err != nil {
		return fmt.Errorf("write %s: %w", c.name, err)
	}
	if size >= longWrite {
		startWriting(c.file, from, size)
	}
	return nil
}

// longWrite is how many bytes at once are worth being sent to the disk at once.
const longWrite = 128 << 10

func (c *columnFile[T]) close() error {
	if c == nil {
		return nil
	}
	return c.file.Close()
}

// A cursor writes a column sequentially from some row on, through a small buffer.
type cursor[T any] struct {
	to  *columnFile[T]
	at  int64 // row of buf[0]
	buf []T
	err error
}

const cursorRows = 4096

func (c *cursor[T]) add(v T) {
	if len(c.buf) == cursorRows {
		c.flush()
	}
	c.buf = append(c.buf, v)
}

// room adds n values, which are to be filled in before anything else is done; n is not
// more than cursorRows.
func (c *cursor[T]) room(n int) []T {
	if c.buf == nil {
		c.buf = make([]T, 0, cursorRows)
	}
	if len(c.buf)+n > cursorRows {
		c.flush()
	}
	at := len(c.buf)
	c.buf = slices.Grow(c.buf, n)[:at+n]
	return c.buf[at:]
}

func (c *cursor[T]) addAll(values []T) {
	if len(c.buf)+len(values) > cursorRows {
		c.flush()
		if len(values) > cursorRows {
			c.fail(c.to.put(values, c.at))
			c.at += int64(len(values))
			return
		}
	}
	c.buf = append(c.buf, values...)
}

// position is the row that is written next.
func (c *cursor[T]) position() int64 { return c.at + int64(len(c.buf)) }

func (c *cursor[T]) flush() {
	c.fail(c.to.put(c.buf, c.at))
	c.at += int64(len(c.buf))
	c.buf = c.buf[:0]
}

func (c *cursor[T]) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// seek goes on at another row.
func (c *cursor[T]) seek(at int64) {
	if c.position() != at {
		c.flush()
		c.at = at
	}
}

// finish writes what is left and gives the first error.
func (c *cursor[T]) finish() error {
	c.flush()
	return c.err
}
