package query

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parallax-hpc/parallax/internal/table"
)

// A Collection is all rows of a result with the types of their columns, for files that want to know these first. Rows
// are in a temporary file, so memory is that of a batch however many there are. Close it when done.
type Collection struct {
	Columns []table.Column

	rows int64
	file *temporary
}

// Collect gathers all rows. A column of a table has its declared type; a computed one has the narrowest that holds its
// values: whole numbers, numbers or strings, and where all are null that of its expression, see
// described. More cells than most are refused; 0: no
// bound.
func (r *Rows) Collect(most int64) (*Collection, error) {
	file, err := newTemporary()
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	c := &Collection{file: file}
	if err := c.gather(r, most); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close removes the temporary file.
func (c *Collection) Close() { c.file.close() }

func (c *Collection) gather(r *Rows, most int64) error {
	out := bufio.NewWriterSize(c.file, 1<<18)
	kinds := make([]table.Kind, len(r.Columns))
	for i := range kinds {
		kinds[i] = r.Columns[i].Kind
	}
	var line []byte
	for r.Next() {
		if c.rows++; most > 0 && c.rows*int64(len(kinds)) > most {
			return fmt.Errorf("query: the result has more than %d cells; ask for fewer columns or rows, add up in "+
				"SQL, or write csv or json", most)
		}
		line = line[:0]
		for i, v := range r.Row() {
			line = appendCell(line, v)
			kinds[i] = widened(kinds[i], v)
		}
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("query: temporary file: %w", err)
		}
	}
	if r.Err() != nil {
		return r.Err()
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("query: temporary file: %w", err)
	}
	c.Columns = described(r.Columns, kinds)
	return nil
}

// described returns the columns of a result with their types, no two of one name. One without any value has the type
// that its expression has, else that of strings.
func described(columns []Column, kinds []table.Kind) (out []table.Column) {
	taken := map[string]bool{}
	for i, x := range columns {
		name := x.Name
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", x.Name, n)
		}
		taken[name] = true
		if kinds[i] == 0 {
			kinds[i] = cmp.Or(x.guess, table.Text)
		}
		out = append(out, table.Column{Name: name, Unit: x.Unit, Null: true, Kind: kinds[i]})
	}
	return out
}

// widened returns the narrowest type that holds values of a type and one more; 0 is the type of none.
func widened(kind table.Kind, v any) table.Kind {
	of := table.Text
	switch v.(type) {
	case nil:
		return kind
	case int64:
		of = table.Integer
	case float64:
		of = table.Number
	}
	switch {
	case kind == 0 || kind == of, kind == table.Integer && of == table.Number:
		return of
	case of == table.Integer && kind != table.Text:
		return kind
	case kind == table.Flag && of == table.Number:
		return of
	}
	return table.Text
}

// The first byte of a cell.
const (
	cellNull = iota
	cellInteger
	cellNumber
	cellText
	cellBytes
)

func appendCell(to []byte, v any) []byte {
	switch x := v.(type) {
	case nil:
		return append(to, cellNull)
	case int64:
		return binary.AppendVarint(append(to, cellInteger), x)
	case float64:
		return binary.LittleEndian.AppendUint64(append(to, cellNumber), math.Float64bits(x))
	}
	text := Cell(v)
	return append(binary.AppendUvarint(append(to, cellText), uint64(len(text))), text...)
}

func readCell(in *bufio.Reader) (any, error) {
	kind, err := in.ReadByte()
	if err != nil {
		return nil, err
	}
	switch kind {
	case cellNull:
		return nil, nil
	case cellInteger:
		return binary.ReadVarint(in)
	case cellNumber:
		var b [8]byte
		_, err := io.ReadFull(in, b[:])
		return math.Float64frombits(binary.LittleEndian.Uint64(b[:])), err
	case cellText, cellBytes:
		n, err := binary.ReadUvarint(in)
		if err != nil || n > 1<<30 {
			return nil, errors.Join(err, io.ErrUnexpectedEOF)
		}
		text := make([]byte, n)
		if _, err = io.ReadFull(in, text); kind == cellBytes {
			return text, err
		}
		return string(text), err
	}
	return nil, io.ErrUnexpectedEOF
}

// batchRows is the number of rows that are handed out at once.
const batchRows = 1 << 16

// Each yields the rows in batches.
func (c *Collection) Each(emit func(*table.Batch) error) error {
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("query: temporary file: %w", err)
	}
	in := bufio.NewReaderSize(c.file, 1<<18)
	for left := c.rows; left > 0; {
		b := newBatch(c.Columns)
		b.Rows = int(min(left, batchRows))
		for range b.Rows {
			for i := range b.Columns {
				v, err := readCell(in)
				if err != nil {
					return fmt.Errorf("query: temporary file: %w", err)
				}
				b.Columns[i].Put(as(c.Columns[i].Kind, v))
			}
		}
		left -= int64(b.Rows)
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

// as converts a value to a type that holds it.
func as(kind table.Kind, v any) any {
	if n, ok := v.(int64); ok && kind == table.Number {
		return float64(n)
	}
	if v != nil && kind == table.Text {
		return Cell(v)
	}
	return v
}
