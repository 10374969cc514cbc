package internal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What docs/reliability.md says was tried is a test: every row names one, and it is there.
func TestDocumentedFaultsHaveATest(t *testing.T) {
	text, err := os.ReadFile("../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	defined, all := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`), map[string]bool{}
	err = filepath.WalkDir("..", func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(name)
		for _, m := range defined.FindAllStringSubmatch(string(source), -1) {
			all[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named, rows := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`"), 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| tried") || strings.HasPrefix(line, "| ---") {
			continue
		}
		rows++
		tests := named.FindAllStringSubmatch(line, -1)
		if len(tests) == 0 && !strings.Contains(line, "importertest.Run") && !strings.Contains(line, ".test.ts") {
			t.Errorf("no test: %.100s", line)
		}
		for _, m := range tests {
			if !all[m[1]] {
				t.Errorf("%s is nowhere: %.100s", m[1], line)
			}
		}
	}
	if rows < 30 {
		t.Errorf("only %d rows", rows)
	}
}
