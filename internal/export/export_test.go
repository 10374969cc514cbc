package export

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
)

var columns = []table.Column{
	{Name: "location", Kind: table.Integer}, {Name: "begin", Kind: table.Integer, Unit: "ns"}, {Name: "value", Kind: table.Number, Null: true},
	{Name: "name", Kind: table.Text, Null: true}, {Name: "aside", Kind: table.Flag},
}

// batch has n rows of one location; each third value and each second name is null.
func batch(location, n int) *table.Batch {
	b := &table.Batch{Rows: n, Columns: make([]table.Vector, len(columns))}
	for i := range columns {
		b.Columns[i].Kind = columns[i].Kind
	}
	for i := range n {
		var value, name any = float64(i) / 4, fmt.Sprint("n", i%7)
		if i%3 == 0 {
			value = nil
		}
		if i%2 == 0 {
			name = nil
		}
		for k, v := range []any{int64(location), int64(1000 * i), value, name, int64(i % 2)} {
			b.Columns[k].Put(v)
		}
	}
	return b
}

func write(t *testing.T, batches ...*table.Batch) *parquet.File {
	t.Helper()
	var out bytes.Buffer
	rows, err := Write(t.Context(), &out, "few", columns, func(emit func(*table.Batch) error) error {
		for _, b := range batches {
			if err := emit(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if rows != f.NumRows() {
		t.Errorf("%d rows written, the file says %d", rows, f.NumRows())
	}
	return f
}

func TestColumnsKeepTheirOrderTypesAndNulls(t *testing.T) {
	f := write(t, batch(3, 100))
	var names []string
	for _, c := range f.Root().Columns() {
		names = append(names, c.Name())
	}
	if got := fmt.Sprint(names); got != "[location begin value name aside]" {
		t.Errorf("columns %s", got)
	}
	r := parquet.NewReader(f)
	rows := make([]parquet.Row, 100)
	n, _ := r.ReadRows(rows)
	if n != 100 {
		t.Fatalf("%d rows", n)
	}
	for i, row := range rows {
		if row[0].Int64() != 3 || row[1].Int64() != int64(1000*i) || row[2].IsNull() != (i%3 == 0) || row[3].IsNull() != (i%2 == 0) || row[4].Int64() != int64(i%2) {
			t.Fatalf("row %d is %v", i, row)
		}
		if i%3 != 0 && row[2].Double() != float64(i)/4 || i%2 != 0 && row[3].String() != fmt.Sprint("n", i%7) {
			t.Fatalf("row %d is %v", i, row)
		}
	}
	if of, _ := f.Lookup("parallax.table"); of != "few" {
		t.Errorf("the file says that it is %q", of)
	}
}

// Readers skip what they do not need: a row group is of few locations, and says of which.
func TestRowGroupsEndWithLocations(t *testing.T) {
	var batches []*table.Batch
	for l := range 3 {
		for range 5 {
			batches = append(batches, batch(l, enough/4))
		}
	}
	f := write(t, batches...)
	groups := f.Metadata().RowGroups
	if len(groups) < 3 {
		t.Fatalf("%d row groups", len(groups))
	}
	for i, g := range groups {
		s := g.Columns[0].MetaData.Statistics
		if g.NumRows > mostRows || len(s.MinValue) != 8 || !bytes.Equal(s.MinValue, s.MaxValue) {
			t.Errorf("row group %d has %d rows of locations %v to %v", i, g.NumRows, s.MinValue, s.MaxValue)
		}
	}
}

func TestFailedExportsAreErrorsAndLeaveNoFile(t *testing.T) {
	mine := errors.New("the table broke")
	_, err := Write(t.Context(), &bytes.Buffer{}, "few", columns, func(emit func(*table.Batch) error) error {
		if err := emit(batch(0, 10)); err != nil {
			return err
		}
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	broken := &table.Table{Name: "broken", Columns: columns, Size: func(*table.Run) int64 { return 1 }, Scan: func(context.Context, *table.Run, *table.Filter, *table.Output) error { return mine }}
	run := &table.Run{Name: "run", Store: storetest.Text(t, "")}
	if _, err := Run(t.Context(), filepath.Join(dir, "out"), run, []*table.Table{broken}, nil); !errors.Is(err, mine) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := Run(t.Context(), filepath.Join(dir, "out"), run, table.Tables, nil); err != nil {
		t.Errorf("an empty run: %v", err)
	}
	if _, err := Run(t.Context(), filepath.Join(dir, "out"), run, table.Tables, nil); err == nil {
		t.Error("an export was overwritten")
	}
}

// The layout is held by apache-arrow in the page's tests; here that a file has its frame, and that batches stay small.
func TestArrowHasItsFrame(t *testing.T) {
	one := func(form ArrowForm, n int) []byte {
		var out bytes.Buffer
		if err := WriteArrow(&out, columns, form, InTurn(func(emit func(*table.Batch) error) error { return emit(batch(1, n)) })); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	file := one(ArrowFile, 10)
	if !bytes.HasPrefix(file, []byte("ARROW1\x00\x00")) || !bytes.HasSuffix(file, []byte("ARROW1")) {
		t.Errorf("a file begins %q and ends %q", file[:8], file[len(file)-6:])
	}
	if n := int(binary.LittleEndian.Uint32(file[len(file)-10:])); n <= 0 || n > len(file)-18 {
		t.Errorf("a footer of %d bytes in %d", n, len(file))
	}
	stream := one(ArrowStream, 10)
	if !bytes.HasPrefix(stream, arrowContinues[:]) || !bytes.HasSuffix(stream, []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}) || !bytes.Contains(file, stream) {
		t.Error("a stream is not what a file has between its words")
	}
	messages := 0
	for at, large := 0, one(ArrowStream, 2*arrowRows+1); at+8 <= len(large); at++ {
		if at%8 == 0 && bytes.Equal(large[at:at+4], arrowContinues[:]) && binary.LittleEndian.Uint32(large[at+4:]) < 1<<12 {
			messages++
		}
	}
	if messages != 1+3+1 {
		t.Errorf("%d messages: want a schema, three batches and the end", messages)
	}
	broken := &failing{}
	if err := WriteArrow(broken, columns, ArrowFile, InTurn(func(emit func(*table.Batch) error) error { return emit(batch(1, 10)) })); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

// An export that was killed leaves a directory whose lock is free; the next one beside it removes that, and no other.
func TestRemainsOfAKilledExportAreRemoved(t *testing.T) {
	parent := t.TempDir()
	killed, alive := filepath.Join(parent, ".a.part-1"), filepath.Join(parent, ".b.part-2")
	for _, dir := range []string{killed, alive} {
		if err := os.MkdirAll(filepath.Join(dir, partial.TempName), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(killed, partial.TempName, partial.LockName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := partial.LockDir(filepath.Join(alive, partial.TempName))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	to := filepath.Join(parent, "c")
	if _, err := Run(t.Context(), to, &table.Run{Name: "run", Store: storetest.Text(t, "")}, nil, nil); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 2 || left[0].Name() != ".b.part-2" {
		t.Errorf("left are %v, %v; want the one that is being written, and the export", left, err)
	}
	if files, _ := os.ReadDir(to); len(files) != 1 {
		t.Errorf("the export has %v", files)
	}
}
