package lake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/parallax-hpc/parallax/internal/export"
	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/table"
)

// DefaultProject is the project of runs that were given none.
const DefaultProject = "default"

// Append writes a run into the lake, which it makes if there is none. The name of the run is a.Run; if another run
// has it, the time of its start is added. Fields that a leaves empty are taken from the run's source.
func Append(ctx context.Context, dir string, r *table.Run, a About, done func(table string, rows int64)) (*About,
	error) {
	Complete(&a, r)
	if err := os.MkdirAll(filepath.Join(dir, runsDir), 0o777); err != nil {
		return nil, fmt.Errorf("lake: %w", err)
	}
	if err := a.settle(dir); err != nil {
		return nil, err
	}
	// Not os.MkdirTemp: its directories are the user's alone, and the contents of this one are renamed.
	work := filepath.Join(dir, newDir, fmt.Sprintf("%s-%d", escape(a.Run), os.Getpid()))
	partial.RemoveStaleIn(filepath.Join(dir, newDir), func(string) bool { return true }, "") // of killed programs
	if err := os.MkdirAll(filepath.Join(work, runsDir), 0o777); err != nil {
		return nil, fmt.Errorf("lake: %w", err)
	}
	lock, err := partial.LockDir(work)
	if err != nil {
		return nil, fmt.Errorf("lake: %w", err)
	}
	defer lock.Close()
	defer os.Remove(filepath.Join(dir, newDir)) // where no other export is in it
	defer os.RemoveAll(work)
	s, err := writeTables(ctx, work, r, &a, done)
	if err != nil {
		return nil, err
	}
	return &a, publish(dir, work, &a, s)
}

// Complete fills in the fields that were not given.
func Complete(a *About, r *table.Run) {
	if a.Run == "" {
		a.Run = r.Name
	}
	if a.Project == "" {
		a.Project = DefaultProject
	}
	if a.Start == 0 {
		a.Start, a.Clock = startOf(r)
	}
	all := map[string]string{}
	for k, v := range r.Store.Info().Properties {
		all[k] = v
	}
	for k, v := range a.Keys {
		all[k] = v
	}
	a.Keys = all
}

// startOf returns when a run began, in microseconds since 1970, and whose clock tells it: that of the trace where its
// times are dates, else the time of its file, else now.
func startOf(r *table.Run) (int64, string) {
	year := func(t time.Time) bool { return t.Year() >= 2000 && t.Before(time.Now().AddDate(1, 0, 0)) }
	if t := time.Unix(0, int64(r.Store.Info().Origin)); year(t) {
		return t.UnixMicro(), "time of the trace"
	}
	if info, err := os.Stat(r.Source); err == nil && year(info.ModTime()) {
		return info.ModTime().UnixMicro(), "time of the file"
	}
	return time.Now().UnixMicro(), "time of the export"
}

// settle finds a name that no run of the lake has.
func (a *About) settle(dir string) error {
	taken := func() bool { return exists(filepath.Join(dir, runsDir, escape(a.Run))) }
	if !taken() {
		return nil
	}
	name := a.Run
	if a.Run = a.Dated(); taken() {
		return fmt.Errorf("lake: %s has the run %s already (%s); give it another name with --as", dir, name, a.Run)
	}
	return nil
}

func writeTables(ctx context.Context, work string, r *table.Run, a *About,
	done func(string, int64)) (*export.Schema, error) {
	s := &export.Schema{Version: export.Version, Program: "parallax", Source: r.Source, Lake: a,
		Attributes: append([]string{}, r.Store.Attributes()...)}
	add := func(t *table.Table, rows func(func(*table.Batch) error) error) error {
		own := append(common[inPath:len(common):len(common)], t.Columns...)
		n, err := writeTable(ctx, filepath.Join(work, t.Name+".parquet"), t.Name, own, a, rows)
		if err != nil {
			return fmt.Errorf("lake: %s: %w", t.Name, err)
		}
		where := ""
		if n > 0 {
			where = path.Join("..", "..", filepath.ToSlash(a.file(t.Name)))
		}
		s.Tables = append(s.Tables, export.Describe(t, where, n))
		if done != nil {
			done(t.Name, n)
		}
		return nil
	}
	for _, t := range Tables {
		if err := add(t, Rows(ctx, r, t, a)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// writeTable writes rows behind the columns that name their run.
func writeTable(ctx context.Context, path, name string, columns []table.Column, a *About,
	rows func(func(*table.Batch) error) error) (n int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	n, err = export.Write(ctx, f, name, columns, func(emit func(*table.Batch) error) error {
		return rows(func(b *table.Batch) error {
			run, start := table.Vector{Kind: table.Text}, table.Vector{Kind: table.Integer}
			for range b.Rows {
				run.Put(a.Run)
				start.Put(a.Start)
			}
			return emit(&table.Batch{Rows: b.Rows, Columns: append([]table.Vector{run, start}, b.Columns...)})
		})
	})
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return n, err
}

// publish moves the written files to their place. The directory of the run comes last: with it the run is there.
func publish(dir, work string, a *About, s *export.Schema) (err error) {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	own := filepath.Join(work, runsDir)
	files := map[string][]byte{schemaName: append(text, '\n'), outlineName: a.Outline}
	for name, content := range files {
		if content == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(own, name), content, 0o666); err != nil {
			return fmt.Errorf("lake: %w", err)
		}
	}
	var moved []string
	defer func() {
		if err != nil {
			for _, m := range moved {
				os.Remove(m)
			}
		}
	}()
	for _, t := range s.Tables {
		if t.Rows == 0 {
			continue
		}
		to := filepath.Join(dir, a.file(t.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return fmt.Errorf("lake: %w", err)
		}
		if err := os.Rename(filepath.Join(work, t.Name+".parquet"), to); err != nil {
			return fmt.Errorf("lake: %w", err)
		}
		moved = append(moved, to)
	}
	if err := os.Rename(own, filepath.Join(dir, runsDir, escape(a.Run))); errors.Is(err, fs.ErrExist) {
		moved = nil // another export of the same run was faster, and wrote the same
		return fmt.Errorf("lake: the run %s was exported by another program at the same time", a.Run)
	} else if err != nil {
		return fmt.Errorf("lake: %w", err)
	}
	return nil
}
