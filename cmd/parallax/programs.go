package main

import (
	"cmp"
	"context"
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

// An asker answers SQL about open runs, each query in a process of its own.
type asker struct {
	apart  *query.Apart // nil: queries run here
	holder string       // who asks, where the context does not say it
}

func (e *env) asker() *asker { return &asker{apart: query.NewApart(query.Itself, e.budget.Most())} }

// database puts runs behind SQL. Runs that only this process has are asked here.
func (a *asker) database(runs []view.Run) *query.Database {
	d := newDatabase(runs)
	var places []query.Place
	for _, r := range runs {
		if x, ok := r.Store.(interface{ Place() string }); ok && x.Place() != "" {
			places = append(places, query.Place{Name: r.Name, Source: r.Source, Store: x.Place()})
		}
	}
	if a.apart == nil || len(places) < len(runs) {
		return d
	}
	d.Apart = func(ctx context.Context, text string, limits query.Limits, params []any) (*query.Rows, error) {
		return a.apart.Query(ctx, query.Job{Holder: cmp.Or(server.HolderOf(ctx), a.holder), Runs: places, SQL: text,
			Limits: limits, Params: query.NewParams(params)})
	}
	return d
}

// work is the process of one query.
func work(in io.Reader, out io.Writer) error {
	return query.Work(in, out, func(ctx context.Context, places []query.Place) (*query.Database, func(), error) {
		l := newLoader(nil, 0, nil)
		var runs []view.Run
		for _, p := range places {
			r, err := l.OpenPlace(ctx, p.Store)
			if err != nil {
				closeRuns(runs)
				return nil, nil, err
			}
			r.Name, r.Source = p.Name, p.Source
			runs = append(runs, r)
		}
		return newDatabase(runs), func() { closeRuns(runs) }, nil
	})
}

// answerSQL answers the page's query panel.
func (a *asker) answerSQL(ctx context.Context, q server.Question) (*server.Answer, error) {
	limits := query.Limits{Time: askTime, Rows: q.Most, Bytes: mostAnswer}
	rows, err := a.database([]view.Run{q.Run}).Query(ctx, q.SQL, limits, q.Params...)
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

// servedLimits bound queries of clients of the page's server; cells are those that it writes to its disk.
var servedLimits = query.Limits{Time: askTime, Cells: 50_000_000, Bytes: 4 << 30}

// mostAnswer bounds the cells of an answer that is held in memory.
const mostAnswer = 32 << 20

// rowsAs answers SQL with files and streams of rows, by media type.
func (a *asker) rowsAs(limits query.Limits) map[string]server.RowsWriter {
	const stream = "application/vnd.apache.arrow.stream"
	out := map[string]server.RowsWriter{
		"application/vnd.apache.parquet": a.answerRows(limits, func(ctx context.Context, w io.Writer,
			s *query.Stream) error {
			_, err := tables.Write(ctx, w, "result", s.Columns, s.Each)
			return err
		}),
		"text/csv": func(ctx context.Context, q server.Question) (*server.WrittenRows, error) {
			limits := limits
			limits.Rows = q.Most
			rows, err := a.database([]view.Run{q.Run}).Query(ctx, q.SQL, limits, q.Params...)
			if err != nil {
				return nil, err
			}
			return &server.WrittenRows{Rows: -1, Write: rows.WriteCSV, Close: rows.Close}, nil
		},
	}
	for kind, form := range map[string]tables.ArrowForm{stream: tables.ArrowStream,
		stream + "; dictionaries=yes":       tables.ArrowDictionaries,
		"application/vnd.apache.arrow.file": tables.ArrowFile} {
		out[kind] = a.answerRows(limits, func(_ context.Context, w io.Writer, s *query.Stream) error {
			return writeArrow(w, s, form)
		})
	}
	return out
}

// writeArrow writes the rows of a query on all cores.
func writeArrow(w io.Writer, s *query.Stream, form tables.ArrowForm) error {
	return tables.WriteArrow(w, s.Columns, form, func(encode func(*table.Batch) (*tables.ArrowBatches, error),
		write func(*tables.ArrowBatches) error) error {
		return query.Encode(s, encode, write)
	})
}

// answerRows answers with all rows in columns.
func (a *asker) answerRows(limits query.Limits,
	write func(context.Context, io.Writer, *query.Stream) error) server.RowsWriter {
	return func(ctx context.Context, q server.Question) (*server.WrittenRows, error) {
		limits := limits
		limits.Rows = q.Most
		s, err := a.database([]view.Run{q.Run}).Stream(ctx, q.SQL, limits, q.Params...)
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
func programsHandler(a *asker, log *slog.Logger) func(server.Runs) (http.Handler, error) {
	return func(runs server.Runs) (http.Handler, error) {
		return mcp.Handler(func(r *http.Request) *mcp.Server {
			// a server for each request: who sends it decides which runs there are
			s, err := newPrograms(&asker{a.apart, server.HolderOf(r.Context())}, servedRuns{runs.For(r)})
			if err != nil {
				log.Error("programs", "error", err)
				return nil
			}
			return s
		}, log), nil
	}
}
