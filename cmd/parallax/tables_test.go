package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// TestTablesAreDocumented: docs/tables.md lists every table and column as declared. -update writes it anew.
func TestTablesAreDocumented(t *testing.T) {
	const file, mark = "../../docs/tables.md", "<!-- from here on written by cmd/parallax/tables_test.go -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s: the line %q is missing", file, mark)
	}
	var b bytes.Buffer
	b.WriteString(head + mark + "\n## Tables\n")
	table.Document(&b, table.Tables)
	b.WriteString("\n## Functions\n")
	for _, f := range newDatabase(nil).Tables() {
		if f.Function() {
			table.Document(&b, []*table.Table{f})
		}
	}
	if viewtest.Updating() {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != string(text) {
		t.Errorf("%s is not what the tables are; run this test with -update", file)
	}
}
