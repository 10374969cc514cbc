package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	views "github.com/parallax-hpc/parallax/internal/view/all"
)

// TestTheReadmeListsWhatThereIs keeps the tables of the documents equal to the lists of
// formats and views.
func TestTheReadmeListsWhatThereIs(t *testing.T) {
	for file, section := range map[string]struct{ name, table string }{
		"../../docs/formats/README.md": {"formats", formatTable()},
		"../../docs/views.md":          {"views", viewTable()},
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := fill(t, string(b), section.name, section.table)
		if text == string(b) {
			continue
		}
		if !viewtest.Updating() {
			t.Errorf("the table of %s is not what the lists say; run make golden", file)
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A page that is opened first is read to its end: two screens, three pictures.
func TestTheReadmeFitsTwoScreens(t *testing.T) {
	for _, file := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		b, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if n := strings.Count(text, "\n"); n > 80 {
			t.Errorf("%s has %d lines, want at most 80", file, n)
		}
		if n := strings.Count(text, "!["); file == "README.md" && n != 3 {
			t.Errorf("%d pictures, want 3", n)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat("../../" + m[1]); err != nil && !strings.Contains(m[1], "://") {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// fill replaces the text between the markers of a section.
func fill(t *testing.T, text, section, table string) string {
	head, rest, ok := strings.Cut(text, "<!-- "+section+":")
	line, rest, ok2 := strings.Cut(rest, "\n")
	_, tail, ok3 := strings.Cut(rest, "<!-- /"+section+" -->")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("there is no section %s", section)
	}
	return head + "<!-- " + section + ":" + line + "\n" + table + "<!-- /" + section + " -->" + tail
}

func formatTable() string {
	var b strings.Builder
	fmt.Fprint(&b, "\n| format | what it is |\n| --- | --- |\n")
	var refused []string
	for _, f := range formats.Formats {
		if f.Import == nil {
			refused = append(refused, f.Title)
			continue
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Name, f.Title)
	}
	fmt.Fprintf(&b, "\nThese are recognised and refused with advice:\n\n- %s\n\n", strings.Join(refused, "\n- "))
	return b.String()
}

func viewTable() string {
	var b strings.Builder
	fmt.Fprint(&b, "\n| view | shows | after |\n| --- | --- | --- |\n")
	for _, v := range views.Views {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name, v.Summary, v.Paper)
	}
	fmt.Fprintln(&b)
	return b.String()
}
