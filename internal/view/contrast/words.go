package contrast

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/analysis/sides"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// title names a quantity.
func title(q *sides.Quantity) string {
	if q.Kind == "caller" {
		return q.Name + " called by " + q.Caller
	}
	return q.Name
}

// format writes a value of the quantity for people.
func format(q *sides.Quantity, v float64) string {
	switch q.Unit {
	case "ns":
		return view.FormatDuration(v)
	case "share":
		return view.FormatShare(v)
	case "bytes":
		return view.FormatBytes(v)
	}
	return view.FormatCount(v)
}

// typical returns the value that stands for a side: the medians, or the means where
// medians would hide the difference: they are the same, or nothing where some have much.
func typical(q *sides.Quantity) (a, b float64, word string) {
	a, b = orderstat.Median(q.Values[0]), orderstat.Median(q.Values[1])
	hides := func(m float64, v []float64) bool { return m == 0 && slices.Max(v) != 0 }
	if a != b && !hides(a, q.Values[0]) && !hides(b, q.Values[1]) {
		return a, b, ""
	}
	return mean(q.Values[0]), mean(q.Values[1]), "on average "
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(max(len(v), 1))
}

// words describes a row without its name: with detail 0 the values and their ratio, with
// 1 their range too, with 2 the time per call.
func (r *result) words(q *sides.Quantity, detail int) string {
	a, b, word := typical(q)
	if q.YesNo() {
		verb := "on "
		if q.Kind == "calls" {
			verb = "called on "
		}
		return verb + some(q.Values[0]) + " of A, on " + some(q.Values[1]) + " of B"
	}
	text := word + format(q, a) + " against " + format(q, b)
	if lo, hi := slices.Min(q.Values[1]), slices.Max(q.Values[1]); detail > 0 && len(q.Values[1]) > 1 && lo != hi {
		text += " (" + between(q, lo, hi) + ")"
	}
	if t := times(a, b); t != "" {
		text += ", " + t
	}
	if t := perCall(q, a, b); t != "" && detail > 1 {
		text += "; " + t
	}
	return text
}

// some counts the units that have something: "all 4", "3 of 12", "none".
func some(v []float64) string {
	n := int(math.Round(mean(v) * float64(len(v))))
	switch {
	case n == 0:
		return "none"
	case n == len(v) && n == 1:
		return "the one"
	case n == len(v):
		return "all " + view.Thousands(int64(n))
	}
	return view.Thousands(int64(n)) + " of the " + view.Thousands(int64(len(v)))
}

// between writes a range: "4.1 ms to 32 ms".
func between(q *sides.Quantity, lo, hi float64) string {
	if x, y := format(q, lo), format(q, hi); x != y {
		return x + " to " + y
	}
	return format(q, hi)
}

// times says a ratio.
func times(a, b float64) string {
	switch {
	case a == b || a < 0 || b < 0:
		return ""
	case b == 0:
		return "only in A"
	case a == 0:
		return "not in A"
	case a >= 1.95*b || a <= b/1.95:
		return ratio(a/b) + " as much"
	case a > b:
		return fmt.Sprintf("%s more", view.FormatShare(a/b-1))
	}
	return fmt.Sprintf("%s less", view.FormatShare(1-a/b))
}

func factor(x float64) string {
	switch {
	case x >= 9995:
		return view.FormatCount(math.Round(x))
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// ratio writes 2.5 as "2.50 ×" and 0.327 as "0.33 ×".
func ratio(x float64) string {
	if x < 1 {
		return fmt.Sprintf("%.2g ×", x)
	}
	return factor(x) + " ×"
}

// perCall distinguishes more calls from longer ones, where one of the two explains most of it.
func perCall(q *sides.Quantity, a, b float64) string {
	if q.Kind != "region" && q.Kind != "caller" || q.Unit != "ns" {
		return "" // in shares of windows, calls are cut and times are not of whole calls
	}
	ca, cb := q.Calls[0]/float64(len(q.Values[0])), q.Calls[1]/float64(len(q.Values[1]))
	if !(ca > 0 && cb > 0 && a > 0 && b > 0) {
		return ""
	}
	often, long := ca/cb, (mean(q.Values[0])/ca)/(mean(q.Values[1])/cb)
	switch lo, ll := math.Abs(math.Log(often)), math.Abs(math.Log(long)); {
	case lo < 0.05 && ll > 0.2:
		return "as many calls, each " + ratio(long) + " as long"
	case ll < 0.05 && lo > 0.2:
		return "calls as long, " + ratio(often) + " as many"
	case lo > 0.2 && ll > 0.2:
		return ratio(often) + " as many calls, each " + ratio(long) + " as long"
	}
	return ""
}

// severalAtOnce reports whether times add up to more than all of the time, as those of goroutines of one function do.
func (r *result) severalAtOnce() bool {
	return slices.ContainsFunc(r.Rows, func(q *sides.Quantity) bool {
		return q.InTime() && math.Abs(q.Verdict.Effect) > 1
	})
}

// effectText writes the effect with its base, or as a time where a share of the time would be more than all.
func (r *result) effectText(q *sides.Quantity) string {
	text := view.FormatChange(q.Verdict.Effect)
	switch {
	case q.InTime() && q.Unit == "ns" && r.severalAtOnce():
		return view.Signed(q.Verdict.Shift, view.FormatDuration)
	case q.InTime():
		return text + " of the time"
	case q.YesNo():
		return text + " of locations"
	case q.Kind == "partner":
		return text + " of " + map[string]string{"bytes": "all bytes", "count": "all messages"}[q.Unit]
	}
	return text + " of its mean"
}

// sure describes how sure a row is.
func sure(q *sides.Quantity) string {
	v := &q.Verdict
	switch {
	case !v.Tested:
		return "too little of the whole to matter"
	case v.Clear && v.Method == contrast.Student:
		return fmt.Sprintf("clear (q %s by Student's t; the sets are too small for a test by ranks)", small(v.Q))
	case v.Clear:
		return fmt.Sprintf("clear (q %s)", small(v.Q))
	case v.Q <= contrast.Level:
		return "not chance, but small or on some alone"
	}
	return fmt.Sprintf("chance explains it as well (q %s)", small(v.Q))
}

// small writes a probability, as far as it tells anything.
func small(p float64) string {
	if p < 1e-4 {
		return "< 0.0001"
	}
	return fmt.Sprintf("= %.2g", p)
}

// headline is the answer in a sentence.
func (r *result) headline() string {
	a, b := r.Sides[0].Label, r.Sides[1].Label
	q := r.Rows[0]
	if !q.Verdict.Clear {
		return fmt.Sprintf("No clear difference between %s and %s", a, b)
	}
	if !q.InTime() {
		return fmt.Sprintf("No clear difference in time between %s and %s, but %s: %s", a, b, title(q), r.words(q, 1))
	}
	x, y, word := typical(q)
	text := fmt.Sprintf("%s against %s: %s %s%s against %s", a, b, r.what(q), word, format(q, x), format(q, y))
	if t := times(x, y); t != "" {
		text += ", " + t
	}
	if n := r.Clear(); n > 1 {
		text += fmt.Sprintf("; %s", view.Count(n-1, "more difference"))
	}
	return text
}

// what names a quantity if its kind is not written next to it.
func (r *result) what(q *sides.Quantity) string {
	switch q.Kind {
	case "role", "category":
		return q.Name + " time"
	}
	return title(q)
}

// swatch is the role whose colour a row has; categories may hold several.
func swatch(q *sides.Quantity) (trace.Role, bool) { return q.Role, q.InTime() && q.Kind != "category" }
