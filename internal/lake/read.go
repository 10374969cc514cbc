package lake

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer/parquetfile"
	"github.com/parallax-hpc/parallax/internal/table"
)

// Open returns the tables of a lake: the tables of a run under their names, with the run in each row. Rows are read
// run by run in order of their start; conditions on project, month, run and run_start leave out files, others row
// groups.
func Open(dir string) ([]*table.Table, error) {
	runs, err := Runs(dir)
	if err != nil {
		return nil, err
	}
	var out []*table.Table
	for _, t := range Tables {
		l := &reader{dir: dir, runs: runs, name: t.Name, columns: append(slices.Clone(common), t.Columns...)}
		for i := range l.columns {
			l.columns[i].Narrows = l.columns[i].Kind != table.Number // files tell the bounds of all columns
			if i >= len(common) {
				l.columns[i].Null = true // a run that an older version exported may lack it
			}
		}
		out = append(out, &table.Table{Name: t.Name, Help: t.Help, Columns: l.columns,
			Size: func(*table.Run) int64 { return l.size() },
			Scan: func(ctx context.Context, _ *table.Run, f *table.Filter, to *table.Output) error {
				return l.scan(ctx, f, to)
			}})
	}
	return out, nil
}

// A reader gives the rows of one table over all runs.
type reader struct {
	dir     string
	runs    []Run
	name    string
	columns []table.Column
}

func (l *reader) size() (rows int64) {
	for i := range l.runs {
		rows += l.runs[i].rows[l.name]
	}
	return rows
}

func (l *reader) scan(ctx context.Context, f *table.Filter, to *table.Output) error {
	project, month, name := f.Words("project"), f.Words("month"), f.Words("run")
	from, until := f.Between("run_start")
	for i := range l.runs {
		a := &l.runs[i]
		if a.rows[l.name] == 0 {
			continue
		}
		if project != nil && !project(a.Project) || month != nil && !month(a.month()) || name != nil && !name(a.Run) ||
			a.Start < from || a.Start > until {
			continue
		}
		if err := l.scanRun(ctx, a, f, to); err != nil {
			return err
		}
	}
	return nil
}

// scanRun writes the rows of one file to the output.
func (l *reader) scanRun(ctx context.Context, a *Run, f *table.Filter, to *table.Output) error {
	path := filepath.Join(l.dir, a.file(l.name))
	in, err := os.Open(path)
	if os.IsNotExist(err) && !exists(filepath.Join(l.dir, runsDir, escape(a.Run))) {
		return nil // the run was removed since it was listed
	} else if err != nil {
		return fmt.Errorf("lake: %w; the run %s is damaged: remove it from the lake and export it again", err, a.Run)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return fmt.Errorf("lake: %w", err)
	}
	file, err := parquetfile.Open(in, info.Size())
	if err != nil {
		return fmt.Errorf("lake: %s: %w", path, err)
	}
	var names []string
	for i, c := range l.columns[len(common):] {
		if to.Want == nil || to.Want[len(common)+i] {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 { // rows are counted
		names = []string{"run"}
	}
	rows := file.NewReader(names...)
	defer rows.Close()
	rows.Skip = func(group int) bool { return outside(file, group, f) }
	texts := interned{}
	for {
		more, err := rows.Next(ctx)
		if err != nil || !more {
			if d := &rows.Damage; err == nil && d.Groups > 0 {
				err = fmt.Errorf("lake: %s: row group %d cannot be read: %w", path, d.First, d.Why)
			}
			return err
		}
		if to.Read != nil {
			to.Read.Add(int64(rows.Rows))
		}
		if err := to.Emit(l.batch(a, rows, to.Want, texts)); err != nil {
			return err
		}
	}
}

// batch turns the rows of a reader into a batch.
func (l *reader) batch(a *Run, rows *parquetfile.Reader, want []bool, texts interned) *table.Batch {
	b := &table.Batch{Rows: rows.Rows, Columns: make([]table.Vector, len(l.columns))}
	known := []any{a.Project, a.month(), a.Run, a.Start}
	next := 0
	for i := range l.columns {
		v := &b.Columns[i]
		if v.Kind = l.columns[i].Kind; want != nil && !want[i] {
			continue
		}
		if i < len(common) {
			for range rows.Rows {
				v.Put(known[i])
			}
			continue
		}
		values := rows.Values[next]
		next++
		for k := range rows.Rows {
			if values == nil {
				v.Put(nil)
				continue
			}
			switch v.Kind {
			case table.Text:
				if t := parquetfile.Text(&values[k]); t != nil {
					v.Put(texts.of(t))
				} else {
					v.Put(nil)
				}
			case table.Number:
				if n, ok := parquetfile.Number(&values[k]); ok {
					v.Put(n)
				} else {
					v.Put(nil)
				}
			default:
				if n, ok := parquetfile.Integer(&values[k]); ok {
					v.Put(n)
				} else {
					v.Put(nil)
				}
			}
		}
	}
	return b
}

// interned holds each text of a file once.
type interned map[string]string

func (t interned) of(b []byte) string {
	if s, ok := t[string(b)]; ok {
		return s
	}
	if len(t) > 1<<16 {
		clear(t)
	}
	s := string(b)
	t[s] = s
	return s
}

// outside reports whether no row of a group can pass the filter, by the bounds of its columns.
func outside(file *parquetfile.File, group int, f *table.Filter) bool {
	for _, c := range f.Conditions {
		column := file.Column(c.Column)
		if column < 0 {
			continue
		}
		least, most, ok := file.Bounds(group, column)
		if !ok || least.IsNull() || most.IsNull() {
			continue
		}
		if text, isText := c.Value.(string); isText {
			lo, hi := parquetfile.Text(&least), parquetfile.Text(&most)
			if c.Op == table.Equal && lo != nil && hi != nil && (text < string(lo) || text > string(hi)) {
				return true
			}
			continue
		}
		lo, known := parquetfile.Integer(&least)
		hi, also := parquetfile.Integer(&most)
		if from, until := f.Between(c.Column); known && also && (hi < from || lo > until) {
			return true
		}
	}
	return false
}
