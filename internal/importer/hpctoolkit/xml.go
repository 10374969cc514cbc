package hpctoolkit

import (
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An experiment is the content of experiment.xml.
type experiment struct {
	label string
	contexts
	names, files map[string]string // by number, as the file writes it
	columns      []column          // of the metric-db files
	summary      []column          // in the file itself
	values       map[int]map[int32]float64
}

// A column is a metric of a table: its name without the mark of being inclusive.
type column struct {
	index     int
	name      string
	inclusive bool
}

// readXML reads an older database: the tree as XML, and a table of values a thread.
func readXML(ctx context.Context, run importer.Run, w trace.Writer) error {
	in, err := run.Open(run.Files[0])
	if err != nil {
		return err
	}
	defer in.Close()
	e := &experiment{label: run.Label(run.Files[0]), contexts: newContexts(), names: map[string]string{},
		files: map[string]string{}, values: map[int]map[int32]float64{}}
	cut, err := e.parse(ctx, in)
	if err != nil {
		return err
	}
	label := e.label
	if cut {
		w.Report(trace.MissingRest, "files that break off within an element", 1, label)
	}
	if len(e.nodes) == 0 {
		return importer.Malformed(label, "", "holds no calling context")
	}
	e.define(w)
	tables := run.Files[1:]
	if len(tables) == 0 {
		return e.whole(w)
	}
	metrics, columns := inclusiveOf(e.columns, w)
	if len(metrics) == 0 {
		return importer.Malformed(label, "", "names no inclusive metric of the tables next to it")
	}
	for _, file := range tables {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.table(run, file, w, metrics, columns); err != nil {
			return err
		}
	}
	return nil
}

// inclusiveOf defines the metrics that have inclusive values.
func inclusiveOf(columns []column, w trace.Writer) (metrics []metric, at []int) {
	for _, c := range columns {
		if !c.inclusive {
			continue
		}
		m := newMetric(c.name)
		m.Default = len(metrics) == 0
		m.id = w.Metric(m.Metric)
		metrics, at = append(metrics, m), append(at, c.index)
	}
	return metrics, at
}

// parse reads the elements. A node belongs to the nearest function or loop around it.
func (e *experiment) parse(ctx context.Context, in io.Reader) (cut bool, err error) {
	d := xml.NewDecoder(in)
	d.Strict = false
	stack := []int32{-1}
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return len(stack) > 1, nil
		}
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
			return true, nil
		}
		if err != nil { // the declared version or encoding, or an error of unpacking
			var clear *importer.Error
			if !errors.As(err, &clear) {
				err = importer.Malformed(e.label, fmt.Sprintf("byte %d", d.InputOffset()), "the XML cannot be read: %v",
					err)
			}
			return false, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			a := attributes(t.Attr)
			switch t.Name.Local {
			case "Metric", "MetricDB":
				e.metric(t.Name.Local, a)
			case "Procedure":
				e.names[a["i"]] = a["n"]
			case "File":
				e.files[a["i"]] = a["n"]
			case "M":
				e.value(a, stack[len(stack)-1])
			case "PF", "Pr", "P", "L", "LP", "C", "S", "LM", "F", "A":
				stack = append(stack, e.node(t.Name.Local, a, stack[len(stack)-1]))
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "PF", "Pr", "P", "L", "LP", "C", "S", "LM", "F", "A":
				if len(stack) > 1 {
					stack = stack[:len(stack)-1]
				}
			}
		}
	}
}

func attributes(list []xml.Attr) map[string]string {
	out := make(map[string]string, len(list))
	for _, a := range list {
		out[a.Name.Local] = a.Value
	}
	return out
}

// metric takes a metric of the file itself or of the tables.
func (e *experiment) metric(element string, a map[string]string) {
	index, err := strconv.Atoi(a["db-id"])
	if element == "Metric" {
		index, err = strconv.Atoi(a["i"])
	}
	if err != nil {
		return
	}
	name := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(a["n"], "(I)"), "(E)"))
	name, _, _ = strings.Cut(name, ":Sum")
	c := column{index, name, a["t"] == "inclusive"}
	if element == "Metric" {
		e.summary = append(e.summary, c)
	} else {
		e.columns = append(e.columns, c)
	}
}

// node takes a context: functions, loops and lines are nodes, all else belongs to the one around.
func (e *experiment) node(element string, a map[string]string, parent int32) int32 {
	id64, err := strconv.ParseUint(a["i"], 10, 32)
	id := uint32(id64)
	line, _ := strconv.Atoi(a["l"])
	switch element {
	case "PF", "Pr", "P":
		name := e.names[a["n"]]
		if name == "" {
			name = a["n"]
		}
		s := step{name, "function", e.files[a["f"]], line}
		if err != nil {
			id = ^uint32(len(e.nodes))
		}
		return e.add(id, parent, s)
	case "L", "LP":
		file := e.files[a["f"]]
		if err != nil {
			id = ^uint32(len(e.nodes))
		}
		return e.add(id, parent, step{fmt.Sprintf("loop at %s:%d", path.Base(file), line), "loop", file, line})
	}
	if err != nil {
		return parent
	}
	if element == "C" || element == "S" { // a call, a statement
		if owner := e.ownerOf(parent); owner >= 0 {
			return e.addLine(id, parent, e.nodes[owner].file, line)
		}
	}
	e.fold(id, parent)
	return parent
}

// value takes a number of the file itself: a sum over threads. Only those of nodes are needed.
func (e *experiment) value(a map[string]string, node int32) {
	index, err1 := strconv.Atoi(a["n"])
	v, err2 := strconv.ParseFloat(a["v"], 64)
	if err1 != nil || err2 != nil || node < 0 {
		return
	}
	if e.values[index] == nil {
		e.values[index] = map[int32]float64{}
	}
	if _, ok := e.values[index][node]; !ok { // what follows is of contexts below
		e.values[index][node] = v
	}
}

// whole writes the sums over threads, if there are no tables of threads.
func (e *experiment) whole(w trace.Writer) error {
	metrics, at := inclusiveOf(e.summary, w)
	inclusive := make([]float64, len(metrics)*len(e.nodes))
	for k, index := range at {
		for node, v := range e.values[index] {
			inclusive[int(node)*len(metrics)+k] = v
		}
	}
	all := w.Location(importer.Process("all threads"))
	e.rows(w, all, metrics, inclusive)
	return nil
}

// tableName is "1.cpi-000003-002-a8c00270-160446-0.metric-db": rank and thread.
var tableName = regexp.MustCompile(`-(\d{6})-(\d{3})-[0-9a-f]+-\d+-\d+\.metric-db$`)

// tableHead is the tag, the version, the byte order, and the numbers of contexts and of metrics.
const (
	tableTag  = "HPCPROF-metricdb__"
	tableHead = 32
)

// table reads the values of one thread: a row for every context, by its number.
func (e *experiment) table(run importer.Run, file string, w trace.Writer, metrics []metric, columns []int) error {
	label := run.Label(file)
	in, err := run.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, 1<<32))
	if err != nil && len(data) < tableHead {
		return err
	}
	if len(data) < tableHead || string(data[:len(tableTag)]) != tableTag {
		w.Report(trace.MissingValues, "tables of a thread that do not begin like one", 1, label)
		return nil
	}
	var order binary.ByteOrder = binary.BigEndian
	if data[23] == 'l' {
		order = binary.LittleEndian
	}
	rows, width := int(order.Uint32(data[24:])), int(order.Uint32(data[28:]))
	have := 0
	if width > 0 {
		have = (len(data) - tableHead) / (8 * width)
	}
	if have < rows {
		w.Report(trace.MissingValues, "values that a cut table of a thread lacks", int64(rows-have)*int64(width), label)
	}
	inclusive := make([]float64, len(metrics)*len(e.nodes))
	for id, node := range e.self {
		row := int(id) - 1
		if row < 0 || row >= min(rows, have) {
			continue
		}
		for k, column := range columns {
			if column >= 0 && column < width {
				if v := math.Float64frombits(order.Uint64(data[tableHead+8*(row*width+column):])); v > 0 &&
					v < math.MaxFloat64 {
					inclusive[int(node)*len(metrics)+k] = v
				}
			}
		}
	}
	e.rows(w, e.location(file, w), metrics, inclusive)
	return nil
}

func (e *experiment) location(file string, w trace.Writer) trace.LocationID {
	m := tableName.FindStringSubmatch(path.Base(file))
	if m == nil {
		return w.Location(importer.Process(path.Base(file)))
	}
	rank, _ := strconv.Atoi(m[1])
	thread, _ := strconv.Atoi(m[2])
	number := strconv.Itoa(rank)
	at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: number,
		Name: "rank " + number, Rank: rank})
	text := strconv.Itoa(thread)
	return w.Location(trace.Location{Parent: at, Kind: trace.KindThread, Key: text, Name: "thread " + text,
		Rank: trace.NoRank, Order: int64(thread)})
}
