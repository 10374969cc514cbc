package query

import (
	"database/sql"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// bounds of the engine, by its own numbers: what one text, one statement and its program may take.
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

// harmless are pragmas that tell what there is.
var harmless = []string{"table_info", "table_xinfo", "table_list", "function_list", "database_list"}

// forbidden functions reach out of the database.
var forbidden = []string{"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}

// restrict lets a connection do nothing but read from now on.
func restrict(conn *sql.Conn, runs int) error {
	for id, most := range bounds {
		if _, err := sqlite.Limit(conn, id, most); err != nil {
			return err
		}
	}
	if _, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_ATTACHED, max(runs-1, 0)); err != nil {
		return err
	}
	return conn.Raw(func(c any) error {
		return c.(sqlite.AuthorizerRegisterer).RegisterAuthorizer(authorise)
	})
}

func authorise(action sqlite.AuthorizerActionCode, first, second, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthFunction:
		if !slices.Contains(forbidden, strings.ToLower(second)) {
			return sqlite.AuthorizerOK
		}
	case sqlite.AuthPragma:
		if slices.Contains(harmless, strings.ToLower(first)) {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}
