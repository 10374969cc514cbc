package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	views "github.com/parallax-hpc/parallax/internal/view/all"
)

var update = flag.Bool("update", false, "rewrite the tables of the README")

// TestTheReadmeListsWhatThereIs keeps the README's tables equal to the lists of
// formats and views.
func TestTheReadmeListsWhatThereIs(t *testing.T) {
	const file = "../../README.md"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := fill(t, string(b), "formats", formatTable())
	text = fill(t, text, "views", viewTable())
	if text == string(b) {
		return
	}
	if !*update {
		t.Fatal("the README's tables are not what the lists say; run make golden")
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fill replaces what stands between the markers of a section.
func fill(t *testing.T, text, section, table string) string {
	head, rest, ok := strings.Cut(text, "<!-- "+section+":")
	line, rest, ok2 := strings.Cut(rest, "\n")
	_, tail, ok3 := strings.Cut(rest, "<!-- /"+section+" -->")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("the README has no section %s", section)
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
	fmt.Fprintf(&b, "\nRecognised and refused with advice: %s.\n\n", strings.Join(refused, ", "))
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
