package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/web"
)

// licenceFiles are what modules call the file.
var licenceFiles = []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "NOTICE"}

// npmParts are what the page is bundled with.
var npmParts = []string{"preact", "@preact/signals", "@preact/signals-core"}

// TestTheLicencesOfOthersGoWithTheProgram: web/src/licences.txt names every module
// that is linked and every package that is bundled, and is part of the page. -update
// writes it anew, from the modules and packages as they are on this machine; the page
// must be built again then.
func TestTheLicencesOfOthersGoWithTheProgram(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", ".").Output()
	if err != nil {
		t.Skipf("go list cannot be run here: %v", err)
	}
	parts := map[string]string{} // folder by name
	for line := range strings.Lines(string(out)) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			parts[path] = dir
		}
	}
	const file = "../../web/src/licences.txt"
	if viewtest.Updating() {
		if err := os.WriteFile(file, []byte(writeLicences(t, parts)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Sorted(keys(parts)), npmParts...) {
		if !strings.Contains(string(text), "\n"+name+"\n") {
			t.Errorf("the licence of %s is not in %s; run this test with -update and build the page again", name, file)
		}
	}
	if len(parts) == 0 || !strings.Contains(string(text), "Jason Miller") {
		t.Error("no modules, or Preact's notice is missing")
	}
	built, err := fs.ReadFile(web.Files(), "licences.txt")
	if err != nil || string(built) != string(text) {
		t.Errorf("the page's licences.txt is not that of its sources: %v", err)
	}
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// writeLicences gathers the notices, those with the same words together.
func writeLicences(t *testing.T, parts map[string]string) string {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	names := map[string][]string{}
	add := func(name, dir string) {
		found := false
		for _, f := range licenceFiles {
			b, err := os.ReadFile(filepath.Join(dir, f))
			if err != nil {
				continue
			}
			found = true
			text := strings.Trim(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n \t")
			if names[text] == nil {
				texts = append(texts, text)
			}
			names[text] = append(names[text], name)
		}
		if !found {
			t.Errorf("%s: no licence in %s", name, dir)
		}
	}
	for _, p := range npmParts {
		add(p, filepath.Join("../../web/node_modules", p))
	}
	add("Go: runtime, standard library and fonts", strings.TrimSpace(string(goroot)))
	for _, p := range slices.Sorted(keys(parts)) {
		add(p, parts[p])
	}
	var b strings.Builder
	b.WriteString("Licences of others in Parallax\n\nThe program and its page hold parts written by others. Their licences ask that\nthese notices go with them.\n")
	rule := strings.Repeat("=", 78)
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(names[text], "\n"), rule, text)
	}
	return b.String()
}
