package instruments

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// weights are the known first columns, with their metrics.
var weights = map[string]trace.Metric{
	"Weight":       {Name: "time", Unit: "ns", Default: true},
	"Running Time": {Name: "time", Unit: "ns", Default: true},
	"Bytes Used":   {Name: "bytes", Unit: "bytes", Default: true},
}

// units of weights. Bytes are counted by 1024.
var units = map[string]struct {
	metric string
	factor float64
}{
	"ns": {"time", 1}, "us": {"time", 1e3}, "µs": {"time", 1e3}, "ms": {"time", 1e6}, "s": {"time", 1e9},
	"min": {"time", 60e9}, "h": {"time", 3600e9},
	"c": {"cycles", 1}, "Kc": {"cycles", 1e3}, "Mc": {"cycles", 1e6}, "Gc": {"cycles", 1e9},
	"Bytes": {"bytes", 1}, "B": {"bytes", 1}, "KB": {"bytes", 1 << 10}, "MB": {"bytes", 1 << 20},
	"GB": {"bytes", 1 << 30},
}

var amount = regexp.MustCompile(`^\s*([\d.,]+)\s*([A-Za-zµ]*)`)

// A deepCopy is one while it is read.
type deepCopy struct {
	*tree
	process string
	at      trace.LocationID
	self    int // column of the own weight, -1: none
	count   int // column of a count, -1: none
	symbol  int
	factor  float64 // of an own weight without a unit
	indent  int
	begun   bool
}

func (d *deepCopy) line(n int, line string) {
	columns := strings.Split(strings.TrimPrefix(line, "\ufeff"), "\t")
	if n == 0 {
		d.head(columns)
		return
	}
	if strings.TrimSpace(line) == "" {
		return
	}
	if len(columns) <= d.symbol {
		d.wrong(n)
		return
	}
	weight, metric, ok := d.amount(columns[0], 1)
	symbol := columns[d.symbol]
	name := strings.TrimLeft(symbol, " ")
	if !ok || name == "" {
		d.wrong(n)
		return
	}
	indent := len(symbol) - len(name)
	if !d.begun {
		d.begun, d.indent = true, indent
		if metric == "cycles" { // only the first row tells
			d.metrics[0] = trace.Metric{Name: "cycles", Default: true}
		}
	}
	inclusive := []float64{weight}
	var self []float64
	if d.self >= 0 {
		own, _, _ := d.amount(columns[d.self], d.factor)
		self = []float64{own}
	}
	if d.count >= 0 {
		count, _ := strconv.ParseFloat(strings.TrimSpace(columns[d.count]), 64)
		inclusive = append(inclusive, count)
	}
	d.add(d.at, max(indent-d.indent, 0), d.w.Region(trace.Region{Name: name}), inclusive, self)
}

// head reads the names of columns.
func (d *deepCopy) head(columns []string) {
	d.metrics = []trace.Metric{weights[columns[0]]}
	d.self, d.count, d.symbol, d.factor = -1, -1, len(columns)-1, 1
	for i, name := range columns {
		switch name {
		case "Self Weight":
			d.self = i
		case "Self (ms)":
			d.self, d.factor = i, 1e6
		case "Count":
			d.count = i
			d.metrics = append(d.metrics, trace.Metric{Name: "allocations", Integer: true})
		}
	}
	d.at = d.w.Location(importer.Process(d.process))
}

// amount reads "4273.0ms   99.9%", "96.08 Gc  100.0%", "-"; factor is that of a bare number.
func (d *deepCopy) amount(text string, factor float64) (v float64, metric string, ok bool) {
	m := amount.FindStringSubmatch(text)
	if m == nil {
		return 0, "", false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if err != nil {
		return 0, "", false
	}
	if u, known := units[m[2]]; known {
		return v * u.factor, u.metric, true
	}
	return v * factor, "", true
}
