package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// mostAnswerRows bounds what the page is sent: nobody reads more, and SQL can add up.
const mostAnswerRows = 10_000

type queryBody struct {
	SQL   string `json:"sql"`
	Limit int    `json:"limit"`
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
		return usage(fmt.Errorf(`body: %w; want {"sql": "select …", "limit": 100}`, err))
	}
	for kind, answer := range s.config.Rows {
		if strings.Contains(r.Header.Get("Accept"), kind) {
			return s.rows(w, r, x, &body, kind, answer)
		}
	}
	if body.Limit <= 0 || body.Limit > mostAnswerRows {
		body.Limit = mostAnswerRows
	}
	var out *Answer
	err := s.ask(r, x, func(ctx context.Context) (err error) {
		out, err = s.config.Ask(ctx, x.Run, body.SQL, int64(body.Limit))
		return err
	})
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, out)
}

const arrowStream = "application/vnd.apache.arrow.stream"

// A RowsWriter answers SQL with all rows, at most so many unless that is 0: what it gives writes them.
type RowsWriter func(ctx context.Context, r view.Run, text string, most int64) (func(io.Writer) error, error)

// rows answers with all rows, for notebooks and files.
func (s *Server) rows(w http.ResponseWriter, r *http.Request, x *run, body *queryBody, kind string,
	answer RowsWriter) error {
	var write func(io.Writer) error
	err := s.ask(r, x, func(ctx context.Context) (err error) {
		write, err = answer(ctx, x.Run, body.SQL, int64(max(body.Limit, 0)))
		return err
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	if err := write(w); err != nil {
		s.config.Log.Debug("rows", "error", err) // too late to say so: whoever reads finds no end
	}
	return nil
}

// ask computes an answer in its turn; a question that cannot be answered gets the reason.
func (s *Server) ask(r *http.Request, x *run, compute func(context.Context) error) error {
	ctx, done := s.config.Memory.Work(r.Context())
	defer done()
	err := s.slots.do(ctx, "query "+x.id, s.guarded("query", func() error { return compute(ctx) }))
	var known *apiError
	var much *memory.Exceeded
	if errors.As(context.Cause(ctx), &much) {
		return much
	}
	if err == nil || errors.As(err, &known) || r.Context().Err() != nil {
		return err
	}
	return usage(errors.New(strings.TrimPrefix(err.Error(), "query: ")))
}

// Runs are the runs of a server, for a handler that Config.Programs makes.
type Runs struct{ server *Server }

// A RunLine is a run in short.
type RunLine struct{ ID, Source, Format, State string }

// List gives the runs in order.
func (r Runs) List() (out []RunLine) {
	for _, x := range r.server.states() {
		out = append(out, RunLine{x.ID, x.Source, x.Format, x.State})
	}
	return out
}

// Use keeps a run open until release.
func (r Runs) Use(id string) (run view.Run, release func(), err error) {
	x, err := r.server.runs.use(id)
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
	x, err := r.server.runs.open(&run{sources: sources}, sources[0])
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
		return "", x.err
	}
	return x.id, nil
}
