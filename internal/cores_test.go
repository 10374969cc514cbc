package internal_test

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
)

// countOfCores is a number of cores or workers that somebody wrote down, or a way to
// ask for it past internal/parallel.
var countOfCores = regexp.MustCompile(`(?i)\b(?:workers|cores|procs|threads)\s*:?=\s*[2-9]\d*$|\bboth cores\b|runtime\.(?:NumCPU|GOMAXPROCS)\(`)

func TestSourcesContainNoNumberOfCores(t *testing.T) {
	for line, want := range map[string]bool{
		"	const workers = 2": true, "	cores := 4": true, "// on both cores": true, "	n := runtime.NumCPU()": true, "	n := parallel.Workers()": false, "	workers := min(workers, 2*n)": false,
	} {
		if countOfCores.MatchString(line) != want {
			t.Errorf("%q: a number of cores: %v, want %v", line, !want, want)
		}
	}
	eachSource(t, func(name string, lines []string) {
		folder := path.Dir(name)
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || folder == "internal/parallel" || strings.HasSuffix(folder, "test") {
			return
		}
		for i, line := range lines {
			if countOfCores.MatchString(line) {
				t.Errorf("%s: %q: ask internal/parallel, which uses what is there", fmt.Sprintf("%s:%d", name, i+1), strings.TrimSpace(line))
			}
		}
	})
}
