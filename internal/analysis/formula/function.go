package formula

import (
	"fmt"
	"math"
)

// A function of numbers. arity -1 takes one or more.
type function struct {
	arity int
	f1    func(float64) float64
	f2    func(a, b float64) float64
	fn    func([]float64) float64
	konst float64 // of arity 0
}

func (f function) takes() string {
	switch f.arity {
	case -1:
		return "one or more"
	case 0:
		return "none"
	case 1:
		return "one"
	}
	return fmt.Sprint(f.arity)
}

// functions are those of the paper's examples and of MESP, which TAU uses.
var functions = map[string]function{
	"sqrt": {arity: 1, f1: math.Sqrt}, "mod": {arity: 2, f2: Mod},
	"floor": {arity: 1, f1: math.Floor}, "ceil": {arity: 1, f1: math.Ceil}, "round": {arity: 1, f1: math.Round},
	"abs": {arity: 1, f1: math.Abs}, "sign": {arity: 1, f1: sign},
	"sin": {arity: 1, f1: math.Sin}, "cos": {arity: 1, f1: math.Cos}, "tan": {arity: 1, f1: math.Tan},
	"asin": {arity: 1, f1: math.Asin}, "acos": {arity: 1, f1: math.Acos}, "atan": {arity: 1, f1: math.Atan},
	"atan2": {arity: 2, f2: math.Atan2},
	"sinh":  {arity: 1, f1: math.Sinh}, "cosh": {arity: 1, f1: math.Cosh}, "tanh": {arity: 1, f1: math.Tanh},
	"asinh": {arity: 1, f1: math.Asinh}, "acosh": {arity: 1, f1: math.Acosh}, "atanh": {arity: 1, f1: math.Atanh},
	"exp": {arity: 1, f1: math.Exp}, "ln": {arity: 1, f1: math.Log}, "log": {arity: 1, f1: math.Log10},
	"lg": {arity: 1, f1: math.Log2}, "log2": {arity: 1, f1: math.Log2},
	"pow": {arity: 2, f2: Power}, "^": {arity: 2, f2: Power},
	"+":   {arity: 2, f2: func(a, b float64) float64 { return a + b }},
	"-":   {arity: 2, f2: func(a, b float64) float64 { return a - b }},
	"*":   {arity: 2, f2: func(a, b float64) float64 { return a * b }},
	"/":   {arity: 2, f2: func(a, b float64) float64 { return a / b }},
	"neg": {arity: 1, f1: func(a float64) float64 { return -a }},
	"min": {arity: -1, fn: extremum(math.Min)}, "max": {arity: -1, fn: extremum(math.Max)},
	"sum": {arity: -1, fn: sum}, "avg": {arity: -1, fn: func(a []float64) float64 { return sum(a) / float64(len(a)) }},
	"fact": {arity: 1, f1: factorial}, "combin": {arity: 2, f2: combinations},
	"if": {arity: 3, fn: func(a []float64) float64 {
		if holds(a[0]) {
			return a[1]
		}
		return a[2]
	}},
	"<":  {arity: 2, f2: func(a, b float64) float64 { return truth(a < b) }},
	"<=": {arity: 2, f2: func(a, b float64) float64 { return truth(a <= b) }},
	">":  {arity: 2, f2: func(a, b float64) float64 { return truth(a > b) }},
	">=": {arity: 2, f2: func(a, b float64) float64 { return truth(a >= b) }},
	"==": {arity: 2, f2: func(a, b float64) float64 { return truth(a == b) }},
	"!=": {arity: 2, f2: func(a, b float64) float64 { return truth(a != b) }},
	"&&": {arity: 2, f2: both}, "||": {arity: 2, f2: one}, "and": {arity: 2, f2: both}, "or": {arity: 2, f2: one},
	"not": {arity: 1, f1: func(a float64) float64 { return truth(!holds(a)) }},
	"pi":  {konst: math.Pi}, "e": {konst: math.E},
	"rand": {konst: math.NaN()}, // see program.go: a fixed hash of layout, rank and place
}

// holds reports whether a number counts as true: any but 0 and NaN, which stands for no value.
func holds(a float64) bool { return a != 0 && !math.IsNaN(a) }

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func both(a, b float64) float64 { return truth(holds(a) && holds(b)) }
func one(a, b float64) float64  { return truth(holds(a) || holds(b)) }

// Mod is floored: the result has the sign of b, and mod(a, 0) is NaN.
func Mod(a, b float64) float64 {
	// Ranks and sizes of grids are whole: their remainder is exact, and an order of
	// magnitude faster without going through binary exponents.
	if i, j := int64(a), int64(b); float64(i) == a && float64(j) == b && j > 0 && i >= 0 && i < 1<<53 &&
		(i > 0 || !math.Signbit(a)) {
		return float64(i % j)
	}
	r := math.Mod(a, b)
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

func sign(x float64) float64 {
	if x == 0 || math.IsNaN(x) {
		return x
	}
	return math.Copysign(1, x)
}

func extremum(pick func(a, b float64) float64) func([]float64) float64 {
	return func(a []float64) float64 {
		x := a[0]
		for _, v := range a[1:] {
			if math.IsNaN(v) || math.IsNaN(x) {
				return math.NaN()
			}
			x = pick(x, v)
		}
		return x
	}
}

func sum(a []float64) (s float64) {
	for _, v := range a {
		s += v
	}
	return s
}
