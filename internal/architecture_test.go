package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedFile = regexp.MustCompile("`([\\w./-]+\\.(?:go|ts|tsx|json|py|md))`")
	namedGo   = regexp.MustCompile("`([a-z]\\w*)\\.([A-Z]\\w*)`")
)

// The page of the architecture names files to open and identifiers to look for: all of them are there.
func TestTheArchitectureNamesWhatIsThere(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	declared := map[string]string{} // the Go code of packages by their name
	for _, root := range []string{"../internal", "../docs", "../web/src", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			path = filepath.ToSlash(path)
			files = append(files, "/"+path)
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				code, err := os.ReadFile(path)
				declared[filepath.Base(filepath.Dir(path))] += string(code)
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	files = append(files, "/parallax.go") // the package at the root
	all := strings.Join(files, "\n") + "\n"
	for _, m := range namedFile.FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(all, "/"+m[1]+"\n") {
			t.Errorf("architecture.md names the file %s, which is not there", m[1])
		}
	}
	for _, m := range namedGo.FindAllStringSubmatch(string(page), -1) {
		code, ok := declared[m[1]]
		if ok && !regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |var |const |\t)`+m[2]+`\b`).MatchString(code) {
			t.Errorf("architecture.md names %s.%s, which package %s does not declare", m[1], m[2], m[1])
		}
	}
}
