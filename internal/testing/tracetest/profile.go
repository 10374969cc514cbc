package tracetest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func (p *parser) metric(_ int, ws []word) error {
	if len(ws) == 0 {
		return fmt.Errorf("want a name")
	}
	m := trace.Metric{Name: ws[0].text}
	for _, w := range ws[1:] {
		switch {
		case w.key == "unit":
			m.Unit = w.text
		case w.key == "parent":
			m.Parent = w.text
		case w.key == "description":
			m.Description = w.text
		case w.text == "integer" && !w.keyed:
			m.Integer = true
		case w.text == "default" && !w.keyed:
			m.Default = true
		default:
			return fmt.Errorf("unknown word %q", w.text)
		}
	}
	p.metrics[m.Name] = p.w.Metric(m)
	return nil
}

// callPath reads "main => MPI_Send"; "-" is none.
func (p *parser) callPath(w word, flat bool) trace.CallPathID {
	id := trace.NoCallPath
	if w.text == "-" && !w.quoted {
		return id
	}
	for name := range strings.SplitSeq(w.text, " => ") {
		id = p.w.CallPath(trace.CallPath{Parent: id, Region: p.regionNamed(name), Flat: flat})
	}
	return id
}

// cell reads "place path metric" and passes the numbers that follow to set.
func (p *parser) cell(ws []word, flat bool, numbers map[string]*float64) (at trace.LocationID, path trace.CallPathID,
	m trace.MetricID, err error) {
	if len(ws) < 3 {
		return 0, 0, 0, fmt.Errorf("want a location, a call path and a metric")
	}
	if at, err = p.place(ws[0]); err != nil {
		return 0, 0, 0, err
	}
	m, ok := p.metrics[ws[2].text]
	if !ok {
		m = p.w.Metric(trace.Metric{Name: ws[2].text})
		p.metrics[ws[2].text] = m
	}
	return at, p.callPath(ws[1], flat), m, readNumbers(ws[3:], numbers)
}

func readNumbers(ws []word, into map[string]*float64) (err error) {
	for _, w := range ws {
		f := into[w.key]
		if f == nil || !w.keyed {
			return fmt.Errorf("unknown word %q", w.key+w.text)
		}
		if *f, err = strconv.ParseFloat(w.text, 64); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) profile(_ int, ws []word) error {
	flat := false
	if n := len(ws); n > 0 && ws[n-1].text == "flat" && !ws[n-1].keyed {
		flat, ws = true, ws[:n-1]
	}
	var r trace.ProfileRow
	var err error
	r.Location, r.Path, r.Metric,
		err = p.cell(ws, flat,
		map[string]*float64{"calls": &r.Calls, "subcalls": &r.Subcalls, "incl": &r.Inclusive, "excl": &r.Exclusive})
	if err == nil {
		p.w.Profile(r)
	}
	return err
}

// sourceLine reads the values of a line; the callee is flat if the path is.
func (p *parser) sourceLine(_ int, ws []word) error {
	flat := false
	if n := len(ws); n > 0 && ws[n-1].text == "flat" && !ws[n-1].keyed {
		flat, ws = true, ws[:n-1]
	}
	r := trace.LineRow{File: trace.NoFile, Callee: trace.NoCallPath}
	var numbers []word
	for _, w := range ws {
		switch w.key {
		case "file":
			r.File = trace.SourceFile(p.w, w.text)
		case "callee":
			r.Callee = p.callPath(w, flat)
		default:
			numbers = append(numbers, w)
		}
	}
	var line float64
	var err error
	r.Location, r.Path, r.Metric, err = p.cell(numbers, flat,
		map[string]*float64{"line": &line, "calls": &r.Calls, "incl": &r.Inclusive, "excl": &r.Exclusive})
	if err == nil {
		r.Line = uint32(line)
		trace.AddLines(p.w, []trace.LineRow{r})
	}
	return err
}

func (p *parser) atomic(_ int, ws []word) error {
	var r trace.AtomicRow
	var err error
	r.Location, r.Path, r.Metric,
		err = p.cell(ws, false,
		map[string]*float64{"count": &r.Count, "min": &r.Min, "max": &r.Max, "mean": &r.Mean, "sumsq": &r.SumSquares})
	if err == nil {
		p.w.Atomic(r)
	}
	return err
}

func (p *parser) moments(_ int, ws []word) error {
	if len(ws) < 3 {
		return fmt.Errorf("want a location, a role and begin..end")
	}
	var r trace.MomentRow
	var err error
	var ok bool
	if r.Location, err = p.place(ws[0]); err != nil {
		return err
	}
	if r.Role, ok = trace.ParseRole(ws[1].text); !ok {
		return fmt.Errorf("unknown role %q", ws[1].text)
	}
	if r.Begin, r.End, err = parseRange(ws[2].text); err != nil {
		return err
	}
	numbers := map[string]*float64{"weight": &r.Weight, "mean": &r.Mean}
	for k := 2; k <= trace.MaxMoment; k++ {
		numbers["m"+strconv.Itoa(k)] = &r.Central[k]
	}
	if err := readNumbers(ws[3:], numbers); err != nil {
		return err
	}
	p.w.Moments(r)
	return nil
}
