package query

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
	"modernc.org/sqlite"
)

// aggregates are the functions over many rows that SQLite lacks, or that overflow there.
var aggregates = []struct {
	name      string
	arguments int32
	start     func() sqlite.AggregateFunction
}{
	{"sum", 1, func() sqlite.AggregateFunction { return &adder{} }},
	{"median", 1, func() sqlite.AggregateFunction { return &ranker{name: "median", p: 0.5} }},
	{"quantile", 2, func() sqlite.AggregateFunction { return &ranker{name: "quantile", p: math.NaN(), whole: 1} }},
	{"percentile", 2,
		func() sqlite.AggregateFunction { return &ranker{name: "percentile", p: math.NaN(), whole: 100} }},
}

func registerAggregates(d *sqlite.Driver) error {
	for _, a := range aggregates {
		impl := &sqlite.FunctionImpl{NArgs: a.arguments, Deterministic: true,
			MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) {
				return a.start(), nil
			}}
		if err := d.RegisterFunction(a.name, impl); err != nil {
			return err
		}
	}
	return nil
}

// An adder is sum() as SQLite has it, but for overflow: whole numbers are added in 128 bits, and a sum beyond 64 bits
// is given as a floating point number.
type adder struct {
	count int64
	whole trace.Sum
	reals int64 // how many of them are no whole numbers
	real  float64
	lost  float64 // by rounding, see add
}

// Step implements sqlite.AggregateFunction.
func (a *adder) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	switch x := numeric(args[0]).(type) {
	case int64:
		a.count++
		a.whole.Add(trace.Time(x))
	case float64:
		a.count++
		a.reals++
		a.add(x)
	}
	return nil
}

// WindowInverse implements sqlite.AggregateFunction.
func (a *adder) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	switch x := numeric(args[0]).(type) {
	case int64:
		a.count--
		a.whole = a.whole.Minus(trace.SumOf(trace.Time(x)))
	case float64:
		a.count--
		a.reals--
		a.add(-x)
	}
	return nil
}

// add sums up as Neumaier does, which keeps the digits that rounding loses.
func (a *adder) add(x float64) {
	sum := a.real + x
	if !math.IsInf(sum, 0) {
		if math.Abs(a.real) >= math.Abs(x) {
			a.lost += a.real - sum + x
		} else {
			a.lost += x - sum + a.real
		}
	}
	a.real = sum
}

// WindowValue implements sqlite.AggregateFunction.
func (a *adder) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	switch {
	case a.count == 0:
		return nil, nil
	case a.reals > 0:
		return a.whole.Float64() + a.real + a.lost, nil
	case a.whole != trace.SumOf(a.whole.Time()):
		return a.whole.Float64(), nil
	}
	return int64(a.whole.Time()), nil
}

// Final implements sqlite.AggregateFunction.
func (a *adder) Final(*sqlite.FunctionContext) {}

// numeric returns a value as a number, as SQLite takes strings: by the number they begin with. It is nil of null.
func numeric(v driver.Value) any {
	switch x := v.(type) {
	case nil, int64, float64:
		return x
	case string:
		return leadingNumber(x)
	case []byte:
		return leadingNumber(string(x))
	}
	return 0.0
}

func leadingNumber(text string) float64 {
	text = strings.TrimSpace(text)
	for n := len(text); n > 0; n-- {
		if strings.Trim(text[:n], "0123456789+-.eE") != "" {
			continue
		}
		if x, err := strconv.ParseFloat(text[:n], 64); err == nil {
			return x
		}
	}
	return 0
}

// A ranker is median, quantile or percentile of the numbers of a group, exact and of type 7: between two values in
// proportion. Nulls and strings do not count. Memory is bounded: past mostHeld values it sorts them and puts them
// into a temporary file.
type ranker struct {
	name  string
	p     float64 // 0 to 1; NaN: not given yet
	whole float64 // the argument for p = 1; 0: p is no argument

	held []uint64 // keys in the order of arrival
	runs *sortedRuns
}

// mostHeld is how many values of a group are in memory, 8 bytes each.
var mostHeld = 1 << 20

// Step implements sqlite.AggregateFunction.
func (r *ranker) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	if err := r.choose(args); err != nil {
		return err
	}
	x, ok := ranked(args[0])
	if !ok {
		return nil
	}
	if len(r.held) == mostHeld {
		if r.runs == nil {
			r.runs = &sortedRuns{}
		}
		if err := r.runs.add(r.held); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		r.held = r.held[:0]
	}
	r.held = append(r.held, keyOf(x))
	return nil
}

// choose takes p from the first row.
func (r *ranker) choose(args []driver.Value) error {
	if r.whole == 0 || !math.IsNaN(r.p) {
		return nil
	}
	p, ok := ranked(args[1])
	if !ok || p < 0 || p > r.whole {
		return fmt.Errorf("%s(x, p): p is %v, want a number from 0 to %g", r.name, args[1], r.whole)
	}
	r.p = p / r.whole
	return nil
}

func ranked(v driver.Value) (float64, bool) {
	switch x := v.(type) {
	case int64:
		return float64(x), true
	case float64:
		return x, !math.IsNaN(x)
	}
	return 0, false
}

// WindowInverse implements sqlite.AggregateFunction: the value that leaves is the first that came.
func (r *ranker) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	if r.runs != nil {
		return fmt.Errorf("%s over a window of more than %d rows: too many to move along; choose a shorter frame",
			r.name, mostHeld)
	}
	if _, ok := ranked(args[0]); ok && len(r.held) > 0 {
		r.held = r.held[1:]
	}
	return nil
}

// WindowValue implements sqlite.AggregateFunction.
func (r *ranker) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	runs := r.runs
	if runs == nil {
		runs = &sortedRuns{}
	}
	n := runs.count + int64(len(r.held))
	if n == 0 {
		return nil, nil
	}
	last := sortedCopy(r.held)
	at, part := math.Modf(float64(n-1) * r.p)
	low, err := runs.nth(last, int64(at))
	if err != nil || part == 0 {
		return orNull(valueOf(low)), err
	}
	high, err := runs.nth(last, int64(at)+1)
	a, b := valueOf(low), valueOf(high)
	if a == b { // also of infinity
		return orNull(a), err
	}
	return orNull(a + part*(b-a)), err
}

func orNull(x float64) driver.Value {
	if math.IsNaN(x) {
		return nil
	}
	return x
}

// Final implements sqlite.AggregateFunction.
func (r *ranker) Final(*sqlite.FunctionContext) {
	if r.runs != nil {
		r.runs.close()
	}
}

// keyOf maps a number to one whose order as a whole number is the same.
func keyOf(x float64) uint64 {
	b := math.Float64bits(x + 0) // -0 is 0
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

func valueOf(key uint64) float64 {
	if key>>63 == 1 {
		return math.Float64frombits(key &^ (1 << 63))
	}
	return math.Float64frombits(^key)
}
