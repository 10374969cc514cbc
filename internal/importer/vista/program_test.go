package vista

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const quicksortSource = `
% Quick Sort, as the trace beside numbers its clauses.
:- module main.
qsort(L, X) :- qsort(L, X, []).
qsort([], A, B) :- A = B.
/* the list is split
   by its first number. */
qsort([H|T], A, B) :- split(T, H, S, G), qsort(S, A, [H|C]),
	qsort(G, C, B)@next.
split([], _, S, G) :- true | S = [], G = [].
split([X|T], H, S, G) :- X < H, 'a.b, c'(X) | S = [X|S1], split(T, H, S1, G).   % smaller
split([X|T], H, S, G) :- X >= H | G = [X|G1], split(T, H, S, G1).
`

// The source program is an input of VISTA: the calls of a procedure are the body goals of its clause.
func TestProgramsAreReadWithTheirBodies(t *testing.T) {
	var b strings.Builder
	p := inOrder(quicksortSource, "dir/qs.fghc")
	for n := int64(1); n <= int64(len(p)); n++ {
		fmt.Fprintf(&b, "%d %s:%d %s: %s\n", n, p[n].File, p[n].Line, p[n].Name, strings.Join(p[n].Goals, " "))
	}
	want := `1 qs.fghc:4 qsort(L, X): qsort/3
2 qs.fghc:5 qsort([], A, B): 
3 qs.fghc:8 qsort([H|T], A, B): split/4 qsort/3 qsort/3
4 qs.fghc:10 split([], _, S, G): 
5 qs.fghc:11 split([X|T], H, S, G) (clause 5): split/4
6 qs.fghc:12 split([X|T], H, S, G) (clause 6): split/4
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", &b, want)
	}
}

func TestGoalsOfTheLanguageAreNoCalls(t *testing.T) {
	for goal, want := range map[string]string{
		"p(X, [a, b|T], f(Y, Z))": "p/3", "run": "run/0", "'big one'(X)": "'big one'/1", "p(X)@fwd": "p/1", "f()": "f/0",
		"true": "", "X = f(Y)": "", "X := Y + 1": "", "otherwise": "", "a(X) = Y": "", "X": "", "_": "", "": "", "(p ; q)": "", "!": "",
	} {
		if got := procedureOf(goal); got != want {
			t.Errorf("%q calls %q, want %q", goal, got, want)
		}
	}
}

// A program beside the trace gives its regions heads, places and body goals, and tells how many calls the trace lacks.
func TestTheProgramBesideATraceIsRead(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "quicksort.vista"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file, program string
		lines         int
		untold        int64
	}{
		"whole":          {"qs.fghc", quicksortSource, 24, 0},
		"two lines less": {"qs.kl1", quicksortSource, 22, 2},
		"numbered": {"qs.clauses", "1 q :- qsort(L,X,[]).\n2 qsort([],A,B).\n3 qsort([H|T],A,B) :- split(T,H,S,G), qsort(S,A,C), qsort(G,C,B).\n" +
			"4 split([],_,S,G).\n5 smaller\n6 larger\n", 24, 0},
	} {
		dir := t.TempDir()
		text := strings.Join(strings.SplitAfter(string(whole), "\n")[:c.lines], "")
		for path, content := range map[string]string{"qs.vista": text, c.file: c.program} {
			if err := os.WriteFile(filepath.Join(dir, path), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := importertest.Import(t, Format, filepath.Join(dir, "qs.vista"))
		goals := 0
		for i := range r.Regions() {
			g := &r.Regions()[i]
			names, known := trace.GoalsOf(g)
			if strings.HasPrefix(g.Name, "qsort([H|T]") {
				goals = len(names)
			}
			if known != (g.File != "") || g.File != "" && g.File != c.file {
				t.Errorf("%s: %q is of %q, goals %v", name, g.Name, g.File, names)
			}
		}
		untold := importertest.Report(r.Info().Report)["skipped calls that the source program names and no record tells"]
		if goals != 3 || untold != c.untold {
			t.Errorf("%s: %d goals, %d calls without a record, want 3 and %d", name, goals, untold, c.untold)
		}
	}
}

// Six whole numbers: pe and ppe below PEmax, clause and index from 1 on, and a root has neither ppe nor pindex.
func TestRecordsAreHeldToTheirRanges(t *testing.T) {
	for line, want := range map[string]string{
		"1 2 1 1 0 1": "", "1 2 2 1 0 1": "past PEmax", "1 2 1 1 2 1": "past PEmax", "1 0 1 1 0 1": "no clause", "1 2 1 0 0 1": "no index",
		"1 2 1 1 1 0": "not its index", "-1 2 1 1 0 1": "six whole numbers", "1 2 1 1 0": "six whole numbers", "1 2 1 1 0 1.5": "six whole numbers",
		"1 2 0 1 0 1": "repeat one", "9999999999999 2 1 1 0 1": "a century",
	} {
		path := filepath.Join(t.TempDir(), "x.vista")
		if err := os.WriteFile(path, []byte("2\n0 1 0 1 0 0\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := importertest.Import(t, Format, path)
		said := ""
		for text := range importertest.Report(r.Info().Report) {
			if text, ok := strings.CutPrefix(text, "skipped "); ok {
				said += text
			}
		}
		if kept := int(r.Info().Intervals); !strings.Contains(said, want) || kept != map[bool]int{true: 2, false: 1}[want == ""] {
			t.Errorf("%q: %d records are kept, %q is said, want %q", line, kept, said, want)
		}
	}
}
