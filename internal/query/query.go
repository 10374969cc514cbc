// Package query answers SQL over runs: SQLite with virtual tables over the store, so
// nothing is copied, and conditions on time, location and region spare reading.
//
// A query has a connection of its own, to a database without a file, that may do nothing but read (restrict.go). It
// ends with its context or its time; sorting beyond a few megabytes uses temporary files, and strings are bounded, so
// memory is bounded too.
//
//	query.go    from SQL to rows       vtab.go     tables of package table as SQLite sees them
//	cursor.go   walking a table        restrict.go    permissions of a query
//	aggregate.go  sum, median, quantile, percentile   stream.go   rows in columns with types, for files
//	direct.go   statements that need no engine        collect.go  rows whose types are found by reading them all
//	apart.go    a query in a process of its own    worker.go   that process    turns.go   order of waiting queries
package query

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parallax-hpc/parallax/internal/table"
	"modernc.org/sqlite"
)

// A Database is runs to ask about. The tables of the first have plain names; those of
// the others stand under the name of their run: other.intervals.
type Database struct {
	Runs []*table.Run
	// More are tables and functions beside those of package table.
	More []*table.Table
	// Only are all tables, in place of those of package table: of a lake.
	Only []*table.Table
	// Apart answers statements that the engine must run, in place of this process; nil: they run here.
	Apart func(ctx context.Context, text string, limits Limits, params []any) (*Rows, error)
	// Remote says that Apart answers all statements, in the SQL of another engine.
	Remote bool
}

// Limits bound a query. Zero values: no bound.
type Limits struct {
	Time  time.Duration
	Rows  int64
	Cells int64 // of a result that is collected before it is handed out
	Bytes int64 // of all cells together
}

// A Column of a result. Unit is known where the column is one of a table, or an aggregate of one.
type Column struct {
	Name string     `json:"name"`
	Unit string     `json:"unit"`
	Kind table.Kind `json:"-"` // 0: not known before the rows are

	guess table.Kind // of a computed column, where no value tells it; 0: none
}

// Rows is the result of a query, row by row. Close it when done.
type Rows struct {
	Columns []Column

	session *session
	conn    *sql.Conn
	origins []origin // of the columns
	rows    *sql.Rows
	cells   []any
	into    []any
	limit   int64
	given   int64
	more    bool
	done    bool
	err     error
	close   func()

	apart *process // where the rows come from; nil: from this process
	from  Source   // or from elsewhere
	most  int64    // bytes of all cells
	bytes int64
}

// Query starts a query. Errors in the text are reported at once. Params are values for its parameters: plain ones for
// ?, sql.NamedArg for names.
func (d *Database) Query(ctx context.Context, text string, limits Limits, params ...any) (*Rows, error) {
	if d.Apart != nil {
		return d.Apart(ctx, text, limits, params)
	}
	r, err := d.prepare(ctx, text, limits, params)
	if err != nil {
		return nil, err
	}
	if err := r.run(text, params); err != nil {
		return nil, err
	}
	return r, nil
}

// prepare makes a connection and lets it compile the statement.
func (d *Database) prepare(ctx context.Context, text string, limits Limits, params []any) (*Rows, error) {
	if err := onlyAsks(text); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	var stops []func()
	stop := func() {
		for i := len(stops) - 1; i >= 0; i-- {
			stops[i]()
		}
	}
	if limits.Time > 0 {
		bounded,
			cancel := context.WithTimeoutCause(ctx, limits.Time,
			fmt.Errorf("it took longer than %s; ask for a window (begin, end), a location, or allow more time",
				limits.Time))
		ctx, stops = bounded, append(stops, cancel)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := newSession(ctx, d)
	stops = append(stops, cancel, s.close)
	db := sql.OpenDB(connector{})
	stops = append(stops, func() { db.Close() })
	conn, err := db.Conn(ctx)
	if err != nil {
		stop()
		return nil, fmt.Errorf("query: %w", err)
	}
	stops = append(stops, func() { conn.Close() })
	r := &Rows{session: s, conn: conn, limit: limits.Rows, most: limits.Bytes, close: stop}
	if err := r.compile(ctx, d, text); err != nil {
		err = r.explain(err) // before the context ends by our own hand
		stop()
		return nil, err
	}
	return r, nil
}

func (r *Rows) compile(ctx context.Context, d *Database, text string) error {
	if err := r.session.declare(ctx, r.conn, d); err != nil {
		return err
	}
	if err := restrict(ctx, r.conn, len(d.Runs)); err != nil {
		return err
	}
	return r.describe(r.conn, d, text)
}

// run starts the statement; where that fails it closes everything.
func (r *Rows) run(text string, params []any) error {
	err := r.start(text, params)
	if err != nil {
		err = r.explain(err) // before the context ends by our own hand
		r.Close()
	}
	return err
}

func (r *Rows) start(text string, params []any) error {
	var err error
	if r.rows, err = r.conn.QueryContext(r.session.ctx, text, params...); err != nil {
		return err
	}
	names, err := r.rows.Columns()
	if err != nil {
		return err
	}
	if len(names) != len(r.Columns) {
		return errors.New("want one statement that gives rows")
	}
	r.cells, r.into = make([]any, len(names)), make([]any, len(names))
	for i := range r.cells {
		r.into[i] = &r.cells[i]
	}
	return nil
}

// describe finds out which columns the statement gives, and their units where they are columns of tables.
func (r *Rows) describe(conn *sql.Conn, d *Database, text string) error {
	return conn.Raw(func(c any) error {
		info, err := c.(interface {
			ColumnInfo(string) ([]sqlite.ColumnInfo, error)
		}).ColumnInfo(text)
		if err != nil {
			return err
		}
		if len(info) == 0 {
			return errors.New("the statement gives no rows; want a select")
		}
		for _, i := range info {
			c := Column{Name: i.Name}
			if t := d.find(i.TableName); t != nil {
				if at := t.Column(i.OriginName); at >= 0 {
					c.Unit, c.Kind = t.Columns[at].Unit, t.Columns[at].Kind
				}
			}
			r.Columns = append(r.Columns, c)
			r.origins = append(r.origins, origin{i.TableName, i.OriginName})
		}
		aggregateUnits(r.Columns, d.Tables(), text)
		return nil
	})
}

// Tables returns all tables that can be queried.
func (d *Database) Tables() []*table.Table {
	if d.Only != nil {
		return d.Only
	}
	out := append([]*table.Table{}, table.Tables...)
	return append(append(out, table.Functions...), d.More...)
}

func (d *Database) find(name string) *table.Table {
	for _, t := range d.Tables() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Next moves to the next row; false at the end, at the limit, or on an error.
func (r *Rows) Next() bool {
	if r.done || r.err != nil {
		return false
	}
	if r.apart != nil {
		r.cells, r.err = r.apart.next()
		r.done, r.more = r.cells == nil, r.apart.end.More
		return !r.done
	}
	if r.from != nil {
		return r.nextFrom()
	}
	if !r.rows.Next() {
		r.done = true
		if err := r.rows.Err(); err != nil {
			r.err = r.explain(err)
		}
		return false
	}
	if r.limit > 0 && r.given == r.limit {
		r.more, r.done = true, true
		return false
	}
	r.given++
	if err := r.rows.Scan(r.into...); err != nil {
		r.err = r.explain(err)
		return false
	}
	if r.bytes += sizeOf(r.cells); r.most > 0 && r.bytes > r.most {
		r.err = fmt.Errorf("query: the rows have more than %d MiB; ask for fewer rows or shorter strings, or add up "+
			"in SQL",
			r.most>>20)
		return false
	}
	return true
}

// sizeOf estimates the bytes of a row.
func sizeOf(cells []any) (n int64) {
	for _, c := range cells {
		n += 16
		switch x := c.(type) {
		case string:
			n += int64(len(x))
		case []byte:
			n += int64(len(x))
		}
	}
	return n
}

// Row returns the current row: int64, float64, string, []byte or nil. It is valid until Next.
func (r *Rows) Row() []any { return r.cells }

// More reports whether rows were left out because of the limit.
func (r *Rows) More() bool { return r.more }

// Err returns the reason why Next ended early; nil if it did not.
func (r *Rows) Err() error { return r.err }

// Read returns the number of rows of tables that were looked at so far.
func (r *Rows) Read() int64 {
	switch {
	case r.apart != nil:
		return r.apart.end.Read
	case r.from != nil:
		return 0
	}
	return r.session.read.Load()
}

// Close ends the query.
func (r *Rows) Close() {
	switch {
	case r.apart != nil:
		r.apart.close()
		return
	case r.from != nil:
		r.from.Close()
		return
	}
	if r.rows != nil {
		r.rows.Close()
	}
	r.close()
}

// explain returns the error with its cause: the engine does not know why it was interrupted, or why a table failed.
func (r *Rows) explain(err error) error {
	if own := r.session.failure(); own != nil {
		return fmt.Errorf("query: %w", own)
	}
	if cause := context.Cause(r.session.ctx); cause != nil {
		return fmt.Errorf("query: %w", cause)
	}
	text := strings.TrimPrefix(err.Error(), "SQL logic error: ")
	if at := strings.LastIndex(text, " ("); at > 0 && strings.HasSuffix(text, ")") { // the engine's own number
		if _, bad := strconv.Atoi(text[at+2 : len(text)-1]); bad == nil {
			text = text[:at]
		}
	}
	if strings.Contains(text, "not authorized") || strings.Contains(text, "may not be modified") ||
		strings.Contains(text, "readonly database") {
		text = "a query only reads: " + text
	}
	if strings.HasPrefix(text, "missing argument") || strings.HasPrefix(text, "missing named argument") {
		text = "the statement has parameters without a value: " + text
	}
	if strings.HasPrefix(text, "no such table") || strings.HasPrefix(text, "no such column") {
		text += "; docs/tables.md lists tables and columns"
	}
	return errors.New("query: " + text)
}

// A session is shared by the tables of one connection.
type session struct {
	id   int64
	ctx  context.Context
	runs []*table.Run
	find func(string) *table.Table
	read atomic.Int64

	mu  sync.Mutex
	err error // of a table
}

// sessions are those open: SQLite passes a module nothing but strings.
var sessions struct {
	sync.Mutex
	last int64
	open map[int64]*session
}

func newSession(ctx context.Context, d *Database) *session {
	sessions.Lock()
	defer sessions.Unlock()
	sessions.last++
	s := &session{id: sessions.last, ctx: ctx, runs: d.Runs, find: d.find}
	if sessions.open == nil {
		sessions.open = map[int64]*session{}
	}
	sessions.open[s.id] = s
	return s
}

func (s *session) close() {
	sessions.Lock()
	defer sessions.Unlock()
	delete(sessions.open, s.id)
}

func (s *session) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && err != nil && !errors.Is(err, context.Canceled) {
		s.err = err
	}
	return err
}

func (s *session) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// declare makes the tables known to a connection.
func (s *session) declare(ctx context.Context, conn *sql.Conn, d *Database) error {
	var b strings.Builder
	b.WriteString("pragma cache_size = -16384;\n")
	for i, r := range s.runs {
		schema := "main"
		if i > 0 {
			schema = quote(r.Name)
			fmt.Fprintf(&b, "attach ':memory:' as %s;\n", schema)
		}
		for _, t := range d.Tables() {
			fmt.Fprintf(&b, "create virtual table %s.%s using %s(%d, %d);\n", schema, quote(t.Name), moduleName, s.id,
				i)
		}
	}
	_, err := conn.ExecContext(ctx, b.String())
	return err
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// engine is the one driver that knows our tables. There is only one, since registrations with a driver last for the
// life of the process.
var engine = sync.OnceValue(func() *sqlite.Driver {
	d := &sqlite.Driver{}
	if err := d.RegisterModule(moduleName, module{}); err != nil {
		panic(err) // the name is taken: a fault of the program
	}
	if err := registerAggregates(d); err != nil {
		panic(err)
	}
	return d
})

type connector struct{}

func (connector) Connect(context.Context) (driver.Conn, error) {
	return engine().Open("file::memory:?_defensive=1")
}
func (connector) Driver() driver.Driver { return engine() }
