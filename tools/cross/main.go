// Command cross checks the types of a program and of its tests as they are on other systems.
//
//	cross windows/amd64 darwin/arm64 -- ./cmd/... ./internal/...
//
// A file for one system alone, such as name_windows.go, is seen by no compiler elsewhere until it is released. Types
// are checked in the source of everything that is imported, without bodies of functions in other modules, and no code
// is generated: a few percent of the time of a build for that system, so that tests are looked at too.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	systems, packages := os.Args[1:], []string{"./..."}
	if i := slices.Index(systems, "--"); i >= 0 {
		systems, packages = systems[:i], systems[i+1:]
	}
	if len(systems) == 0 {
		fmt.Fprintln(os.Stderr, "usage: cross GOOS/GOARCH... [-- PACKAGE...]")
		os.Exit(2)
	}
	type answer struct {
		packages int
		err      error
	}
	answers := make([]chan answer, len(systems))
	for i, system := range systems {
		answers[i] = make(chan answer, 1)
		go func() {
			n, err := check(".", system, packages)
			answers[i] <- answer{n, err}
		}()
	}
	failed := false
	for i, system := range systems {
		a := <-answers[i]
		if a.err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, a.err)
			continue
		}
		fmt.Printf("%s: %d packages\n", system, a.packages)
	}
	if failed {
		os.Exit(1)
	}
}

// A listed is a package as `go list` prints it. A test that is part of its package makes variants of it and of what
// imports it: "p [p.test]".
type listed struct {
	ImportPath, Dir, ForTest string
	GoFiles, SFiles          []string
	ImportMap                map[string]string
	Module                   *struct {
		Main      bool
		GoVersion string
	}
}

func (p *listed) own() bool { return p.Module != nil && p.Module.Main }

// plain is the path without the test that it is a variant for.
func (p *listed) plain() string {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return path
}

// list returns packages, their tests and all that they import, each after what it imports.
func list(dir, system string, packages []string) ([]*listed, error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return nil, fmt.Errorf("not GOOS/GOARCH")
	}
	c := exec.Command("go", append([]string{"list", "-deps", "-test",
		"-json=ImportPath,Dir,ForTest,GoFiles,SFiles,ImportMap,Module"}, packages...)...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %v\n%s", err, complaint.String())
	}
	var all []*listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{}
		if err := d.Decode(p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
}

// check returns how many packages of the module were looked at, or all that is wrong with them.
func check(dir, system string, packages []string) (n int, err error) {
	all, err := list(dir, system, packages)
	if err != nil {
		return 0, err
	}
	tested := map[string]bool{} // packages whose bodies are checked together with their tests
	for _, p := range all {
		if p.ForTest != "" && p.plain() == p.ForTest {
			tested[p.ForTest] = true
		}
	}
	_, goarch, _ := strings.Cut(system, "/")
	c := checker{files: token.NewFileSet(), read: map[string]*ast.File{},
		types: map[string]*types.Package{"unsafe": types.Unsafe}, sizes: types.SizesFor("gc", goarch)}
	for _, p := range all {
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.plain(), ".test") { // the main function of a test
			continue
		}
		whole := p.own() && (p.ForTest == "" && !tested[p.ImportPath] || p.ForTest != "" && c.ofTest(p))
		if whole {
			n++
		}
		c.check(p, whole)
	}
	return n, errors.Join(c.wrong...)
}

type checker struct {
	files *token.FileSet
	read  map[string]*ast.File
	types map[string]*types.Package
	sizes types.Sizes
	wrong []error
}

// ofTest reports whether a variant holds the test's own files, and not only what was compiled again for it.
func (c *checker) ofTest(p *listed) bool {
	return slices.Contains([]string{p.ForTest, p.ForTest + "_test"}, p.plain())
}

// check checks the types of a package: the whole of it, or its declarations alone.
func (c *checker) check(p *listed, whole bool) {
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := c.parse(name, p)
		if err != nil {
			c.wrong = append(c.wrong, err)
			return
		}
		parsed = append(parsed, f)
	}
	config := types.Config{Importer: imports{c, p}, IgnoreFuncBodies: !whole, Sizes: c.sizes}
	if p.own() {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	config.Error = func(err error) {
		if whole { // what is wrong elsewhere is for others to mend, or is told there
			c.wrong = append(c.wrong, err)
		}
	}
	c.types[p.ImportPath], _ = config.Check(p.plain(), c.files, parsed, nil)
}

// parse reads a file once for all variants of its package. Functions of other modules lose their bodies, which take
// most of the memory.
func (c *checker) parse(name string, p *listed) (*ast.File, error) {
	if f := c.read[name]; f != nil {
		return f, nil
	}
	f, err := parser.ParseFile(c.files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		d, ok := d.(*ast.FuncDecl)
		switch {
		case !ok:
		case !p.own():
			d.Body = nil
		case d.Body == nil && len(p.SFiles) == 0:
			c.wrong = append(c.wrong, fmt.Errorf("%s: %s has no body", c.files.Position(d.Pos()), d.Name.Name))
		}
	}
	c.read[name] = f
	return f, nil
}

// imports finds what a package imports among those checked before.
type imports struct {
	c *checker
	p *listed
}

func (i imports) Import(path string) (*types.Package, error) {
	if to, ok := i.p.ImportMap[path]; ok {
		path = to
	}
	if t := i.c.types[path]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s is imported by %s and not listed", path, i.p.ImportPath)
}
