// Package adding_test adds what the documents invite to add.
package adding_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A format, a view, a finding and an option are added to a copy of the tree as CONTRIBUTING.md and docs/adding-a-*.md
// say, and their suites and those of the lists are run. It takes about 12 s of CPU
// time, for linking test programs, and 35 s the first time: what is not changed is taken from the build cache.
func TestDocumentedExtensionsCanBeAdded(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs tests of a copy of the tree")
	}
	c := copyTree(t)
	c.addFormat()
	c.addView()
	c.addFinding()
	c.test("-count=1", "-short", ".")
	c.test("./importer/toy", "-update")
	c.test("./importer/toy")
	c.test("./importer/all", "-run", "TestFormatsAreWhole|TestEverySampleIsClaimedByItsFormatAlone")
	c.test("./view/calls", "-update")
	c.test("./view/all", "-run", "TestWordsOfOptionsAreTaken")
	c.test("./analysis/diagnose", "-run", "TestEveryKindIsFoundAndDocumented")
	c.test("./view/findings", "-run", "Sleep|TestView")
	c.addOption()
	c.test("./view", "-run", "Option|View|Values")
	c.test("./view/calls")
}

// root is where the repository lies.
const root = "../.."

// A treeCopy is a copy of the repository that may be changed.
type treeCopy struct {
	*testing.T
	dir string
}

func copyTree(t *testing.T) treeCopy {
	c := treeCopy{t, t.TempDir()}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains([]string{".git", "node_modules", "bin"}, d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		path, err := filepath.Rel(root, name)
		c.write(path, string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c treeCopy) write(path, text string) {
	c.Helper()
	name := filepath.Join(c.dir, path)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		c.Fatal(err)
	}
}

func (c treeCopy) read(path string) string {
	c.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, path))
	if err != nil {
		c.Fatal(err)
	}
	return string(text)
}

// addLine adds a line after the first that begins a list.
func (c treeCopy) addLine(path, after, line string) {
	c.Helper()
	head, tail, ok := strings.Cut(c.read(path), after+"\n")
	if !ok {
		c.Fatalf("%s has no line %q", path, after)
	}
	c.write(path, head+after+"\n"+line+"\n"+tail)
}

// test runs tests of the copy, in its folder internal.
func (c treeCopy) test(arguments ...string) {
	c.Helper()
	run := exec.Command("go", append([]string{"test", "-vet=off", "-ldflags=-s -w"}, arguments...)...)
	run.Dir = filepath.Join(c.dir, "internal")
	run.Env = append(os.Environ(), "PWD="+run.Dir, "CGO_ENABLED=0", "GOFLAGS=-trimpath") // as make test: compiled once
	if out, err := run.CombinedOutput(); err != nil {
		c.Fatalf("go test %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
}

// examples are the blocks of Go in a document, below the heading of its example.
func (c treeCopy) examples(path string) (list []string) {
	c.Helper()
	_, text, _ := strings.Cut(c.read(path), "\n## The smallest real example\n")
	for _, part := range strings.Split(text, "\n```go\n")[1:] {
		code, _, _ := strings.Cut(part, "\n```\n")
		list = append(list, code)
	}
	return list
}

// file is the text of a file in Go.
func file(name string, imports []string, code string) string {
	text := "package " + name + "\n\nimport (\n"
	for _, i := range imports {
		if strings.HasPrefix(i, "internal/") {
			i = "github.com/parallax-hpc/parallax/" + i
		}
		text += "\t\"" + i + "\"\n"
	}
	return text + ")\n\n" + code + "\n"
}

func (c treeCopy) addFormat() {
	for _, name := range []string{"toy.go", "reader.go", "convert.go", "toy_test.go"} {
		c.write("internal/importer/toy/"+name, c.read("internal/adding/testdata/toy/"+name+".txt"))
	}
	for _, name := range []string{"two.toy", "README.md"} {
		c.write("internal/importer/toy/testdata/"+name, c.read("internal/adding/testdata/toy/testdata/"+name))
	}
	const list = "internal/importer/all/all.go"
	c.addLine(list, "import (", "\t\"github.com/parallax-hpc/parallax/internal/importer/toy\"")
	c.addLine(list, "var Formats = append([]*importer.Format{", "\ttoy.Format,")
}

func (c treeCopy) addView() {
	code := c.examples("docs/adding-a-view.md")
	if len(code) != 2 {
		c.Fatalf("the example of docs/adding-a-view.md has %d blocks, want the view and its test", len(code))
	}
	c.write("internal/view/calls/calls.go", "// Package calls counts calls.\n"+
		file("calls", []string{"cmp", "context", "slices", "internal/scene", "internal/trace", "internal/view"}, code[0]))
	c.write("internal/view/calls/calls_test.go",
		file("calls", []string{"testing", "internal/testing/viewtest"}, code[1]))
	const list = "internal/view/all/all.go"
	c.addLine(list, "import (", "\t\"github.com/parallax-hpc/parallax/internal/view/calls\"")
	c.addLine(list, "var Views = []*view.View{", "\tcalls.View,")
}

func (c treeCopy) addFinding() {
	const folder, page = "internal/analysis/diagnose/", "docs/adding-a-finding.md"
	code := c.examples(page)
	if len(code) != 3 {
		c.Fatalf("the example of %s has %d blocks, want the fault, its line and its test", page, len(code))
	}
	c.write(folder+"sleep.go", file("diagnose",
		[]string{"fmt", "internal/analysis/finding", "internal/trace", "internal/words"}, code[0]))
	c.addLine(folder+"faults.go", "var faults = []faultFinder{", code[1])
	c.write("internal/view/findings/sleep_test.go", file("findings_test", []string{
		"slices", "testing", "internal/analysis/diagnose", "internal/analysis/finding", "internal/testing/storetest",
	}, code[2]))
	_, row, _ := strings.Cut(c.read(page), "\n```\n| `")
	row, _, _ = strings.Cut(row, "\n")
	c.addLine("docs/findings.md", "| kind | found where | severity from |\n| --- | --- | --- |", "| `"+row)
}

// addOption adds an option to the one table, and uses it in the view of the example.
func (c treeCopy) addOption() {
	c.addLine("internal/view/option.go", "var OptionTable = []Option{",
		"\t{Name: \"least\", Kind: \"integer\", Default: \"0\", Help: \"regions with fewer calls are left out\"},")
	const path = "internal/view/calls/calls.go"
	c.addLine(path, "	Needs:     view.Needs{Intervals: true},", "\tOptions:   view.Use(\"least\"),")
	c.addLine(path, "	for id, n := range calls {",
		"\t\tif n < int64(q.Values.Integer(\"least\")) {\n\t\t\tcontinue\n\t\t}")
}
