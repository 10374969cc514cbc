package table

import (
	"fmt"
	"io"
	"strings"
)

// Document writes the description of tables as Markdown, which is docs/tables.md.
func Document(w io.Writer, tables []*Table) {
	for _, t := range tables {
		title := "`" + t.Name + "`"
		if t.Function() {
			var names []string
			for _, a := range t.Arguments {
				names = append(names, a.Name)
			}
			title = "`" + t.Name + "(" + strings.Join(names, ", ") + ")`"
		}
		fmt.Fprintf(w, "\n### %s\n\n%s\n\n", title, t.Help)
		if len(t.Arguments) > 0 {
			fmt.Fprint(w, "| argument | type | |\n| --- | --- | --- |\n")
			for _, c := range t.Arguments {
				fmt.Fprintf(w, "| `%s` | %s | %s |\n", c.Name, kindOf(&c), c.Help)
			}
			fmt.Fprintln(w)
		}
		fmt.Fprint(w, "| column | type | |\n| --- | --- | --- |\n")
		for _, c := range t.Columns {
			mark := ""
			if c.Narrows {
				mark = " ▸"
			}
			fmt.Fprintf(w, "| `%s`%s | %s | %s |\n", c.Name, mark, kindOf(&c), c.Help)
		}
	}
}

func kindOf(c *Column) string {
	s := c.Kind.String()
	if c.Unit != "" {
		s += ", " + c.Unit
	}
	if c.Null {
		s += ", or null"
	}
	return s
}
