package internal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// statements are how many each paper makes, by letter.
var statements = map[string]int{"M": 48, "B": 50, "P": 40, "S": 14, "E": 47, "K": 52}

var (
	statementRow = regexp.MustCompile(`(?m)^\|\s*\**([MBPSEK])(\d+)\**\s*\|.*$`)
	namedTest    = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Za-z0-9_]+)`")
	definedTest  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Za-z0-9_]+)\(`)
)

// Every statement of the papers has its row, and every test that a row names is there.
func TestStatementsOfThePapersAreShown(t *testing.T) {
	tests := map[string]bool{}
	err := filepath.WalkDir("..", func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, "_test.go") && !strings.Contains(filepath.ToSlash(name), "test/"):
			return nil
		case !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(name)
		for _, m := range definedTest.FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../docs/papers/*.md")
	if err != nil || len(pages) != 5 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	seen := map[string][]int{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range statementRow.FindAllStringSubmatch(string(text), -1) {
			n, _ := strconv.Atoi(row[2])
			seen[row[1]] = append(seen[row[1]], n)
			if cells := strings.Split(row[0], "|"); len(cells) < 5 || strings.TrimSpace(cells[3]) == "" {
				t.Errorf("%s: %s%s has nothing that shows it", page, row[1], row[2])
			}
		}
		for _, m := range namedTest.FindAllStringSubmatch(string(text), -1) {
			if !tests[m[1]] {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
	for letter, count := range statements {
		slices.Sort(seen[letter])
		for i := range count {
			if !slices.Contains(seen[letter], i+1) {
				t.Errorf("%s%d is missing", letter, i+1)
			}
		}
		if len(seen[letter]) != count {
			t.Errorf("%d rows of %s, want %d", len(seen[letter]), letter, count)
		}
	}
}
