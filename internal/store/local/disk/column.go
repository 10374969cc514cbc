package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/spool"
)

// WriteColumn writes a whole column; an empty one has no file.
func WriteColumn[T any](dir, name string, values []T) error {
	if len(values) == 0 {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, name), spool.BytesOf(values), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// A ColumnFile is a column that is written in pieces, from several goroutines. Its file is there from the first piece
// on: most tables of most runs are empty, and to make a file and take it away again costs more than to write a small
// one.
type ColumnFile[T any] struct {
	dir, name string
	once      sync.Once
	file      *os.File
	err       error
	passing   bool
}

// NewColumn returns a column of dir; one that the schema has packed is plain for a while only.
func NewColumn[T any](dir, name string) *ColumnFile[T] {
	return &ColumnFile[T]{dir: dir, name: name, passing: isPacked(name)}
}

// CreateColumn is NewColumn whose file is there at once.
func CreateColumn[T any](dir, name string) (*ColumnFile[T], error) {
	c := NewColumn[T](dir, name)
	return c, c.open()
}

// Passes says that the file is soon used and removed: it is not sent to the disk.
func (c *ColumnFile[T]) Passes(passing bool) {
	if c != nil {
		c.passing = passing || isPacked(c.name)
	}
}

func (c *ColumnFile[T]) open() error {
	c.once.Do(func() {
		if c.file, c.err = os.Create(filepath.Join(c.dir, c.name)); c.err != nil {
			c.err = fmt.Errorf("write %s: %w", c.name, c.err)
		}
	})
	return c.err
}

// Put writes values from row at on.
func (c *ColumnFile[T]) Put(values []T, at int64) error {
	if len(values) == 0 {
		return nil
	}
	if err := c.open(); err != nil {
		return err
	}
	from, size := at*spool.SizeOf[T](), int64(len(values))*spool.SizeOf[T]()
	if _, err := c.file.WriteAt(spool.BytesOf(values), from); err != nil {
		return fmt.Errorf("write %s: %w", c.name, err)
	}
	if size >= longWrite && !c.passing {
		spool.StartWriting(c.file, from, size)
	}
	return nil
}

// longWrite is how many bytes at once are worth being sent to the disk at once.
const longWrite = 128 << 10

func (c *ColumnFile[T]) Close() error {
	if c == nil {
		return nil
	}
	if c.file != nil {
		return c.file.Close()
	}
	if err := os.Remove(filepath.Join(c.dir, c.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		// one that another wrote
		return err
	}
	return c.err
}

// A Cursor writes a column sequentially from some row on, through a small buffer.
type Cursor[T any] struct {
	To  *ColumnFile[T]
	at  int64 // row of buf[0]
	Buf []T
	Err error
}

const cursorRows = 4096

func (c *Cursor[T]) Add(v T) {
	if len(c.Buf) == cursorRows {
		c.flush()
	}
	c.Buf = append(c.Buf, v)
}

// Room adds n values, which are to be filled in before anything else is done; n is not
// more than cursorRows.
func (c *Cursor[T]) Room(n int) []T {
	if c.Buf == nil {
		c.Buf = make([]T, 0, cursorRows)
	}
	if len(c.Buf)+n > cursorRows {
		c.flush()
	}
	at := len(c.Buf)
	c.Buf = slices.Grow(c.Buf, n)[:at+n]
	return c.Buf[at:]
}

func (c *Cursor[T]) AddAll(values []T) {
	if len(c.Buf)+len(values) > cursorRows {
		c.flush()
		if len(values) > cursorRows {
			c.fail(c.To.Put(values, c.at))
			c.at += int64(len(values))
			return
		}
	}
	c.Buf = append(c.Buf, values...)
}

// Position returns the row that is written next.
func (c *Cursor[T]) Position() int64 { return c.at + int64(len(c.Buf)) }

func (c *Cursor[T]) flush() {
	c.fail(c.To.Put(c.Buf, c.at))
	c.at += int64(len(c.Buf))
	c.Buf = c.Buf[:0]
}

func (c *Cursor[T]) fail(err error) {
	if c.Err == nil {
		c.Err = err
	}
}

// MoveTo goes on at another row.
func (c *Cursor[T]) MoveTo(at int64) {
	if c.Position() != at {
		c.flush()
		c.at = at
	}
}

// Finish writes the rest and returns the first error.
func (c *Cursor[T]) Finish() error {
	c.flush()
	return c.Err
}
