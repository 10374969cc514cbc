package internal_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/parallax-hpc/parallax/"

// A rule says what a package may import of ours, and why no more.
// "*" stands for one element of a path, "…" for everything.
type rule struct {
	packages string
	may      []string
	because  string
}

// policy is who may import whom. The first rule that matches a package holds. It
// is changed by discussion, never to make a build pass; docs/architecture.md
// tells the same story in words.
var policy = []rule{
	{"internal/trace", nil, "the vocabulary of what happened is a floor: it rests on nothing"},
	{"internal/scene", nil, "the vocabulary of what is drawn is the other floor"},
	{"internal/scene/plot", []string{"internal/scene"}, "charts of rows as marks; it knows numbers, not what they mean"},
	{"internal/parallel", nil, "work shared among cores; it knows no work"},
	{"internal/words", []string{"internal/trace"}, "numbers and names for people; it knows no run"},
	{"internal/clock", []string{"internal/trace"}, "a fit of clocks to each other; it knows times, neither formats nor stores"},
	{"internal/sourcefile", nil, "files below directories; it knows names, not traces"},
	{"internal/python", nil, "a text in another language, which asks by the API"},
	{"internal/memory", nil, "a budget of bytes; it knows not what they mean"},
	{"internal/partial", nil, "directories that are being written; it knows files, locks and names"},
	{"internal/sealed", nil, "records with checksums, for who writes and who reads them; it knows bytes"},
	{"internal/spool", []string{"internal/parallel"}, "records outside memory; it knows bytes, not traces"},

	{"internal/importer", []string{"internal/trace", "internal/match"}, "the contract of a format: it writes a trace and knows no store"},
	{"internal/importer/all", []string{"internal/importer", "internal/importer/*"}, "a list, nothing else"},
	{"internal/importer/jsonstream", []string{"internal/trace", "internal/importer"}, "JSON of any size as a stream, for the formats written in it; it knows none of them"},
	{"internal/importer/span", []string{"internal/trace", "internal/importer", "internal/clock", "internal/importer/jsonstream"}, "what spans mean, for the formats of distributed tracing; it knows none of them"},
	{"internal/importer/stack", []string{"internal/trace"}, "sums of sampled stacks, for the formats of profilers; it knows none of them"},
	{"internal/importer/v8tree", []string{"internal/trace", "internal/importer/jsonstream", "internal/importer/stack"}, "V8's call tree and samples, for the formats that hold them; it knows none of them"},
	{"internal/importer/callgraph", []string{"internal/trace"}, "functions and edges as a profile, for the formats that know no paths; it knows none of them"},
	{"internal/importer/launch", []string{"internal/trace"}, "links of launches to what they started, for the formats of GPUs; it knows ids, not formats"},
	{"internal/importer/message", []string{"internal/trace"}, "links of sends to receives, for the formats of message passing; it knows channels, not formats"},
	{"internal/importer/protobuf", nil, "fields of messages by tables, for the formats written in Protocol Buffers; it knows none of them"},
	{"internal/importer/wire", nil, "numbers and texts of binary formats; it knows none of them"},
	{"internal/importer/sqlitefile", nil, "tables of a database file, for the formats that keep a trace in one; it knows rows, not traces"},
	{"internal/importer/parquetfile", nil, "tables of Parquet files, for the formats that keep a trace in them; it knows rows, not traces"},
	{"internal/match", []string{"internal/trace"}, "it joins halves by their keys and knows neither files nor formats"},
	{"internal/importer/*", []string{"internal/match", "internal/trace", "internal/importer", "internal/importer/span", "internal/importer/stack", "internal/importer/sqlitefile", "internal/importer/parquetfile", "internal/importer/jsonstream", "internal/importer/launch", "internal/importer/v8tree", "internal/importer/message", "internal/importer/callgraph", "internal/importer/protobuf", "internal/importer/wire", "internal/importer/sched", "internal/importer/addresses", "internal/importer/tracepoint"}, "a format never knows another format, so each can be read and removed alone"},

	{"internal/store", []string{"internal/trace"}, "the contract of a store: it knows summaries as blocks of bytes, never moments or quantiles"},
	{"internal/store/local/pack", []string{"internal/trace"}, "integers in few bits; it knows no files"},
	{"internal/store/local/disk", []string{"internal/trace", "internal/store", "internal/store/local/pack"}, "the bytes of a store; it knows no rows"},
	{"internal/store/local/rows", []string{"internal/trace", "internal/store", "internal/store/local/disk"}, "the mapped tables, for all who read them"},
	{"internal/store/local/write", []string{"internal/trace", "internal/match", "internal/store/local/disk"}, "it takes a trace and has no rows yet"},
	{"internal/store/local/index", []string{"internal/trace", "internal/store", "internal/store/local/disk", "internal/store/local/rows"}, "it derives from rows, whoever made them"},
	{"internal/store/local/finish", []string{"internal/trace", "internal/store", "internal/store/local/pack", "internal/store/local/disk", "internal/store/local/rows", "internal/store/local/index", "internal/store/local/write", "internal/clock", "internal/match"}, "from what was written to a store; it answers nothing"},
	{"internal/store/local/read", []string{"internal/trace", "internal/store", "internal/store/local/disk", "internal/store/local/rows", "internal/store/local/index"}, "it answers, and rebuilds what is outdated; it writes no trace"},
	{"internal/store/local/rename", []string{"internal/trace", "internal/store", "internal/store/local/disk", "internal/store/local/write"}, "definitions under other names; it copies rows and reads none"},
	{"internal/store/local", []string{"internal/trace", "internal/store", "internal/store/local/*"}, "the door of the store on disk"},
	{"internal/store/clickhouse", []string{"internal/trace", "internal/store", "internal/store/local"}, "a place for the blocks of a local store; of that it knows the door"},
	{"internal/store/*", []string{"internal/trace", "internal/store"}, "back ends do not know each other"},

	{"internal/derived", []string{"internal/trace", "internal/store", "internal/sourcefile"}, "results of open runs, in memory and beside the store; it knows none of them"},

	{"internal/analysis/all", []string{"internal/trace", "internal/store", "internal/derived", "internal/analysis/*"}, "lists, nothing else"},
	{"internal/analysis/*", []string{"internal/trace", "internal/store", "internal/derived", "internal/words", "internal/analysis/*"},
		"all computation: it asks the contract of a store, never a store, and draws nothing"},

	{"internal/view", []string{"internal/trace", "internal/store", "internal/derived", "internal/words", "internal/analysis/*", "internal/scene"}, "the contract of a view"},
	{"internal/view/all", []string{"internal/view", "internal/view/*"}, "a list, nothing else"},
	{"internal/view/*", []string{"internal/trace", "internal/store", "internal/sourcefile", "internal/derived", "internal/words", "internal/analysis/*", "internal/scene", "internal/scene/plot", "internal/view"}, "a view never knows another view; what two share is a kernel or a mark"},

	{"internal/table", []string{"internal/trace", "internal/store", "internal/analysis/quantile"}, "a run as tables, declared once; it knows neither SQL nor files"},
	{"internal/query", []string{"internal/trace", "internal/store", "internal/table"}, "SQL over tables; those that come from views are given to it by cmd"},
	{"internal/query/derived", []string{"internal/trace", "internal/store", "internal/derived", "internal/table", "internal/analysis/*", "internal/scene", "internal/view", "internal/view/findings"},
		"functions of SQL that more than the store answers: here views and tables meet"},

	{"internal/search", []string{"internal/trace", "internal/store", "internal/view"}, "intervals by words; it draws nothing"},
	{"internal/export", []string{"internal/table"}, "tables as files; it knows no run"},
	{"internal/lake", []string{"internal/store", "internal/table", "internal/export", "internal/importer/parquetfile"},
		"tables of many runs as files in one directory; it knows neither SQL nor views"},
	{"internal/warehouse", []string{"internal/table", "internal/lake", "internal/query", "internal/store/clickhouse"},
		"the tables of a lake in a database; it knows neither views nor runs"},
	{"internal/mcp", []string{"internal/trace", "internal/store", "internal/scene", "internal/view", "internal/table", "internal/query"},
		"answers for programs: it gets views, runs and pictures from cmd"},

	{"internal/render/*", []string{"internal/scene"}, "a renderer knows no traces, so every renderer draws every view"},

	{"internal/demo", []string{"internal/trace", "internal/importer", "internal/importer/vista", "internal/demo/*"}, "a demo writes a trace like a format does; demos of VISTA's programs make its records"},
	{"internal/demo/*", []string{"internal/trace"}, "writers of real formats, for demos; they read nothing"},

	{"internal/schema", []string{"internal/trace", "internal/table", "internal/view"}, "what answers look like, from the types that they are written from"},
	{"internal/server", []string{"internal/trace", "internal/importer", "internal/store", "internal/sourcefile", "internal/scene", "internal/view", "internal/search", "internal/schema", "internal/words", "internal/render/wire"},
		"the server speaks contracts and gets the concrete ones from cmd; wire is how scenes travel"},

	{"internal/receive", []string{"internal/sealed", "internal/partial"}, "spans from programs to files; it knows no run and no store"},

	{"internal/report", []string{"internal/trace", "internal/store", "internal/scene", "internal/view", "internal/analysis/finding", "internal/render/*"},
		"a report is views on paper: it gets them from cmd and knows none by type"},

	{"internal/load", []string{"internal/trace", "internal/importer", "internal/demo", "internal/store/local", "internal/store/clickhouse", "internal/derived", "internal/sourcefile", "internal/words"},
		"from a source to an open run, for all who open one; it gets the lists of formats and kernels"},
	{"internal/callout", []string{"internal/scene"}, "numbers on a finished picture; it knows marks, not views"},
	{"internal/anonymise", []string{"internal/trace"}, "it stands between a format and a store, and knows neither"},
	{"internal/site", nil, "Markdown as a web site; it knows pages, and gets them and their pictures from cmd"},

	{"recorder", []string{"internal/analysis/moment"}, "it is linked into programs of users, so it stays small"},
	{"recorder/source", nil, "embedded files: the recorders in other languages"},
	{"recorder/example", []string{"recorder"}, "a program of a user, as far as the policy goes"},
	{"web", nil, "embedded files"},
	{"docs", nil, "embedded files"},
	{"cmd/*", []string{"…"}, "the wiring: the only place where everything meets"},
	{"parallax", []string{"…"}, "the package at the root: the same wiring, for programs of others"},
}

// tools are packages below all floors that hold no words of ours: whoever may import
// anything may import them.
var tools = []string{"internal/parallel", "internal/spool", "internal/memory", "internal/sealed", "internal/partial"}

// debts are imports against the policy that we know of: "package -> import" and
// the reason why it can wait. A debt that is paid must be taken out.
var debts = map[string]string{}

// A listed is a package as `go list` tells it.
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	Doc        string
	GoFiles    []string
	Imports    []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Dir,Doc,GoFiles,Imports", module+"...").Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("go list: %v: %s", err, failed.Stderr)
		}
		t.Skipf("go list cannot be run here: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		if !strings.Contains(p.ImportPath, "/node_modules/") {
			if p.ImportPath = strings.TrimPrefix(p.ImportPath, module); p.ImportPath+"/" == module {
				p.ImportPath = "parallax"
			}
			all = append(all, p)
		}
	}
}

func TestPackagesImportWhatThePolicyAllows(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < 10 {
		t.Fatalf("go list found %d packages", len(packages))
	}
	owed := map[string]bool{}
	for _, p := range packages {
		if forTests(p.ImportPath) || len(p.GoFiles) == 0 {
			continue
		}
		r := ruleOf(p.ImportPath)
		if r == nil {
			t.Errorf("%s: no rule says what it may import; put it where a rule holds, or add a line to policy in internal/deps_test.go with its reason", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			if !ours || allowed(r, p.ImportPath, to) {
				continue
			}
			edge := p.ImportPath + " -> " + to
			if _, known := debts[edge]; known {
				owed[edge] = true
				continue
			}
			t.Errorf("%s: not allowed: %s", edge, reason(r, p.ImportPath, to))
		}
	}
	for edge := range debts {
		if !owed[edge] {
			t.Errorf("debt %q is paid: take it out of the list", edge)
		}
	}
}

func ruleOf(importPath string) *rule {
	for i := range policy {
		if matches(policy[i].packages, importPath) {
			return &policy[i]
		}
	}
	return nil
}

func matches(pattern, importPath string) bool {
	ok, err := path.Match(pattern, importPath)
	return pattern == "…" || err == nil && ok
}

// forTests reports whether a package exists for tests: storetest, viewtest …
func forTests(importPath string) bool { return strings.HasSuffix(importPath, "test") }

// isList reports whether a package is a list of plug-ins.
func isList(importPath string) bool { return path.Base(importPath) == "all" }

// wires reports whether a package is where everything meets.
func wires(importPath string) bool { return matches("cmd/*", importPath) || importPath == "parallax" }

func allowed(r *rule, from, to string) bool {
	if forTests(to) || isList(to) && !wires(from) {
		return false
	}
	if slices.Contains(tools, to) && len(r.may) > 0 {
		return true
	}
	return slices.ContainsFunc(r.may, func(pattern string) bool { return matches(pattern, to) })
}

func reason(r *rule, from, to string) string {
	switch {
	case forTests(to):
		return "packages for tests are imported by tests alone"
	case isList(to) && !wires(from):
		return "lists are handed down from cmd, so that a test can pass its own"
	}
	return r.packages + " may import " + strings.Join(append([]string{"nothing"}, r.may...)[min(1, len(r.may)):], ", ") + " of ours: " + r.because
}

func TestThePolicyHoldsWhatItSays(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"internal/trace", "internal/store", false},
		{"internal/trace", "internal/parallel", false},
		{"internal/analysis/entropy", "internal/parallel", true},
		{"internal/importer/paje", "internal/trace", true},
		{"internal/importer/paje", "internal/importer/otf2", false},
		{"internal/importer/all", "internal/importer/otf2", true},
		{"internal/view/treemap", "internal/analysis/entropy", true},
		{"internal/view/treemap", "internal/analysis/all", false},
		{"internal/view/treemap", "internal/view/timeline", false},
		{"internal/view/treemap", "internal/testing/storetest", false},
		{"internal/store/local", "internal/store/clickhouse", false},
		{"internal/server", "internal/render/wire", true},
		{"internal/server", "internal/render/svg", false},
		{"cmd/parallax", "internal/store/local", true},
		{"cmd/parallax", "internal/view/all", true},
		{"parallax", "internal/view/all", true},
		{"internal/load", "internal/importer/all", false},
		{"cmd/parallax", "internal/testing/viewtest", false},
	} {
		r := ruleOf(c.from)
		if r == nil {
			t.Errorf("%s: no rule", c.from)
			continue
		}
		if got := allowed(r, c.from, c.to); got != c.want {
			t.Errorf("%s -> %s: allowed is %v, want %v", c.from, c.to, got, c.want)
		}
	}
	if ruleOf("internal/other") != nil {
		t.Error("a package nobody thought of has a rule")
	}
}
