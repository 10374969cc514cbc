package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// bounds of the engine, by its own numbers: the size of one string, one statement and its program.
var bounds = map[int]int{
	sqlite3.SQLITE_LIMIT_LENGTH:              16 << 20,
	sqlite3.SQLITE_LIMIT_SQL_LENGTH:          1 << 20,
	sqlite3.SQLITE_LIMIT_COLUMN:              500,
	sqlite3.SQLITE_LIMIT_EXPR_DEPTH:          200,
	sqlite3.SQLITE_LIMIT_COMPOUND_SELECT:     100,
	sqlite3.SQLITE_LIMIT_VDBE_OP:             200_000,
	sqlite3.SQLITE_LIMIT_FUNCTION_ARG:        64,
	sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
	sqlite3.SQLITE_LIMIT_WORKER_THREADS:      0,
}

// restrict lets a connection do nothing but read from now on. Its tables cannot be
// written anyway, and there is no other; so that none is made, nothing is written.
func restrict(ctx context.Context, conn *sql.Conn, runs int) error {
	if _, err := conn.ExecContext(ctx, "pragma query_only = on; pragma trusted_schema = off"); err != nil {
		return err
	}
	for id, most := range bounds {
		if _, err := sqlite.Limit(conn, id, most); err != nil {
			return err
		}
	}
	_, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_ATTACHED, max(runs-1, 0))
	return err
}

// asks are the words by which a statement that asks begins. Files, settings and
// transactions are only reached by others: attach, vacuum, pragma, begin …
var asks = []string{"select", "with", "values"}

// harmless lists the pragmas that only describe the schema.
var harmless = []string{"table_info", "table_xinfo", "table_list", "function_list", "database_list"}

// onlyAsks returns an error if a text is not one statement that only reads. It is looked at before the
// engine sees it, which follows some pragmas while it still compiles.
func onlyAsks(text string) error {
	words := statement(text)
	if len(words) == 0 {
		return errors.New("no SQL given; such as: select count(*) from intervals")
	}
	if at := slices.Index(words, ";"); at >= 0 && len(strings.Trim(strings.Join(words[at:], ""), ";")) > 0 {
		return errors.New("a query only reads: want one statement, not several")
	}
	first := words[0]
	switch {
	case first == "explain":
		if words = words[1:]; len(words) > 1 && words[0] == "query" && words[1] == "plan" {
			words = words[2:]
		}
	case first == "pragma" && len(words) > 1:
		name := words[1]
		if len(words) > 3 && words[2] == "." {
			name = words[3]
		}
		if slices.Contains(harmless, name) && !slices.Contains(words, "=") {
			return nil
		}
		return fmt.Errorf("a query only reads: pragma %s is not for it", name)
	}
	if len(words) > 0 && slices.Contains(asks, words[0]) {
		return nil
	}
	return fmt.Errorf("near %q: a query only reads, so it begins with select, with or values", first)
}

// statement returns the words and signs of a text as the engine takes them apart, without
// blanks and comments. Words are in small letters; strings and names in quotes are a quote.
func statement(text string) (out []string) {
	for _, t := range tokens(text) {
		switch t.kind {
		case word:
			out = append(out, strings.ToLower(t.text))
		case named, literal:
			out = append(out, "'")
		default:
			out = append(out, t.text)
		}
	}
	return out
}

// until returns how long a text is up to the end of a mark that follows its start, or all of it.
func until(text, mark string, start int) int {
	if at := strings.Index(text[min(start, len(text)):], mark); at >= 0 {
		return start + at + len(mark)
	}
	return len(text)
}

func wordly(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
