package findings_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
)

// docs/findings.md says of each kind where it is found, and has its title, an example, what it rests on and what it
// cannot tell.
func TestEachKindHasItsRowsInTheDocs(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "\n## Kinds\n")
	found, rest, _ := strings.Cut(rest, "\n## The budget of waiting\n")
	_, rest, _ = strings.Cut(rest, "\n## Kinds one by one\n")
	told, _, _ := strings.Cut(rest, "\n## ")
	for _, k := range diagnose.Kinds() {
		if row := rowOf(found, string(k)); len(row) != 3 || slices.Contains(row, "") {
			t.Errorf("%s: the table of kinds has %q", k, row)
		}
		row := rowOf(told, string(k))
		if len(row) != 5 || slices.Contains(row, "") {
			t.Errorf("%s: the kinds one by one have %q", k, row)
			continue
		}
		if !strings.Contains(strings.ToLower(row[1]), lastWords(k.Title())) {
			t.Errorf("%s is titled %q in the docs, not %q", k, row[1], k.Title())
		}
	}
}

// lastWords is a title in lower case without the words that rows of several kinds share: "at the end" of "Idle at the
// end".
func lastWords(title string) string {
	title = strings.ToLower(title)
	if _, end, ok := strings.Cut(title, " at the "); ok {
		return "at the " + end
	}
	return title
}

// rowOf is the row of a table whose first cell names a kind.
func rowOf(table, kind string) []string {
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if strings.HasPrefix(line, "| `") && strings.Contains(cells[0], "`"+kind+"`") {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			return cells
		}
	}
	return nil
}
