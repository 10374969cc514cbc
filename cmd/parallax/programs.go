package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	tables "github.com/parallax-hpc/parallax/internal/export"
	"github.com/parallax-hpc/parallax/internal/mcp"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/view"
)

// askTime bounds a query from the page.
const askTime = 2 * time.Minute

// answerSQL answers the page's query panel.
func answerSQL(ctx context.Context, r view.Run, text string, most int64) (*server.Answer, error) {
	rows, err := newDatabase([]view.Run{r}).Query(ctx, text, query.Limits{Time: askTime, Rows: most})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := &server.Answer{Columns: []view.Column{}, Rows: [][]any{}}
	for _, c := range rows.Columns {
		out.Columns = append(out.Columns, view.Column{Name: c.Name, Unit: c.Unit})
	}
	for rows.Next() {
		out.Rows = append(out.Rows, query.Exact(rows.Row(), query.ExactInJavaScript))
	}
	out.More = rows.More()
	return out, rows.Err()
}

// rowsAs answers SQL with files and streams of rows, by media type.
var rowsAs = map[string]server.RowsWriter{
	"application/vnd.apache.arrow.stream": answerRows(func(_ context.Context, w io.Writer, columns []table.Column,
		each eachBatch) error {
		return tables.WriteArrow(w, columns, false, each)
	}),
	"application/vnd.apache.arrow.file": answerRows(func(_ context.Context, w io.Writer, columns []table.Column,
		each eachBatch) error {
		return tables.WriteArrow(w, columns, true, each)
	}),
	"application/vnd.apache.parquet": answerRows(func(ctx context.Context, w io.Writer, columns []table.Column,
		each eachBatch) error {
		_, err := tables.Write(ctx, w, "result", columns, each)
		return err
	}),
	"text/csv": func(ctx context.Context, r view.Run, text string, most int64) (func(io.Writer) error, error) {
		rows, err := newDatabase([]view.Run{r}).Query(ctx, text, query.Limits{Time: askTime, Rows: most})
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		var b bytes.Buffer
		err = rows.WriteCSV(&bounded{&b})
		return func(w io.Writer) error { _, err := b.WriteTo(w); return err }, err
	},
}

// mostBytes bounds a text of rows that is held until all are there.
const mostBytes = 1 << 28

// A bounded writer refuses more than mostBytes.
type bounded struct{ *bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostBytes {
		return 0,
			fmt.Errorf("query: more than %d MB of text; ask `parallax query -o rows.csv`, or add up in SQL",
				mostBytes>>20)
	}
	return b.Buffer.Write(p)
}

type eachBatch = func(emit func(*table.Batch) error) error

// mostCells bounds what a client can make the server write to its disk for one answer.
const mostCells = 50_000_000

// answerRows answers with all rows. The types of columns must be known before the first byte, so rows are collected
// first.
func answerRows(write func(context.Context, io.Writer, []table.Column, eachBatch) error) server.RowsWriter {
	return func(ctx context.Context, r view.Run, text string, most int64) (func(io.Writer) error, error) {
		rows, err := newDatabase([]view.Run{r}).Query(ctx, text, query.Limits{Time: askTime, Rows: most})
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		all, err := rows.Collect(mostCells)
		if err != nil {
			return nil, err
		}
		return func(w io.Writer) error {
			defer all.Close()
			// The question has been answered: its context ends with it, the writing does not.
			return write(context.WithoutCancel(ctx), w, all.Columns, all.Each)
		}, nil
	}
}

// servedRuns are the runs of the page's server, for programs that ask over HTTP.
type servedRuns struct{ server.Runs }

// List implements mcp.Runs.
func (s servedRuns) List() []mcp.Run {
	out := []mcp.Run{}
	for _, r := range s.Runs.List() {
		out = append(out, mcp.Run{ID: r.ID, Source: r.Source, Format: r.Format, State: r.State})
	}
	return out
}

// Open implements mcp.Runs.
func (s servedRuns) Open(ctx context.Context, sources []string) ([]string, error) {
	id, err := s.Runs.Open(ctx, sources)
	if err != nil {
		return nil, err
	}
	return []string{id}, nil
}

// programsHandler answers programs over HTTP; the server checks their token first.
func programsHandler(log *slog.Logger) func(server.Runs) (http.Handler, error) {
	return func(runs server.Runs) (http.Handler, error) {
		s, err := newPrograms(servedRuns{runs})
		if err != nil {
			return nil, err
		}
		return s.Handler(log), nil
	}
}
