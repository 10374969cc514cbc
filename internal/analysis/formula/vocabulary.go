package formula

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/words"
)

// A Word is a name or a function that layouts may use.
type Word struct {
	Name string // as it is usually written
	Note string
	Call string // how a function is called, such as "mod(a, b)"; "" of a name
}

// Vocabulary lists the names that are given and all functions, in the order of the documentation.
var Vocabulary = []Word{
	{Name: "rank", Note: "rank of the process, or position if threads share it"},
	{Name: "maxRank", Note: "number of ranks"},
	{Name: "lastRank", Note: "highest rank: maxRank less 1"},
	{Name: "index", Note: "position in the tree of locations"},
	{Name: "slot", Note: "position in order of rank"},
	{Name: "count", Note: "number of locations"},
	{Name: "node", Note: "first number of TAU, else the rank"},
	{Name: "context", Note: "second number of TAU"},
	{Name: "thread", Note: "place of a thread in its rank"},
	{Name: "color", Note: "value of the last event bound"},
	{Name: "coordX", Note: "coordinate of the data, along x"},
	{Name: "coordY", Note: "coordinate of the data, along y"},
	{Name: "coordZ", Note: "coordinate of the data, along z"},
	{Name: "coordW", Note: "fourth coordinate of the data"},
	{Name: "axisDimX", Note: "size of the data's grid along x"},
	{Name: "axisDimY", Note: "size of the data's grid along y"},
	{Name: "axisDimZ", Note: "size of the data's grid along z"},
	{Name: "event0.val", Note: "value of event0"},
	{Name: "event0.min", Note: "least value of event0 in the run"},
	{Name: "event0.max", Note: "largest value of event0 in the run"},
	{Name: "event0.mean", Note: "mean value of event0 in the run"},
	{Name: "event1.val", Note: "value of event1"},
	{Name: "event1.min", Note: "least value of event1 in the run"},
	{Name: "event1.max", Note: "largest value of event1 in the run"},
	{Name: "event1.mean", Note: "mean value of event1 in the run"},
	{Name: "event2.val", Note: "value of event2"},
	{Name: "event2.min", Note: "least value of event2 in the run"},
	{Name: "event2.max", Note: "largest value of event2 in the run"},
	{Name: "event2.mean", Note: "mean value of event2 in the run"},
	{Name: "event3.val", Note: "value of event3"},
	{Name: "event3.min", Note: "least value of event3 in the run"},
	{Name: "event3.max", Note: "largest value of event3 in the run"},
	{Name: "event3.mean", Note: "mean value of event3 in the run"},
	{Name: "restrictDim", Note: "if set, axes have one length"},

	{Name: "metadata", Call: "metadata(key)", Note: "a number of the location or of the run"},
	{Name: "if", Call: "if(condition, yes, no)", Note: "yes unless the condition is 0"},
	{Name: "mod", Call: "mod(a, b)", Note: "remainder, floored"},
	{Name: "floor", Call: "floor(a)", Note: "largest whole number up to a"},
	{Name: "ceil", Call: "ceil(a)", Note: "least whole number from a on"},
	{Name: "round", Call: "round(a)", Note: "nearest whole number"},
	{Name: "sqrt", Call: "sqrt(a)", Note: "square root"},
	{Name: "pi", Call: "pi()", Note: "3.14159…"},
	{Name: "e", Call: "e()", Note: "2.71828…"},
	{Name: "sin", Call: "sin(a)", Note: "sine, in radians"},
	{Name: "cos", Call: "cos(a)", Note: "cosine, in radians"},
	{Name: "tan", Call: "tan(a)", Note: "tangent"},
	{Name: "asin", Call: "asin(a)", Note: "inverse sine"},
	{Name: "acos", Call: "acos(a)", Note: "inverse cosine"},
	{Name: "atan", Call: "atan(a)", Note: "inverse tangent"},
	{Name: "atan2", Call: "atan2(y, x)", Note: "angle of a point"},
	{Name: "sinh", Call: "sinh(a)", Note: "hyperbolic sine"},
	{Name: "cosh", Call: "cosh(a)", Note: "hyperbolic cosine"},
	{Name: "tanh", Call: "tanh(a)", Note: "hyperbolic tangent"},
	{Name: "asinh", Call: "asinh(a)", Note: "inverse of sinh"},
	{Name: "acosh", Call: "acosh(a)", Note: "inverse of cosh"},
	{Name: "atanh", Call: "atanh(a)", Note: "inverse of tanh"},
	{Name: "abs", Call: "abs(a)", Note: "without its sign"},
	{Name: "sign", Call: "sign(a)", Note: "-1, 0 or 1"},
	{Name: "exp", Call: "exp(a)", Note: "e to the power of a"},
	{Name: "ln", Call: "ln(a)", Note: "logarithm to the base e"},
	{Name: "log", Call: "log(a)", Note: "logarithm to the base 10"},
	{Name: "lg", Call: "lg(a)", Note: "logarithm to the base 2"},
	{Name: "log2", Call: "log2(a)", Note: "logarithm to the base 2"},
	{Name: "pow", Call: "pow(a, b)", Note: "a to the power of b, as a^b"},
	{Name: "min", Call: "min(a, b, …)", Note: "the least"},
	{Name: "max", Call: "max(a, b, …)", Note: "the largest"},
	{Name: "sum", Call: "sum(a, b, …)", Note: "the sum"},
	{Name: "avg", Call: "avg(a, b, …)", Note: "the mean"},
	{Name: "fact", Call: "fact(n)", Note: "factorial"},
	{Name: "combin", Call: "combin(n, k)", Note: "ways to choose k of n"},
	{Name: "and", Call: "and(a, b)", Note: "1 if both hold, as a && b"},
	{Name: "or", Call: "or(a, b)", Note: "1 if one holds, as a || b"},
	{Name: "not", Call: "not(a)", Note: "1 if a does not hold, as !a"},
	{Name: "rand", Call: "rand()", Note: "0 to 1, the same in each picture"},
}

func functionNames() (out []string) {
	for _, w := range Vocabulary {
		if w.Call != "" {
			out = append(out, w.Name)
		}
	}
	return out
}

// hintForFunction suggests a replacement for an unknown function.
func hintForFunction(typed string) string {
	names := functionNames()
	if near := words.Nearest(strings.ToLower(typed), names); near != "" {
		return "did you mean " + near + "?"
	}
	return "known are " + strings.Join(names, " ")
}

// hintFor suggests a replacement for a name without a value.
func (l *Layout) hintFor(n *node, in *Input) string {
	var known []string
	for i := range l.statements {
		s := &l.statements[i]
		if s.name == n.name {
			return fmt.Sprintf("it is set on line %d, and takes effect from the line after", s.at.line)
		}
		known = append(known, s.at.text)
	}
	for _, w := range Vocabulary {
		switch {
		case w.Call != "" && w.Name == n.name:
			return fmt.Sprintf("%s is a function: did you mean %s?", w.Name, w.Call)
		case w.Call == "" && (in.has(strings.ToLower(w.Name)) || alwaysGiven[strings.ToLower(w.Name)]):
			known = append(known, w.Name)
		}
	}
	lower := make([]string, len(known))
	for i := range known {
		lower[i] = strings.ToLower(known[i])
	}
	if near := words.Nearest(n.name, lower); near != "" {
		for i := range known {
			if lower[i] == near {
				return "did you mean " + known[i] + "?"
			}
		}
	}
	return "names take effect from the line after they are set"
}
