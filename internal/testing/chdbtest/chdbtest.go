// Package chdbtest is a connection to a current ClickHouse as a library: chDB, for Node.
//
// It speaks no protocol. Statements go to it as text, rows as files in the format Native, which the client writes
// and reads as it does on a connection. So each statement and each column is tried as it is sent.
package chdbtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	wire "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// program reads statements, a line of JSON each, and answers with the error.
const program = `
const { Session } = require("chdb");
const s = new Session(process.argv[1]);
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  let failed = "";
  try { s.query(JSON.parse(line)); } catch (e) { failed = String(e.message || e) || "failed"; }
  process.stdout.write(JSON.stringify(failed) + "\n");
}).on("close", () => process.exit(0));
`

// An Engine is a connection to chDB.
type Engine struct {
	driver.Conn
	// Said are the first two words of statements that were sent.
	Said map[string]bool

	mu   sync.Mutex // one statement at a time
	dir  string
	in   io.Writer
	out  *bufio.Reader
	many int
}

// Start starts chDB where PARALLAX_CHDB names a directory with it in node_modules, and skips the test elsewhere.
func Start(tb testing.TB) *Engine { return StartAs(tb, "") }

// StartAs starts it with a configuration, as that of a server.
func StartAs(tb testing.TB, config string) *Engine { return StartIn(tb, tb.TempDir(), config) }

// StartIn does in a directory.
func StartIn(tb testing.TB, dir, config string) *Engine {
	tb.Helper()
	at := os.Getenv("PARALLAX_CHDB")
	if at == "" {
		tb.Skip("no current engine: PARALLAX_CHDB names a directory where `npm install chdb` was run " +
			"(make test-engine does)")
	}
	e := &Engine{dir: dir, Said: map[string]bool{}}
	cmd := exec.Command("node", "-e", program, filepath.Join(e.dir, "data"))
	cmd.Dir, cmd.Stderr = e.dir, os.Stderr
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(at, "node_modules"))
	if config != "" { // it reads the one that lies where it is started
		if err := os.WriteFile(filepath.Join(e.dir, "config.xml"), []byte(config), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.Reader
		out, err = cmd.StdoutPipe()
		e.in, e.out = in, bufio.NewReader(out)
	}
	if err = errors.Join(err, cmd.Start()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill() // not asked to end: with replicas it does not, and its data goes with the test
		_ = cmd.Wait()
	})
	return e
}

func (e *Engine) send(statement string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Said[strings.Join(strings.Fields(statement)[:2], " ")] = true
	line, err := json.Marshal(statement)
	if err == nil {
		_, err = e.in.Write(append(line, '\n'))
	}
	if err != nil {
		return err
	}
	answer, err := e.out.ReadBytes('\n')
	var failed string
	if err = errors.Join(err, json.Unmarshal(answer, &failed)); err == nil && failed != "" {
		err = exception(failed, statement[:min(len(statement), 300)])
	}
	return err
}

var codeOf = regexp.MustCompile(`(?s)Code: (\d+)\. (DB::Exception: .*)`)

// exception is the error of a statement as a server would send it.
func exception(failed, statement string) error {
	m := codeOf.FindStringSubmatch(failed)
	if m == nil {
		return errors.New(failed + " in " + statement)
	}
	code, err := strconv.Atoi(m[1])
	return errors.Join(err, &proto.Exception{Code: int32(code), Message: m[2] + " in " + statement})
}

// file returns a name that no other file has.
func (e *Engine) file() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.many++
	return filepath.Join(e.dir, fmt.Sprint("rows", e.many))
}

// Close ends nothing: the engine ends with its test.
func (e *Engine) Close() error { return nil }

// ServerVersion asks for the version.
func (e *Engine) ServerVersion() (*driver.ServerVersion, error) {
	var text string
	err := e.QueryRow(context.Background(), "select version()").Scan(&text)
	v := &driver.ServerVersion{}
	_, failed := fmt.Sscanf(text, "%d.%d.", &v.Version.Major, &v.Version.Minor)
	return v, errors.Join(err, failed)
}

// Exec runs a statement.
func (e *Engine) Exec(_ context.Context, statement string, args ...any) error {
	return e.send(bound(statement, args))
}

// bound puts values in place of question marks.
func bound(statement string, args []any) string {
	for _, a := range args {
		text := fmt.Sprint(a)
		if s, ok := a.(string); ok {
			text = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
		}
		statement = strings.Replace(statement, "?", text, 1)
	}
	return statement
}

// Query runs a statement that gives rows.
func (e *Engine) Query(_ context.Context, statement string, args ...any) (driver.Rows, error) {
	file := e.file()
	e.mu.Lock()
	e.Said[strings.Fields(statement)[0]] = true
	e.mu.Unlock()
	if err := e.send("insert into function file('" + file + "', 'Native') " + bound(statement, args)); err != nil {
		return nil, err
	}
	in, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return &rows{block: &proto.Block{}}, nil // no rows, no file
	}
	if err != nil {
		return nil, err
	}
	return &rows{file: in, in: wire.NewReader(in), block: proto.NewBlock(), at: -1}, nil
}

// QueryRow runs a statement that gives one row.
func (e *Engine) QueryRow(ctx context.Context, statement string, args ...any) driver.Row {
	rows, err := e.Query(ctx, statement, args...)
	return row{rows: rows, err: err}
}

type row struct {
	driver.Row
	rows driver.Rows
	err  error
}

func (r row) Scan(to ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		return errors.Join(errors.New("no row"), r.rows.Err())
	}
	return r.rows.Scan(to...)
}

// rows are those of a file in the format Native, block by block.
type rows struct {
	driver.Rows
	file  *os.File
	in    *wire.Reader
	block *proto.Block
	at    int
	err   error
}

func (r *rows) Next() bool {
	if r.at++; r.at < r.block.Rows() {
		return true
	}
	if r.in == nil {
		return false
	}
	next := proto.NewBlock()
	if err := next.Decode(r.in, 0); err != nil {
		if r.in = nil; !errors.Is(err, io.EOF) {
			r.err = err
		}
		return false
	}
	r.block, r.at = next, 0
	return next.Rows() > 0
}

func (r *rows) Scan(to ...any) error {
	if len(to) != len(r.block.Columns) {
		return fmt.Errorf("%d columns for %d values", len(r.block.Columns), len(to))
	}
	for i, c := range r.block.Columns {
		if err := c.ScanRow(to[i], r.at); err != nil {
			return err
		}
	}
	return nil
}

func (r *rows) Columns() []string { return r.head().ColumnsNames() }

func (r *rows) ColumnTypes() (out []driver.ColumnType) {
	for _, c := range r.head().Columns {
		out = append(out, columnType{of: c})
	}
	return out
}

// head is the first block: columns are asked for before rows.
func (r *rows) head() *proto.Block {
	if r.at < 0 && r.Next() {
		r.at = -1
	}
	return r.block
}

func (r *rows) Err() error { return r.err }

func (r *rows) Close() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.file.Close(), os.Remove(r.file.Name()))
}

type columnType struct {
	driver.ColumnType
	of column.Interface
}

func (c columnType) Name() string           { return c.of.Name() }
func (c columnType) ScanType() reflect.Type { return c.of.ScanType() }

var insertOf = regexp.MustCompile(`(?s)^insert into (\w+) \(([^)]*)\)`)

// PrepareBatch takes rows for an insert that names its columns.
func (e *Engine) PrepareBatch(ctx context.Context, statement string, _ ...driver.PrepareBatchOption) (driver.Batch,
	error) {
	m := insertOf.FindStringSubmatch(statement)
	if m == nil {
		return nil, fmt.Errorf("no insert with columns: %s", statement)
	}
	rows, err := e.Query(ctx, "select name, type from system.columns where database = currentDatabase() and table = ?",
		m[1])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types := map[string]string{}
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, err
		}
		types[name] = kind
	}
	b := &batch{e: e, statement: statement, block: proto.NewBlock()}
	for _, name := range strings.Split(m[2], ",") {
		name = strings.Trim(strings.TrimSpace(name), "`")
		if err := b.block.AddColumn(name, column.Type(types[name])); err != nil {
			return nil, fmt.Errorf("column %s of %s: %w", name, m[1], err)
		}
	}
	return b, nil
}

type batch struct {
	driver.Batch
	e         *Engine
	statement string
	block     *proto.Block
}

func (b *batch) Append(values ...any) error { return b.block.Append(values...) }

func (b *batch) Column(i int) driver.BatchColumn { return batchColumn{of: b.block.Columns[i]} }

type batchColumn struct {
	driver.BatchColumn
	of column.Interface
}

func (c batchColumn) Append(values any) error {
	_, err := c.of.Append(values)
	return err
}

func (b *batch) Abort() error { return nil }

func (b *batch) Send() error {
	if b.block.Rows() == 0 {
		return nil
	}
	var out wire.Buffer
	if err := b.block.Encode(&out, 0); err != nil {
		return err
	}
	file := b.e.file()
	if err := os.WriteFile(file, out.Buf, 0o600); err != nil {
		return err
	}
	defer os.Remove(file)
	return b.e.send(b.statement + " select * from file('" + file + "', 'Native')")
}
