package importer_test

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
)

func TestARunHasEachRankOnce(t *testing.T) {
	part := func(name string, rank int, process string, begin int64) importer.Part {
		return importer.Part{Files: []string{name}, Name: name, Rank: rank, Process: process, Begin: begin}
	}
	for name, c := range map[string]struct {
		parts []importer.Part
		want  string // files of each run; runs apart by bars
	}{
		"distinct ranks":         {[]importer.Part{part("a", 0, "", 0), part("b", 1, "", 0)}, "a b"},
		"one process id each":    {[]importer.Part{part("a", 0, "h1", 0), part("b", 1, "h1", 0)}, "a b"},
		"rank 0 twice":           {[]importer.Part{part("a", 0, "", 0), part("b", 0, "", 0)}, "a | b"},
		"by the name":            {[]importer.Part{part("x-rank0", 0, "", 0), part("y-rank0", 0, "", 0), part("x-rank1", 1, "", 0)}, "x-rank0 x-rank1 | y-rank0"},
		"names count from one":   {[]importer.Part{part("x-rank1", 0, "", 1), part("x-rank2", 1, "", 4), part("y-rank1", 0, "", 2), part("y-rank2", 1, "", 3)}, "x-rank1 x-rank2 | y-rank1 y-rank2"},
		"a number of the node":   {[]importer.Part{part("node7a", 0, "", 1), part("node7b", 1, "", 2), part("node8a", 2, "", 3), part("node8b", 0, "", 9)}, "node7a node7b node8a | node8b"},
		"by the directory":       {[]importer.Part{part("x/0", 0, "", 0), part("y/0", 0, "", 0), part("x/1", 1, "", 0)}, "x/0 x/1 | y/0"},
		"by time":                {[]importer.Part{part("a", 0, "", 1), part("b", 0, "", 8), part("c", 1, "", 9), part("d", 1, "", 2)}, "a d | b c"},
		"by names in order":      {[]importer.Part{part("t10", 1, "", 0), part("t9", 0, "", 3), part("t11", 0, "", 0)}, "t9 t10 | t11"},
		"a process comes again":  {[]importer.Part{part("a", -1, "7", 1), part("b", -1, "8", 2), part("c", -1, "7", 9)}, "a b | c"},
		"nothing is stated":      {[]importer.Part{part("a", -1, "", 0), part("b", -1, "", 0)}, "a b"},
		"the same name and rank": {[]importer.Part{part("rank0.x", 0, "", 5), part("rank00.x", 0, "", 1)}, "rank00.x | rank0.x"},
	} {
		var got []string
		for _, job := range importer.Jobs(c.parts) {
			var files []string
			for _, p := range job {
				files = append(files, p.Files...)
			}
			got = append(got, strings.Join(files, " "))
		}
		if got := strings.Join(got, " | "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
