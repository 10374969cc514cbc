package local

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var update = flag.Bool("update", false, "write the tables of docs/store-format.md anew")

func TestEveryColumnHasAPlaceInMemory(t *testing.T) {
	targets := new(disk.Columns).Targets()
	seen := map[string]bool{}
	for _, table := range disk.Schema {
		for i := range table.Columns {
			c := &table.Columns[i]
			if seen[c.File()] {
				t.Errorf("%s is declared twice", c.File())
			}
			seen[c.File()] = true
			if targets[c.File()] == nil {
				t.Errorf("%s is not mapped", c.File())
			}
		}
	}
	for name := range targets {
		if !seen[name] {
			t.Errorf("%s is mapped but not declared", name)
		}
	}
}

func TestOnlyDeclaredFilesAreWritten(t *testing.T) {
	declared := map[string]bool{disk.ManifestName: true}
	for _, table := range disk.Schema {
		for i := range table.Columns {
			declared[table.Columns[i].File()] = true
		}
	}
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeRandom(w, 1, 500) })
	for name := range filesOf(t, path) {
		if !declared[name] && !strings.HasPrefix(name, "summary.") {
			t.Errorf("%s is written but not declared", name)
		}
	}
}

// The tables of the document are those of the schema.
func TestDocumentDescribesTheSchema(t *testing.T) {
	const begin, end = "<!-- tables: written by go test ./internal/store/local -run Document -update -->\n", "<!-- end of tables -->\n"
	path := filepath.Join("..", "..", "..", "docs", "store-format.md")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	i, j := strings.Index(doc, begin), strings.Index(doc, end)
	if i < 0 || j < i {
		t.Fatalf("%s has no marks for the tables", path)
	}
	want := doc[:i] + begin + "\n" + describeSchema() + end + doc[j+len(end):]
	if want == doc {
		return
	}
	if !*update {
		t.Fatalf("%s is out of step with the schema; run go test ./internal/store/local -run Document -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func describeSchema() string {
	var b strings.Builder
	for _, t := range disk.Schema {
		fmt.Fprintf(&b, "**%s**: %s\n\n| file | values | meaning |\n| --- | --- | --- |\n", t.Name, t.Meaning)
		for i := range t.Columns {
			c := &t.Columns[i]
			values := "one a row"
			switch {
			case c.Kind == disk.Offsets:
				values = "one more than rows"
			case c.Kind == disk.WithAll:
				values = "one a row, and one of all together"
			case c.Kind == disk.Free:
				values = "as many as its offsets say"
			case c.Per > 1:
				values = fmt.Sprint(c.Per, " a row")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.File(), values, c.Meaning)
		}
		b.WriteString("\n")
	}
	return b.String()
}
