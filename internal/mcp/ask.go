package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/view"
)

// queryTime bounds a query of a program: it can ask for less, and rarely waits longer.
const (
	queryTime  = time.Minute
	queryBytes = 8 << 20
)

type queryIn struct {
	Run   string `json:"run,omitempty" jsonschema:"id of the run; may be left out where only one is open"`
	SQL   string `json:"sql" jsonschema:"one select statement"`
	Limit int    `json:"limit,omitempty" jsonschema:"number of rows, 20 by default, at most 200"`
}

type askOut struct {
	Columns []query.Column `json:"columns"`
	Rows    [][]any        `json:"rows"`
	More    string         `json:"more,omitempty"`
}

func (s *Server) query(ctx context.Context, _ *sdk.CallToolRequest, in queryIn) (*sdk.CallToolResult, askOut, error) {
	return s.ask(ctx, in.Run, in.SQL, in.Limit)
}

func (s *Server) ask(ctx context.Context, run, text string, limit int) (*sdk.CallToolResult, askOut, error) {
	r, release, err := s.use(run)
	if err != nil {
		return nil, askOut{}, err
	}
	defer release()
	if limit <= 0 {
		limit = someRows
	}
	rows,
		err := s.config.Database([]view.Run{r}).Query(ctx, text,
		query.Limits{Time: queryTime, Rows: int64(min(limit, mostRows)), Bytes: queryBytes})
	if err != nil {
		return nil, askOut{}, err
	}
	defer rows.Close()
	out := askOut{Columns: rows.Columns, Rows: [][]any{}}
	for rows.Next() {
		out.Rows = append(out.Rows, compact(rows.Row()))
	}
	if rows.More() {
		out.More = "there are more rows: order by what matters and use limit and offset in SQL, or add it up"
	}
	return nil, out, rows.Err()
}
