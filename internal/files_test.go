package internal_test

import (
	"bufio"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPackagesHaveComments(t *testing.T) {
	for _, p := range listPackages(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s: no package comment", p.ImportPath)
		}
	}
}

// A module that replaces or excludes others cannot be installed by its name, and means
// something else to those who import it.
func TestTheModuleStandsAlone(t *testing.T) {
	lines, err := readLines("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		if strings.HasPrefix(line, "replace") || strings.HasPrefix(line, "exclude") {
			t.Errorf("go.mod:%d: %s: `go install …@latest` refuses it", i+1, line)
		}
	}
}

// A link to a folder outside replaces that folder where it is checked out, with all that git ignores in it: so did one of
// web/node_modules. `git rm --cached` takes it out of the tree.
func TestNoLinksAreTracked(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "--stage", "..").Output()
	if err != nil {
		t.Skip("not a checkout: ", err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "120000 ") {
			t.Errorf("a symbolic link is tracked: %s", line)
		}
	}
}

// maxColumns is how wide a line of Go is at most, with tabs of four: two files fit beside each other on a screen. Tests
// hold tables and recorded text, which may be wider.
const maxColumns = 120

func TestLinesFitBesideEachOther(t *testing.T) {
	eachSource(t, func(name string, lines []string) {
		folders := strings.Split(filepath.ToSlash(filepath.Dir(name)), "/")
		helper := slices.ContainsFunc(folders, func(f string) bool { return f == "testing" || strings.HasSuffix(f, "test") })
		if helper || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		for i, line := range lines {
			if n := columns(line); n > maxColumns {
				t.Errorf("%s:%d: %d columns, want at most %d", name, i+1, n, maxColumns)
			}
		}
	})
}

// columns is the width of a line with a tab stop at each fourth column.
func columns(line string) (n int) {
	for _, r := range line {
		if n++; r == '\t' {
			n = (n + 3) / 4 * 4
		}
	}
	return n
}

// webPolicy is who may import whom in the page's source, by the folder below
// web/src. Files at the top wire everything.
var webPolicy = map[string]struct {
	may     []string
	because string
}{
	"api":    {[]string{"scene"}, "the types of the wire and how they are fetched; scenes are decoded into the scene's own types, as render/wire encodes them"},
	"scene":  {[]string{"api"}, "mirror of internal/scene: it draws marks and knows no traces"},
	"widget": {nil, "a widget knows nothing of traces, so it can be used anywhere"},
	"shell":  {[]string{"api", "scene", "widget"}, "the workbench; it gets views as plug-ins"},
	"view":   {[]string{"api", "scene", "shell", "widget"}, "a view never knows another view"},
}

var importLine = regexp.MustCompile(`(?:from|import)\s*\(?\s*["'](\.[^"']*)["']`)

func TestThePageImportsWhatThePolicyAllows(t *testing.T) {
	eachSource(t, func(name string, lines []string) {
		below, ok := strings.CutPrefix(name, "web/src/")
		if !ok || !strings.Contains(below, "/") || strings.Contains(name, ".test.") {
			return
		}
		from, _, _ := strings.Cut(below, "/")
		rule, known := webPolicy[from]
		if !known {
			t.Errorf("%s: no rule says what web/src/%s may import; add it to webPolicy in internal/files_test.go with its reason", name, from)
			return
		}
		for _, line := range lines {
			for _, m := range importLine.FindAllStringSubmatch(line, -1) {
				target, inside := strings.CutPrefix(path.Join(path.Dir(name), m[1]), "web/src/")
				to, rest, _ := strings.Cut(target, "/")
				if !inside || slices.Contains(rule.may, to) || to == from && !crossesViews(from, below, rest) {
					continue
				}
				t.Errorf("%s imports %s: web/src/%s may import %v: %s", name, target, from, rule.may, rule.because)
			}
		}
	})
}

// Files of the page that import one another in a circle cannot be read, tested or moved one by one.
func TestThePageImportsInNoCircle(t *testing.T) {
	imports := map[string][]string{}
	eachFile(t, func(name string, lines []string) {
		if !strings.HasPrefix(name, "web/src/") || strings.Contains(name, ".test.") {
			return
		}
		imports[name] = nil
		for _, m := range importLine.FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
			imports[name] = append(imports[name], path.Join(path.Dir(name), m[1]))
		}
	})
	fileOf := func(target string) string {
		for _, ending := range []string{".ts", ".tsx", "/index.ts", "/index.tsx"} {
			if _, there := imports[target+ending]; there {
				return target + ending
			}
		}
		return ""
	}
	done := map[string]bool{}
	var walk func(way []string)
	walk = func(way []string) {
		at := way[len(way)-1]
		if first := slices.Index(way, at); first < len(way)-1 {
			t.Errorf("a circle of imports: %s", strings.Join(way[first:], " imports "))
			return
		}
		if at == "" || done[at] {
			return
		}
		for _, target := range imports[at] {
			walk(append(slices.Clone(way), fileOf(target)))
		}
		done[at] = true
	}
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		walk([]string{name})
	}
}

// crossesViews reports whether a file of one view imports another's folder.
// web/src/view/index.ts is the list of them all.
func crossesViews(folder, below, rest string) bool {
	parts := strings.Split(below, "/")
	return folder == "view" && len(parts) > 2 && strings.Contains(rest, "/") && !strings.HasPrefix(rest, parts[1]+"/")
}

// eachSource hands out every Go and TypeScript file that a person wrote.
func eachSource(t *testing.T, f func(name string, lines []string)) {
	t.Helper()
	eachFile(t, func(name string, lines []string) {
		if len(lines) == 0 || !strings.Contains(lines[0], "Code generated") {
			f(name, lines)
		}
	})
}

// eachFile hands out every Go and TypeScript file, also those that a program wrote.
func eachFile(t *testing.T, f func(name string, lines []string)) {
	t.Helper()
	root := ".."
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"node_modules", "dist", "testdata", ".git", "bin"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".ts", ".tsx"}, filepath.Ext(name)) {
			return nil
		}
		lines, err := readLines(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		f(filepath.ToSlash(relative), lines)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func readLines(name string) ([]string, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var lines []string
	s := bufio.NewScanner(file)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	return lines, s.Err()
}
