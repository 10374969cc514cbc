package diagnose

// Measured numbers of a sentence that no query gives again, which `parallax prove` reports.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/words"
)

// measured are the numbers of a sentence that were measured: times, shares, and how many others.
var measured = regexp.MustCompile(`([\d.,]+)( to [\d.,]+)? (ns|µs|ms|s|min|h)\b|(?:< )?[\d.]+ %|` +
	`\b(\d+) others?\b|\bother (\d+)\b`)

// Unclaimed are the measured numbers of a finding's sentence that no query gives again.
func Unclaimed(f *finding.Finding) (out []string) {
	known := []string{words.FormatTime(f.Selection.Begin), words.FormatTime(f.Selection.End)}
	for i := range f.Claims {
		known = append(known, Format(finding.Evidence{Value: f.Claims[i].Value, Unit: f.Claims[i].Unit}))
	}
	for i := range f.Evidence {
		if e := &f.Evidence[i]; e.Predicted {
			known = append(known, Format(*e))
		}
	}
	for _, m := range measured.FindAllStringSubmatch(f.Text, -1) {
		said := []string{m[0]}
		switch {
		case m[3] != "" && m[2] != "":
			said = []string{m[1] + " " + m[3], strings.TrimPrefix(m[2], " to ") + " " + m[3]}
		case m[4]+m[5] != "":
			said = []string{m[4] + m[5]}
		}
		for _, s := range said {
			if !slices.Contains(known, s) {
				out = append(out, s)
			}
		}
	}
	return out
}
