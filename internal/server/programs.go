package server

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/view"
)

// An Answer is rows for a question in SQL. Cells are string, int64, float64 or nil.
type Answer struct {
	Columns []view.Column `json:"columns"`
	Rows    [][]any       `json:"rows" ts:"Cell[][]"`
	More    bool          `json:"more"` // there are rows beyond the limit
}

// mostAnswerRows bounds the rows sent to the page: people do not read more, and SQL can add up.
const mostAnswerRows = 10_000

type queryBody struct {
	SQL   string `json:"sql"`
	Limit int    `json:"limit"`
	// Params are values for parameters of the SQL: a list for ?, an object for :name.
	Params json.RawMessage `json:"params"`
}

// params reads the values as the SQL engine takes them.
func (b *queryBody) params() ([]any, error) {
	if len(b.Params) == 0 || string(b.Params) == "null" {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(b.Params))
	d.UseNumber()
	var list []any
	var names map[string]any
	if b.Params[0] == '{' {
		if err := d.Decode(&names); err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			v, err := parameterValue(names[name])
			if err != nil {
				return nil, fmt.Errorf("params: %s: %w", quoteShort(name), err)
			}
			list = append(list, sql.Named(name, v))
		}
		return list, nil
	}
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("params: want a list or an object: %w", err)
	}
	for i := range list {
		v, err := parameterValue(list[i])
		if err != nil {
			return nil, fmt.Errorf("params: value %d: %w", i+1, err)
		}
		list[i] = v
	}
	return list, nil
}

func parameterValue(v any) (any, error) {
	switch x := v.(type) {
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n, nil
		}
		return x.Float64()
	case bool:
		if x {
			return int64(1), nil
		}
		return int64(0), nil
	case string, nil:
		return x, nil
	}
	return nil, errors.New("want a text, a number, true, false or null")
}

// A Question is SQL about a run, with at most so many rows unless that is 0.
type Question struct {
	Run    view.Run
	SQL    string
	Params []any
	Most   int64
}

// query answers SQL about a run. It ends when the connection does.
func (s *Server) query(w http.ResponseWriter, r *http.Request, x *run) error {
	if s.config.Ask == nil {
		return &apiError{Status: http.StatusNotFound, Kind: "not-found", Message: "this server answers no SQL"}
	}
	var body queryBody
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		return usage(fmt.Errorf(`body: %w; want {"sql": "select …", "limit": 100, "params": []}`, err))
	}
	params, err := body.params()
	if err != nil {
		return usage(err)
	}
	noteSQL(w, body.SQL)
	q := Question{Run: x.Run, SQL: body.SQL, Params: params, Most: int64(max(body.Limit, 0))}
	if kind := s.kindOfRows(r.Header.Get("Accept")); kind != "" {
		return s.rows(w, r, q, kind)
	}
	if q.Most == 0 || q.Most > mostAnswerRows {
		q.Most = mostAnswerRows
	}
	var out *Answer
	err = s.ask(r.Context(), r, func() (err error) {
		out, err = s.config.Ask(r.Context(), q)
		return err
	})
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, out)
}

const arrowStream = "application/vnd.apache.arrow.stream"

// kindOfRows returns the media type of rows that a client takes; "": none.
func (s *Server) kindOfRows(accept string) (found string) {
	for kind := range s.config.Rows {
		if strings.Contains(accept, kind) && len(kind) > len(found) { // one begins with another
			found = kind
		}
	}
	return found
}

// A RowsWriter starts to answer SQL with all rows. They are found while they are written, until the context ends.
type RowsWriter func(ctx context.Context, q Question) (*WrittenRows, error)

// WrittenRows are rows of an answer on their way.
type WrittenRows struct {
	Rows  int64 // at most so many; -1: not known
	Write func(io.Writer) error
	Close func()
}

// errorTrailer tells of an error after the first byte.
const errorTrailer = "Parallax-Error"

// rows answers with all rows, for notebooks and files.
func (s *Server) rows(w http.ResponseWriter, r *http.Request, q Question, kind string) error {
	ctx, done := s.config.Memory.Work(r.Context())
	defer done()
	var rows *WrittenRows
	err := s.ask(ctx, r, func() (err error) {
		rows, err = s.config.Rows[kind](ctx, q)
		return err
	})
	if err != nil {
		return err
	}
	defer rows.Close()
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Trailer", errorTrailer)
	if rows.Rows >= 0 {
		h.Set("Parallax-Rows", strconv.FormatInt(rows.Rows, 10))
	}
	sent := &firstBytes{w: w}
	out := bufio.NewWriterSize(sent, 1<<16)
	if err = rows.Write(out); err == nil {
		err = out.Flush()
	}
	if err = s.asAnswer(ctx, r, err); err == nil || r.Context().Err() != nil {
		return nil
	}
	if !sent.begun {
		h.Del("Trailer")
		return err
	}
	text, _ := json.Marshal(errorOf(err))
	h.Set(errorTrailer, string(text))
	return nil
}

// firstBytes knows whether anything was sent: until then an error can be told as usual.
type firstBytes struct {
	w     io.Writer
	begun bool
}

func (f *firstBytes) Write(b []byte) (int, error) {
	f.begun = true
	return f.w.Write(b)
}

// ask computes an answer; compute itself waits for its turn. A question that cannot be answered gets the reason.
func (s *Server) ask(ctx context.Context, r *http.Request, compute func() error) error {
	return s.asAnswer(ctx, r, s.guarded("query", compute)())
}

// asAnswer returns the error of a question as the client sees it.
func (s *Server) asAnswer(ctx context.Context, r *http.Request, err error) error {
	var known *apiError
	var much *memory.Exceeded
	if errors.As(context.Cause(ctx), &much) || errors.As(err, &much) {
		return much
	}
	if err == nil || errors.As(err, &known) || r.Context().Err() != nil {
		return err
	}
	return usage(errors.New(strings.TrimPrefix(err.Error(), "query: ")))
}

// report answers with the report of a run.
func (s *Server) report(w http.ResponseWriter, r *http.Request, x *run) error {
	if s.config.Report == nil {
		return &apiError{Status: http.StatusNotFound, Kind: "not-found", Message: "this server writes no reports"}
	}
	body, err := s.cachedReport(r.Context(), x)
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, "text/html; charset=utf-8", body)
}

// cachedReport computes a report once for all who ask.
func (s *Server) cachedReport(ctx context.Context, x *run) ([]byte, error) {
	key := fmt.Sprintf("report %q %d", x.id, x.Store.Generation())
	e, err := s.cache.get(ctx, key, []*run{x}, func(ctx context.Context) (made, error) {
		var b bytes.Buffer
		err := s.limiter.do(ctx, key, s.guarded("report", func() error { return s.config.Report(ctx, &b, x.Run) }))
		return made{value: b.Bytes(), bytes: int64(b.Len())}, err
	})
	if err != nil {
		return nil, err
	}
	return e.value.([]byte), nil
}

// Runs are the runs of a server, for a handler that Config.Programs makes.
type Runs struct {
	server *Server
	by     *Token // the token of the caller; nil: unknown
}

// For returns the runs as the sender of a request may see them.
func (r Runs) For(q *http.Request) Runs { return Runs{r.server, holderOf(q)} }

// A RunLine is a run in short.
type RunLine struct{ ID, Source, Format, State string }

// List returns the runs in order.
func (r Runs) List() (out []RunLine) {
	for _, x := range r.server.states(r.by) {
		out = append(out, RunLine{x.ID, x.Source, x.Format, x.State})
	}
	return out
}

// Use keeps a run open until release.
func (r Runs) Use(id string) (run view.Run, release func(), err error) {
	x, err := r.server.runs.use(r.by, id)
	if err != nil {
		return view.Run{}, nil, err
	}
	return x.Run, x.release, nil
}

// Open imports sources and waits until they can be asked.
func (r Runs) Open(ctx context.Context, sources []string) (id string, err error) {
	if r.server.config.Open == nil {
		return "", errors.New("this server opens nothing more")
	}
	for _, src := range sources {
		if err := r.server.confined(src); err != nil {
			return "", err
		}
	}
	own := &run{sources: sources}
	if r.by != nil {
		own.owner = r.by.Name
	}
	x, err := r.server.runs.open(own, withoutPasswords(sources[0]))
	if err != nil {
		return "", err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for x.status() == "importing" {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick.C:
		}
	}
	if x.status() == "failed" {
		x.mu.Lock()
		defer x.mu.Unlock()
		return "", errorOf(x.err)
	}
	return x.id, nil
}
