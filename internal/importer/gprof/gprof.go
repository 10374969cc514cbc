// Package gprof reads the reports of gprof (flat profile, call graph), and the files that programs built with
// -pg leave behind (gmon.out).
//
// The formats: a report is text in two tables (GNU gprof's manual, "Interpreting gprof's Output"), of which one is
// enough; BSD, macOS and AIX name the columns a little differently. gmon.out is a head
// `gmon`, then records: histograms of the program counter, and arcs, which are an address that called, an address that
// was called, and how often (gmon_out.h of the GNU C library).
//
// Terms: a function is a region with its time; package callgraph lists the exact values of a graph without paths.
// Times are sampled, mostly every 10 ms, and gprof prints two digits of a second: they are no better than that. The
// time of a function's callees is shared out among its callers by the number of calls; gprof did so already in a
// report.
//
// gmon.out holds addresses only. Functions are distinguished by the addresses that were called; names need the program:
// `gprof PROGRAM gmon.out > report.txt` has them. Functions that no counted one called, main among them, are part of
// the one before.
package gprof

import (
	"bytes"
	"context"
	"io"
	"path"
	"regexp"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is gprof's.
var Format = &importer.Format{Name: "gprof", Title: "gprof reports, and gmon.out",
	Claim: importer.EachFile(isReport, isGmon), Import: importer.OneFile(read)}

var (
	flatHead = regexp.MustCompile(`(?m)^ *% +cumulative +self `)
	flatName = regexp.MustCompile(`(?m)^ *time +\w+ +\w+ +calls .*name`)
	// graphHead is GNU's, or that of BSD, macOS and AIX.
	graphHead = regexp.MustCompile(`(?m)^ *index +% *time +self +(?:children|descend[ae]nts) +called`)
)

// isReport: the head of one of the tables. They may be far down, behind gprof's explanations. A word of it is looked
// for first: each file of every format comes here.
func isReport(head []byte) bool {
	return bytes.IndexByte(head, 0) < 0 && (bytes.Contains(head, []byte(" called")) && graphHead.Match(head) ||
		bytes.Contains(head, []byte(" cumulative")) && flatHead.Match(head) && flatName.Match(head))
}

func isGmon(head []byte) bool {
	_, ok := layoutOf(head)
	return ok
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	process := w.Location(importer.Process(path.Base(run.Name)))
	read := readReport
	if isGmon(run.Source.Head(run.Files[0])) {
		read = readGmon
	}
	g, err := read(ctx, in, label, w)
	if err != nil {
		return err
	}
	time := callgraph.Metric{ID: w.Metric(trace.Metric{Name: "time", Unit: "ns", Default: true}), Factor: 1e9}
	g.Write(w, process, label, []callgraph.Metric{time})
	return nil
}
