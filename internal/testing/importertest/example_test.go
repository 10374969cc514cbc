package importertest_test

import (
	"bufio"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The reader that docs/adding-a-format.md shows: it must pass the suite.

var collapsed = &importer.Format{Name: "collapsed", Title: "collapsed stacks", Claim: claim, Import: read}

var line = regexp.MustCompile(`^(\S.*) (\d+)$`)

// claim takes every file whose first lines all are stacks.
func claim(s importer.Source) (runs []importer.Run) {
	for _, f := range s.Files {
		lines := strings.Split(string(s.Head(f.Path)), "\n")
		ok := len(lines) > 1
		for _, l := range lines[:len(lines)-1] { // the last may be cut
			ok = ok && line.MatchString(l)
		}
		if ok {
			runs = append(runs, importer.Run{Files: []string{f.Path}})
		}
	}
	return runs
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	r, err := run.Open(run.Files[0])
	if err != nil {
		return err
	}
	defer r.Close()
	at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: run.Name,
		Rank: trace.NoRank})
	metric := w.Metric(trace.Metric{Name: "samples", Integer: true, Default: true})
	scan := bufio.NewScanner(r)
	for n := 1; scan.Scan(); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := line.FindStringSubmatch(scan.Text())
		if m == nil {
			w.Report(trace.MissingSamples, "lines that are no stack", 1,
				fmt.Sprintf("%s: line %d", run.Label(run.Files[0]), n))
			continue
		}
		path := trace.NoCallPath
		for _, name := range strings.Split(m[1], ";") {
			path = w.CallPath(trace.CallPath{Parent: path, Region: w.Region(trace.Region{Name: name})})
		}
		count, _ := strconv.ParseFloat(m[2], 64)
		w.Profile(trace.ProfileRow{Location: at, Path: path, Metric: metric, Inclusive: count, Exclusive: count})
	}
	return scan.Err()
}

func TestTheExampleOfTheDocumentationPassesTheSuite(t *testing.T) {
	importertest.Run(t, collapsed, []importertest.Case{{Path: "stacks.txt", Anywhere: true}})
}

func FuzzReader(f *testing.F) { importertest.Fuzz(f, collapsed, "stacks.txt", "testdata/stacks.txt") }
