package internal_test

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
)

// A type with more methods, or spread over more files, does more than one thing; a
// folder with more files hides what is in it.
const (
	mostMethods = 40
	mostSpread  = 8
	mostFiles   = 35
)

var method = regexp.MustCompile(`^func \(\w+ \*?(\w+)(?:\[[^\]]*\])?\) `)

func TestTypesAndFoldersFitInTheHead(t *testing.T) {
	methods, spread, files := map[string]int{}, map[string]map[string]bool{}, map[string]int{}
	eachSource(t, func(name string, lines []string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		folder := path.Dir(name)
		files[folder]++
		for _, line := range lines {
			if m := method.FindStringSubmatch(line); m != nil {
				key := folder + "." + m[1]
				if methods[key]++; spread[key] == nil {
					spread[key] = map[string]bool{}
				}
				spread[key][name] = true
			}
		}
	})
	check := func(key string, n, most int, what string) {
		if n > most {
			t.Errorf("%s: %d %s, want at most %d: split it by what it does", key, n, what, most)
		}
	}
	for key, n := range methods {
		check(key, n, mostMethods, "methods")
		check(key, len(spread[key]), mostSpread, "files with its methods")
	}
	for key, n := range files {
		check(key, n, mostFiles, "files")
	}
}

// countOfCores is a number of cores or workers that somebody wrote down, or a way to
// ask for it past internal/parallel.
var countOfCores = regexp.MustCompile(`(?i)\b(?:workers|cores|procs|threads)\s*:?=\s*[2-9]\d*$|\bboth cores\b|runtime\.(?:NumCPU|GOMAXPROCS)\(`)

func TestNobodyWritesDownANumberOfCores(t *testing.T) {
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
