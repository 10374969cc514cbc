package query

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/parallax-hpc/parallax/internal/memory"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The byte before a row, and after the last.
const (
	rowsEnd = iota
	rowNext
)

// Work answers the one job that is on in, and writes its rows to out: the process of a query. It ends when in
// does.
func Work(in io.Reader, out io.Writer, open func(context.Context, []Place) (*Database, func(), error)) error {
	var job Job
	d := json.NewDecoder(in)
	if err := d.Decode(&job); err != nil {
		return fmt.Errorf("query: the job: %w", err)
	}
	go func() { // rows are not wanted any more
		_, _ = io.Copy(io.Discard, in)
		os.Exit(1)
	}()
	confine(job.Bounds, job.Limits.Time)
	if err := boundEngine(job.Bounds.Memory / 2); err != nil {
		return err
	}
	go watchItself(job.Bounds.Memory)
	w := &worker{out: bufio.NewWriterSize(out, 1<<16)}
	ctx := context.Background()
	db, done, err := open(ctx, job.Runs)
	if err != nil {
		return w.message(heading{Error: "query: " + err.Error()})
	}
	defer done()
	var params []any
	for i := range job.Params {
		params = append(params, job.Params[i].value())
	}
	rows, err := db.Query(ctx, job.SQL, job.Limits, params...)
	if err != nil {
		return w.message(heading{Error: err.Error()})
	}
	defer rows.Close()
	return w.answer(rows)
}

type worker struct {
	out  *bufio.Writer
	line []byte
}

func (w *worker) answer(rows *Rows) error {
	head := heading{Columns: rows.Columns}
	for _, c := range rows.Columns {
		head.Kinds, head.Guesses = append(head.Kinds, c.Kind), append(head.Guesses, c.guess)
	}
	if err := w.message(head); err != nil {
		return err
	}
	for rows.Next() {
		w.line = append(w.line[:0], rowNext)
		for _, v := range rows.Row() {
			if b, ok := v.([]byte); ok {
				w.line = append(binary.AppendUvarint(append(w.line, cellBytes), uint64(len(b))), b...)
				continue
			}
			w.line = appendCell(w.line, v)
		}
		if _, err := w.out.Write(w.line); err != nil {
			return err
		}
	}
	end := ending{More: rows.More(), Read: rows.Read()}
	if rows.Err() != nil {
		end.Error = rows.Err().Error()
	}
	if err := w.out.WriteByte(rowsEnd); err != nil {
		return err
	}
	return w.message(end)
}

func (w *worker) message(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := w.out.Write(binary.AppendUvarint(nil, uint64(len(b)))); err != nil {
		return err
	}
	if _, err := w.out.Write(b); err != nil {
		return err
	}
	return w.out.Flush()
}

// boundEngine bounds the heap of the engine, for the whole process. It is called before the first connection.
func boundEngine(most int64) error {
	t := libc.NewTLS()
	defer t.Close()
	list := libc.NewVaList(int32(1))
	defer libc.Xfree(t, list)
	if rc := sqlite3.Xsqlite3_config(t, sqlite3.SQLITE_CONFIG_MEMSTATUS, list); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("query: the engine cannot count its memory: %d", rc)
	}
	if rc := sqlite3.Xsqlite3_initialize(t); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("query: the engine cannot begin: %d", rc)
	}
	sqlite3.Xsqlite3_hard_heap_limit64(t, most)
	return nil
}

// watchItself ends the process if the runtime has taken more than its memory: the bound on systems where no process
// can watch from outside.
func watchItself(most int64) {
	for range time.Tick(10 * time.Millisecond) {
		if memory.Taken() > most {
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(1)
		}
	}
}
