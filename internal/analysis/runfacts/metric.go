package runfacts

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A MetricChoice is the parsed --metric: which rows of a profile, and which of their
// numbers.
type MetricChoice struct {
	ID     trace.MetricID // of a profile; without meaning for a trace
	Name   string         // for people: "exclusive time", "calls", "PAPI_TOT_INS"
	Unit   string         // "ns", "bytes", "count" or ""
	Number MetricNumber
	Join   trace.Join // how values of regions and locations become one; calls add up
}

// A MetricNumber is one of the numbers of a row.
type MetricNumber uint8

const (
	NumberExclusive MetricNumber = iota
	NumberInclusive
	NumberCalls
)

// ChooseMetric reads --metric: exclusive, inclusive, calls, or a metric of the
// source, which may be followed by ":inclusive".
func ChooseMetric(r store.Reader, text string) (MetricChoice, error) {
	metrics := r.Metrics()
	profile := !r.Info().Timed() && len(metrics) > 0
	var m MetricChoice
	m.Name, m.Unit = MainMetric(r)
	if profile {
		m.ID = DefaultMetric(metrics)
		m.Join = metrics[m.ID].Join
	}
	switch text {
	case "", "exclusive":
		m.Name = "exclusive " + m.Name
		return m, nil
	case "inclusive":
		m.Number, m.Name = NumberInclusive, "inclusive "+m.Name
		return m, nil
	case "calls":
		counted, err := store.CountsCalls(context.Background(), r)
		if err == nil && !counted {
			err = errors.New("--metric calls: samples do not count calls; want exclusive or inclusive")
		}
		if err != nil {
			return m, err
		}
		m.Number, m.Name, m.Unit, m.Join = NumberCalls, "calls", "count", trace.JoinSum
		return m, nil
	}
	name, number := text, NumberExclusive
	if base, ok := strings.CutSuffix(text, ":inclusive"); ok {
		name, number = base, NumberInclusive
	} else if base, ok := strings.CutSuffix(text, ":exclusive"); ok {
		name = base
	}
	i := slices.IndexFunc(metrics, func(x trace.Metric) bool { return x.Name == name })
	if i < 0 || !profile {
		var known []string
		for _, x := range metrics {
			if profile && len(known) < 20 {
				known = append(known, x.Name)
			}
		}
		refused := words.NotOneOf("--metric", text, append([]string{"exclusive", "inclusive", "calls"}, known...)...)
		if len(known) == 0 {
			refused.More = "; the source has no metrics of its own"
		}
		return m, refused
	}
	return MetricChoice{ID: trace.MetricID(i), Name: text, Unit: metrics[i].Unit, Number: number,
		Join: metrics[i].Join}, nil
}

// Of picks the number of a row.
func (m MetricChoice) Of(calls, inclusive, exclusive float64) float64 {
	switch m.Number {
	case NumberCalls:
		return calls
	case NumberInclusive:
		return inclusive
	}
	return exclusive
}

// Format writes a value of the metric for people.
func (m MetricChoice) Format(v float64) string { return words.FormatIn(v, ColumnUnit(m.Unit)) }

// ColumnUnit is the unit as columns of tables name it.
func (m MetricChoice) ColumnUnit() string { return ColumnUnit(m.Unit) }

// ColumnUnit is the unit of a metric as columns of tables and axes name it: whatever is neither time nor bytes is
// counted.
func ColumnUnit(unit string) string {
	if unit == "ns" || unit == "bytes" {
		return unit
	}
	return "count"
}
