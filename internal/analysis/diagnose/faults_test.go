package diagnose

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
)

// Every kind is found and has its row in docs/findings.md, which has no other.
func TestEveryKindIsFoundAndDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Kinds\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var documented []finding.Kind
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cells[1], -1) {
				documented = append(documented, finding.Kind(m[1]))
			}
		}
	}
	told := []finding.Kind{finding.Clock, finding.Data} // by findSuspicious
	for _, r := range faults {
		told = append(told, r.kinds...)
	}
	for _, k := range Kinds() {
		if !slices.Contains(told, k) {
			t.Errorf("%s: nothing in faults.go finds it", k)
		}
		if !slices.Contains(documented, k) {
			t.Errorf("%s: no row in the table of kinds of docs/findings.md", k)
		}
	}
	for _, k := range documented {
		if !slices.Contains(Kinds(), k) {
			t.Errorf("%s: docs/findings.md tells of it, and nothing finds it", k)
		}
	}
}
