package query

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/table"
)

// aggregateOf matches an aggregate that has the unit of its column, with an alias or without.
var aggregateOf = regexp.MustCompile(
	`(?is)^(sum|total|avg|min|max|median|quantile|percentile|count)\s*\(\s*` +
		`(?:distinct\s+)?(?:\w+\.)*(\w+|\*)\s*(?:,[^()]*)?\)(?:\s+(?:as\s+)?\w+)?$`)

var wordInQuery = regexp.MustCompile(`\w+`)

// aggregateUnits gives columns that are an aggregate of one column of a table the unit of that column, and a guess of
// their type. SQLite knows only where plain columns come from, so the list behind select is read here. A column that
// several tables of the statement have with different units stays without one.
func aggregateUnits(columns []Column, tables []*table.Table, text string) {
	items := selectList(text)
	if len(items) != len(columns) { // select *, several selects
		return
	}
	words := wordInQuery.FindAllString(strings.ToLower(text), -1)
	for i := range columns {
		m := aggregateOf.FindStringSubmatch(items[i])
		if m == nil || columns[i].Unit != "" {
			continue
		}
		function := strings.ToLower(m[1])
		if function == "count" {
			columns[i].guess = table.Integer
			continue
		}
		var units []string
		for _, t := range tables {
			if at := t.Column(strings.ToLower(m[2])); at >= 0 && slices.Contains(words, t.Name) {
				units = append(units, t.Columns[at].Unit)
				columns[i].guess = t.Columns[at].Kind
			}
		}
		if !slices.Contains([]string{"sum", "min", "max"}, function) {
			columns[i].guess = table.Number
		}
		if units = slices.Compact(units); len(units) == 1 {
			columns[i].Unit = units[0]
		}
	}
}

// selectList returns the columns of a statement that begins with select, as they are written.
func selectList(text string) (items []string) {
	text = strings.TrimSpace(text)
	if len(text) < 7 || !strings.EqualFold(text[:6], "select") {
		return nil
	}
	text = text[6:]
	depth, from := 0, 0
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth > 0:
		case c == ',':
			items, from = append(items, strings.TrimSpace(text[from:i])), i+1
		case endsList.MatchString(text[i:]):
			return append(items, strings.TrimSpace(text[from:i]))
		}
	}
	return append(items, strings.TrimSpace(strings.TrimRight(text[from:], "; \n")))
}

// endsList matches where the list of columns ends.
var endsList = regexp.MustCompile(`(?i)^\sfrom\s`)
