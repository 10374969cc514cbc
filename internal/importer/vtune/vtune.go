// Package vtune reads the top-down tree of Intel VTune as CSV (`vtune -report top-down -format csv`).
//
// The format: a head of column names, then a row for each function of the tree, whose name is indented by its depth.
// Columns that end in :Self are own values: seconds of a time, else counts. Commas, semicolons and tabs part columns.
//
// Terms: a row is a call path, a column of own values a metric, the module the category. Totals are added up from
// these.
package vtune

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of VTune's tree.
var Format = &importer.Format{Name: "vtune", Title: "VTune top-down trees (CSV)", Text: true,
	Claim: importer.EachFile(isTree), Import: importer.OneFile(read)}

func isTree(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(bytes.TrimLeft(line, `" `), []byte("Function Stack")) &&
		bytes.Contains(line, []byte(":Self"))
}

// A level is a function that is open, with its indentation.
type level struct {
	indent int
	region trace.RegionID
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	r := csv.NewReader(in)
	line, _, _ := bytes.Cut(run.Source.Head(run.Files[0]), []byte("\n"))
	for _, comma := range []rune{'\t', ';'} {
		if bytes.ContainsRune(line, comma) {
			r.Comma = comma
		}
	}
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	head, err := r.Read()
	if err != nil {
		return failure(ctx, label, err)
	}
	head = slices.Clone(head)
	var columns []int
	var factors []float64
	var metrics []trace.Metric
	for i, name := range head {
		name, ok := strings.CutSuffix(strings.TrimSpace(name), ":Self")
		if !ok {
			continue
		}
		m, factor := trace.Metric{Name: name, Default: len(columns) == 0}, 1.0
		if strings.HasSuffix(name, "Time") {
			m.Unit, factor = "ns", 1e9
		}
		columns, factors, metrics = append(columns, i), append(factors, factor), append(metrics, m)
	}
	if len(columns) == 0 {
		return importer.Malformed(label, "line 1", "has no column of own values (:Self)")
	}
	module := slices.IndexFunc(head, func(s string) bool { return strings.TrimSpace(s) == "Module" })
	at := w.Location(importer.Process(path.Base(run.Name)))
	out := stack.New(w, metrics...)
	var open []level
	var path []trace.RegionID
	values := make([]float64, len(columns))
	rows := 0
	for ; ; rows++ {
		if rows%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		f, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			w.Report(trace.MissingRest, "files that break off, read up to there", 1,
				fmt.Sprintf("%s: row %d", label, rows+2))
			break
		}
		name := strings.TrimSpace(f[0])
		if name == "" {
			continue
		}
		indent := len(f[0]) - len(strings.TrimLeft(f[0], " "))
		for len(open) > 0 && open[len(open)-1].indent >= indent {
			open = open[:len(open)-1]
		}
		region := trace.Region{Name: name}
		if module >= 0 && module < len(f) {
			region.Category = strings.TrimSpace(f[module])
		}
		open = append(open, level{indent, w.Region(region)})
		path = path[:0]
		for _, l := range open {
			path = append(path, l.region)
		}
		for i, column := range columns {
			values[i] = 0
			if column < len(f) {
				v, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(f[column]), "s"), 64)
				values[i] = v * factors[i]
			}
		}
		out.Add(at, path, values)
	}
	if rows == 0 {
		return importer.Malformed(label, "", "holds no functions")
	}
	out.Finish()
	return nil
}

func failure(ctx context.Context, label string, err error) error {
	var known *importer.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known):
		return known
	}
	return importer.Malformed(label, "line 1", "its table cannot be read: %v", err)
}
