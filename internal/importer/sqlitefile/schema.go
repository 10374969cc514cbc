package sqlitefile

import (
	"context"
	"strings"
)

// schema reads the table of tables, whose root is page 1.
func (f *File) schema() error {
	master := &Table{Columns: []string{"type", "name", "tbl_name", "rootpage", "sql"}, root: 1, rowid: -1}
	_, err := f.Scan(context.Background(), master, []string{"type", "name", "rootpage", "sql"}, func(r *Row) error {
		root, ok := r.Int(2)
		if string(r.Text(0)) != "table" || !ok || root == 0 {
			return nil // an index, a view, a virtual table
		}
		columns, rowid, ok := parseTable(string(r.Text(3)))
		if ok {
			f.tables = append(f.tables, &Table{string(r.Text(1)), columns, root, rowid})
		}
		return nil
	})
	return err
}

// parseTable takes the names of the columns from a CREATE TABLE statement, and which of
// them is the row's id: the one declared INTEGER PRIMARY KEY. Tables WITHOUT
// ROWID are B-trees of another kind and are not read: false.
func parseTable(sql string) (columns []string, rowid int, ok bool) {
	words := tokens(sql)
	at := 0
	for at < len(words) && words[at] != "(" {
		at++
	}
	d := definition{rowid: -1}
	depth := 0
	var item []string
	for ; at < len(words); at++ {
		switch w := words[at]; {
		case w == "(":
			if depth++; depth > 1 {
				item = append(item, w)
			}
		case w == ")":
			if depth--; depth > 0 {
				item = append(item, w)
				continue
			}
			d.add(item)
			rest := strings.ToUpper(strings.Join(words[at+1:], " "))
			return d.names, d.rowid, len(d.names) > 0 && !strings.Contains(rest, "WITHOUT ROWID")
		case w == "," && depth == 1:
			d.add(item)
			item = item[:0]
		default:
			item = append(item, w)
		}
	}
	return nil, -1, false
}

// A definition is the part of a CREATE TABLE statement read so far.
type definition struct {
	names   []string
	integer []bool // the declared type is INTEGER
	rowid   int
}

// add takes one item: a column or a constraint of the table.
func (d *definition) add(item []string) {
	if len(item) == 0 {
		return
	}
	all := strings.ToUpper(strings.Join(item, " "))
	switch strings.ToUpper(item[0]) {
	case "PRIMARY", "CONSTRAINT":
		if _, key, ok := strings.Cut(all, "PRIMARY KEY ( "); ok {
			name, rest, _ := strings.Cut(key, " ")
			for k, c := range d.names {
				if d.integer[k] && strings.EqualFold(c, unquote(name)) && strings.HasPrefix(rest, ")") {
					d.rowid = k
				}
			}
		}
		return
	case "UNIQUE", "CHECK", "FOREIGN":
		return
	}
	integer := len(item) > 1 && strings.EqualFold(item[1], "INTEGER")
	if integer && strings.Contains(all, "PRIMARY KEY") && !strings.Contains(all, "PRIMARY KEY DESC") {
		d.rowid = len(d.names)
	}
	d.names = append(d.names, unquote(item[0]))
	d.integer = append(d.integer, integer)
}

// unquote takes the quotes off a name.
func unquote(name string) string { return strings.Trim(name, "\"`[]'") }

// tokens splits SQL into words, marks and quoted names; comments are dropped.
func tokens(sql string) (out []string) {
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case strings.HasPrefix(sql[i:], "--"):
			for i < len(sql) && sql[i] != '\n' {
				i++
			}
		case strings.HasPrefix(sql[i:], "/*"):
			end := strings.Index(sql[i+2:], "*/")
			if end < 0 {
				return out
			}
			i += end + 4
		case c == '"' || c == '`' || c == '\'' || c == '[':
			end := c
			if c == '[' {
				end = ']'
			}
			k := strings.IndexByte(sql[i+1:], end)
			if k < 0 {
				return out
			}
			out = append(out, sql[i:i+k+2])
			i += k + 2
		case c == '(' || c == ')' || c == ',':
			out = append(out, sql[i:i+1])
			i++
		default:
			k := i
			for k < len(sql) && !strings.ContainsRune(" \t\n\r(),\"`[", rune(sql[k])) {
				k++
			}
			if k == i {
				k++
			}
			out = append(out, sql[i:k])
			i = k
		}
	}
	return out
}
