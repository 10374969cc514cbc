// Command testlog summarises the output of `go test -json`: a line per package, all output of failing tests, and in
// the end the tests that did not run and why. Its exit status is 1 if a test failed.
//
//	go test -json ./... | testlog
//
// A shell that forgets the exit status of all but the last of a pipe hands that of go test
// over as a line of its own: {"Action":"status","Output":"1"}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if !run(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// An event is a line of `go test -json`.
type event struct {
	Action, Package, ImportPath, Test, Output string
	FailedBuild                               string
}

// place matches the position before a test's output: " name_test.go:12: ".
var place = regexp.MustCompile(`^\s*\w+\.go:\d+: `)

func run(in io.Reader, out io.Writer) (ok bool) {
	ok = true
	said := map[string][]string{} // output so far, by package and test
	var skipped []string
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case line == "" && err != nil:
			report(out, skipped)
			return ok
		case !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil:
			fmt.Fprint(out, line) // of another program, such as the compiler
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "build-output":
			fmt.Fprint(out, e.Output)
		case "build-fail":
			ok = false
		case "status": // of go test itself, which may end before it has anything to tell
			ok = ok && strings.TrimSpace(e.Output) == "0"
		case "output":
			switch {
			case e.Test != "":
				said[key] = append(said[key], e.Output)
			case strings.HasPrefix(e.Output, "PASS") || strings.Contains(e.Output, "[no test files]"):
			default: // the line of a package, or a panic
				fmt.Fprint(out, e.Output)
			}
		case "skip":
			if e.Test != "" {
				skipped = append(skipped, reason(e.Test, said[key]))
			}
			delete(said, key)
		case "pass":
			delete(said, key)
		case "fail":
			ok = false
			for _, text := range said[key] {
				if !strings.HasPrefix(text, "=== ") {
					fmt.Fprint(out, text)
				}
			}
			delete(said, key)
		}
	}
}

// reason returns the last message of a skipped test, with its name.
func reason(test string, said []string) string {
	why := "it does not say why"
	for _, s := range said {
		if at := place.FindString(s); at != "" {
			why = strings.TrimSpace(s[len(at):])
		}
	}
	return test + ": " + why
}

func report(out io.Writer, skipped []string) {
	if len(skipped) == 0 {
		return
	}
	slices.Sort(skipped)
	fmt.Fprintf(out, "\n%d tests did not run here:\n", len(skipped))
	for _, s := range skipped {
		fmt.Fprintln(out, "  "+s)
	}
}
