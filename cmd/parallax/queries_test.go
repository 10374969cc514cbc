package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// queryBlock is one query of docs/queries.md: its source, its text, its answer.
var queryBlock = regexp.MustCompile("(?s)Of `([^`]+)`:\n\n```sql\n(.*?)\n```\n\n```text\n(.*?)```\n")

// TestQueriesOfTheDocumentGiveTheirAnswers: docs/queries.md shows what each query gives on
// real data, where these lie beside the repository. Everywhere each runs on a demo. -update
// writes the answers anew.
func TestQueriesOfTheDocumentGiveTheirAnswers(t *testing.T) {
	const file = "../../docs/queries.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := queryBlock.FindAllStringSubmatch(string(text), -1)
	if len(found) < 10 {
		t.Fatalf("%s has %d queries, want ten at least", file, len(found))
	}
	ask := func(source, sql string) string {
		var out, errs bytes.Buffer
		if code := run(context.Background(), []string{"query", source, sql}, &out, &errs); code != 0 {
			t.Errorf("%s: %s\n%s", source, errs.String(), sql)
		}
		var lines []string
		for line := range strings.Lines(out.String()) {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
		return strings.Join(lines, "\n") + "\n"
	}
	changed := string(text)
	for _, q := range found {
		source := filepath.Join("../../../shared/data", q[1])
		if !exists(source) {
			ask("demo:stencil", q[2])
			continue
		}
		got := ask(source, q[2])
		if strings.Count(got, "\n") < 3 {
			t.Errorf("%s gives no answer worth showing:\n%s\n%s", q[1], q[2], got)
		}
		if viewtest.Updating() {
			changed = strings.Replace(changed, q[0], strings.TrimSuffix(q[0], q[3]+"```\n")+got+"```\n", 1)
		} else if got != q[3] {
			t.Errorf("%s: %s\ngives\n%s\nthe document says\n%s", q[1], q[2], got, q[3])
		}
	}
	if viewtest.Updating() {
		if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
