package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	tables "github.com/parallax-hpc/parallax/internal/export"
	"github.com/parallax-hpc/parallax/internal/mcp"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/parallax-hpc/parallax/internal/view"
)

// askTime bounds a query from the page.
const askTime = 2 * time.Minute

// answerSQL answers the page's query panel.
func answerSQL(ctx context.Context, q server.Question) (*server.Answer, error) {
	limits := query.Limits{Time: askTime, Rows: q.Most}
	rows, err := newDatabase([]view.Run{q.Run}).Query(ctx, q.SQL, limits, q.Params...)
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

// servedLimits bound what clients of the page's server can ask for; cells are those that it writes to its disk.
var servedLimits = query.Limits{Time: askTime, Cells: 50_000_000}

// rowsAs answers SQL with files and streams of rows, by media type.
func rowsAs(limits query.Limits) map[string]server.RowsWriter {
	const stream = "application/vnd.apache.arrow.stream"
	out := map[string]server.RowsWriter{
		"application/vnd.apache.parquet": answerRows(limits, func(ctx context.Context, w io.Writer,
			s *query.Stream) error {
			_, err := tables.Write(ctx, w, "result", s.Columns, s.Each)
			return err
		}),
		"text/csv": func(ctx context.Context, q server.Question) (*server.WrittenRows, error) {
			limits := limits
			limits.Rows = q.Most
			rows, err := newDatabase([]view.Run{q.Run}).Query(ctx, q.SQL, limits, q.Params...)
			if err != nil {
				return nil, err
			}
			return &server.WrittenRows{Rows: -1, Write: rows.WriteCSV, Close: rows.Close}, nil
		},
	}
	for kind, form := range map[string]tables.ArrowForm{stream: tables.ArrowStream,
		stream + "; dictionaries=yes": tables.ArrowDictionaries, "application/vnd.apache.arrow.file": tables.ArrowFile} {
		out[kind] = answerRows(limits, func(_ context.Context, w io.Writer, s *query.Stream) error {
			return tables.WriteArrow(w, s.Columns, form, s.Each)
		})
	}
	return out
}

// answerRows answers with all rows in columns.
func answerRows(limits query.Limits,
	write func(context.Context, io.Writer, *query.Stream) error) server.RowsWriter {
	return func(ctx context.Context, q server.Question) (*server.WrittenRows, error) {
		limits := limits
		limits.Rows = q.Most
		s, err := newDatabase([]view.Run{q.Run}).Stream(ctx, q.SQL, limits, q.Params...)
		if err != nil {
			return nil, err
		}
		return &server.WrittenRows{Rows: s.Rows, Close: s.Close,
			Write: func(w io.Writer) error { return write(ctx, w, s) }}, nil
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
