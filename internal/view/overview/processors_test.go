package overview_test

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/overview"
)

// Goroutines live for a small part of a run, and all of them beside each other leave the picture blank.
func TestRowsOfAGoProgramAreProcessors(t *testing.T) {
	for rows, want := range map[string]string{"auto": "P 0, P 1", "all": "goroutine 1, goroutine 2"} {
		c := viewtest.Case{Trace: `
region running role=compute
location process app
  location group processors
    location processor "P 0"
      0..100 running
    location processor "P 1"
      50..100 running
  location group main.work
    location goroutine "goroutine 1"
      0..3 running
    location goroutine "goroutine 2"
      80..81 running
`, Options: map[string][]string{"rows": {rows}, "p": {"0"}}}
		var labels []string
		for _, row := range c.Compute(t, overview.View, c.Open(t)).Scene(scene.Size{Width: 600, Height: 400}).Frames[0].YScale.Rows {
			labels = append(labels, row.Label)
		}
		if got := strings.Join(labels, ", "); !strings.Contains(got, want) || rows == "auto" && got != want {
			t.Errorf("rows %s are %q, want %q", rows, got, want)
		}
	}
}
