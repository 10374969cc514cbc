package graintable

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A task is one line.
type task struct {
	id, parent, cpu      int64
	cycles, created, end int64 // created: in cycles of its parent
	wait                 int64 // cycles after which it waited; -1: it did not
	fields               []string
}

// A taskTable is a file.
type taskTable struct {
	header  []string
	columns map[string]int
	tasks   []task
}

// columnsOf returns the places of columns, and the first that is lacking.
func columnsOf(header []string) (columns map[string]int, lacking string) {
	columns = map[string]int{}
	for i, name := range header {
		columns[strings.TrimSpace(name)] = i
	}
	for _, name := range needed {
		if _, ok := columns[name]; !ok {
			return columns, name
		}
	}
	return columns, ""
}

// most is the largest number of cycles that is believed.
const most = 1 << 60

// table reads a file. Lines that are no task are counted and left out.
func table(ctx context.Context, f io.Reader, label string, w trace.Writer) (*taskTable, error) {
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, importer.Malformed(label, "line 1", "%v", err)
	}
	t := &taskTable{header: header}
	var lacking string
	if t.columns, lacking = columnsOf(header); lacking != "" {
		return nil, importer.Malformed(label, "line 1", "the header lacks the column %q", lacking)
	}
	seen := map[int64]bool{}
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fields, err := r.Read()
		line := 0
		if err == nil {
			line, _ = r.FieldPos(0)
		}
		var wrong *csv.ParseError
		switch {
		case err == io.EOF && len(t.tasks) == 0:
			return nil, importer.Malformed(label, "", "no task follows the header")
		case err == io.EOF:
			return t, nil
		case errors.As(err, &wrong):
			w.Report(trace.MissingIntervals, "lines that are not of the table's form", 1,
				fmt.Sprintf("%s: line %d", label, wrong.StartLine))
			continue
		case err != nil && len(t.tasks) == 0:
			return nil, err
		case err != nil:
			w.Report(trace.MissingRest, "the rest of a file that cannot be read", 1,
				fmt.Sprintf("%s: after %d tasks", label, len(t.tasks)))
			return t, nil
		}
		k, ok := t.parse(fields)
		switch {
		case len(fields) != len(header) || !ok:
			w.Report(trace.MissingEvents,
				"lines without the numbers of a task", 1, fmt.Sprintf("%s: line %d", label, line))
		case seen[k.id]:
			w.Report(trace.MissingIntervals, "tasks whose number is taken", 1, fmt.Sprintf("%s: line %d", label, line))
		default:
			seen[k.id] = true
			t.tasks = append(t.tasks, k)
		}
	}
}

func (t *taskTable) parse(fields []string) (k task, ok bool) {
	if len(fields) != len(t.header) {
		return k, false
	}
	for _, c := range []struct {
		name string
		to   *int64
	}{{"task", &k.id}, {"parent", &k.parent}, {"cpu_id", &k.cpu}, {"exec_cycles", &k.cycles},
		{"create_instant", &k.created}, {"exec_end_instant", &k.end}} {
		n, err := strconv.ParseInt(strings.TrimSpace(fields[t.columns[c.name]]), 10, 64)
		if err != nil || n < 0 || n > most {
			return k, false
		}
		*c.to = n
	}
	k.wait, k.fields = -1, fields
	if i, ok := t.columns["wait_instants"]; ok {
		k.wait = lastNumber(fields[i])
	}
	return k, true
}

// lastNumber reads the last of "[0;505730]"; -1 where it is 0 or there is none.
func lastNumber(list string) int64 {
	list = strings.Trim(list, "[] ")
	if i := strings.LastIndexByte(list, ';'); i >= 0 {
		list = list[i+1:]
	}
	if n, err := strconv.ParseInt(list, 10, 64); err == nil && n > 0 && n <= most {
		return n
	}
	return -1
}
