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

var (
	picture  = regexp.MustCompile("[`(]([^`( ]+\\.(?:svg|png))[`)]")
	pageTest = regexp.MustCompile(`"([^"|]{20,})"`)
	pageFile = regexp.MustCompile("`([a-z-]+\\.test\\.ts)`")
)

// shows reports whether a cell names a test, a test of the page or a picture.
func shows(cell string) bool {
	return namedTest.MatchString(cell) || picture.MatchString(cell) || pageFile.MatchString(cell) || strings.Contains(cell, "page") && strings.Contains(cell, `"`)
}

// Every statement of the papers has its row; every test, test of the page and picture that a
// row names is there, and no row is without one, its own or the same as above.
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
	pageTests, pageFiles := "", map[string]bool{}
	err = filepath.WalkDir("../web", func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist"):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".test.ts"):
			text, err := os.ReadFile(name)
			pageTests += string(text)
			pageFiles[d.Name()] = true
			return err
		}
		return nil
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
			cells := strings.Split(row[0], "|")
			if len(cells) < 5 || !shows(cells[3]) && !strings.Contains(cells[3], "the same") {
				t.Errorf("%s: %s%s has nothing that shows it", page, row[1], row[2])
			}
			for _, m := range picture.FindAllStringSubmatch(row[0], -1) {
				if there, _ := filepath.Glob(filepath.Join("../docs/*", filepath.Base(m[1]))); len(there) == 0 {
					t.Errorf("%s: %s%s shows %s, which is not there", page, row[1], row[2], m[1])
				}
			}
			for _, m := range pageTest.FindAllStringSubmatch(row[0], -1) {
				if strings.Contains(cells[3], "page") && !strings.Contains(pageTests, m[1]) {
					t.Errorf("%s: %s%s names %q, which is no test of the page", page, row[1], row[2], m[1])
				}
			}
			for _, m := range pageFile.FindAllStringSubmatch(row[0], -1) {
				if !pageFiles[m[1]] {
					t.Errorf("%s: %s%s names %s, which is not there", page, row[1], row[2], m[1])
				}
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
