// Package instruments reads the text output of macOS' profilers: Instruments' "Deep Copy" of a call tree, the XML
// that `xctrace export` makes of a time profile, and the reports of sample(1).
//
// The formats are described by examples only. A deep copy is tab-separated: the weight of a call path with all it
// called, its own weight, and the function, indented by how deep it is. A report of sample(1) has, below "Call graph:",
// a line for each call path: a number of samples, whose column tells the depth, the function, `(in LIBRARY)`, and maybe
// `file.c:12`; threads are the outermost.
//
// Terms: a line is a call path with its inclusive value; its own value is the file's, or the rest without the
// lines below. Weights are time, cycles or bytes; samples are also time, by the interval that the report names.
//
// The XML has a row for each sample: its time, its thread, its weight in ns and its frames from the innermost on. Every
// element has an id once, and a ref to it from then on, anywhere in the document. A sample is an instant of its thread
// and counts its weight; one without frames counts as (no stack).
package instruments

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of both.
var Format = &importer.Format{Name: "instruments",
	Title: "Instruments deep copies and xctrace XML, sample reports (macOS)", Text: true,
	Claim: importer.EachFile(isDeepCopy, isSample, isXctrace), Import: importer.OneFile(read)}

// isDeepCopy goes by the names of columns.
func isDeepCopy(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("\ufeff")), []byte("\n"))
	columns := strings.Split(strings.TrimRight(string(line), "\r"), "\t")
	last := columns[len(columns)-1]
	_, known := weights[columns[0]]
	return known && len(columns) >= 3 && (last == "Symbol Name" || last == "Symbol Names")
}

func isSample(head []byte) bool {
	return bytes.Contains(head, []byte("Analysis of sampling ")) && bytes.Contains(head, []byte("\nCall graph:"))
}

// longestLine bounds a line; names in C++ and Swift are long.
const longestLine = 1 << 20

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	if isXctrace(run.Source.Head(run.Files[0])) {
		return readXctrace(ctx, in, label, w)
	}
	name := path.Base(run.Name)
	t := &tree{w: w, label: label, paths: map[trace.CallPath]trace.CallPathID{}, cells: map[cell]*values{}}
	take := (&deepCopy{tree: t, process: name}).line
	if isSample(run.Source.Head(run.Files[0])) {
		take = (&sampled{tree: t, process: name}).line
	}
	end := importer.WatchEnd(in)
	n, err := lines(ctx, end, take)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(t.order) == 0 {
		return importer.Malformed(label, "", "holds no call paths")
	}
	if err != nil {
		w.Report(trace.MissingRest, "files that break off, or hold a line of more than a megabyte, read up to there", 1,
			fmt.Sprintf("%s: line %d", label, n+1))
	}
	end.Report(w, label)
	t.write()
	return nil
}

// lines passes each line to f, with its number.
func lines(ctx context.Context, in io.Reader, f func(n int, line string)) (n int, err error) {
	scan := bufio.NewScanner(in)
	scan.Buffer(make([]byte, 64<<10), longestLine)
	for ; scan.Scan(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
		f(n, strings.TrimRight(scan.Text(), "\r"))
	}
	return n, scan.Err()
}
