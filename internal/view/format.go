package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// FormatTime writes a time with three significant digits and a unit.
func FormatTime(t trace.Time) string { return FormatDuration(float64(t)) }

// FormatDuration writes nanoseconds with three significant digits and a unit.
func FormatDuration(ns float64) string {
	a := math.Abs(ns)
	switch {
	case a == 0:
		return "0 s"
	case a < 999.5:
		return digits(ns) + " ns"
	case a < 999.5e3:
		return digits(ns/1e3) + " µs"
	case a < 999.5e6:
		return digits(ns/1e6) + " ms"
	}
	return digits(ns/1e9) + " s"
}

// FormatSigned writes a number by a verb that shows its sign, with the minus of all other text.
func FormatSigned(verb string, x float64) string {
	return strings.Replace(fmt.Sprintf(verb, x), "-", "−", 1)
}

// FormatCount writes a count for people: "3.10 M".
func FormatCount(n float64) string {
	a := math.Abs(n)
	switch {
	case a < 10000 && n == math.Trunc(n):
		return Thousands(int64(n))
	case a < 999.5:
		return digits(n)
	case a < 999.5e3:
		return digits(n/1e3) + " k"
	case a < 999.5e6:
		return digits(n/1e6) + " M"
	}
	return digits(n/1e9) + " G"
}

// FormatBytes writes a size for people.
func FormatBytes(n float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for math.Abs(n) >= 999.5 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	return digits(n) + " " + units[i]
}

// FormatIn writes a value in a unit as metrics name it: times and sizes in units of
// their own, counts plainly, and whatever else with the source's own word.
func FormatIn(v float64, unit string) string {
	switch unit {
	case "ns":
		return FormatDuration(v)
	case "bytes":
		return FormatBytes(v)
	case "", "count":
		return FormatCount(v)
	}
	return FormatCount(v) + " " + unit
}

// FormatShare writes a share as a percentage. One that would round to nothing, but is
// something, is said to be below what the digits can tell.
func FormatShare(x float64) string {
	switch {
	case x > 0 && x < 0.0005:
		return "< 0.1 %"
	case x < 0 && x > -0.0005:
		return "> -0.1 %"
	}
	return strconv.FormatFloat(x*100, 'f', 1, 64) + " %"
}

// FormatChange writes a difference of shares with its sign, where it is large enough to have one.
func FormatChange(x float64) string {
	switch {
	case x != 0 && math.Abs(x) < 0.0005:
		return FormatShare(math.Abs(x))
	case x > 0:
		return "+" + FormatShare(x)
	case x < 0:
		return "−" + FormatShare(-x)
	}
	return FormatShare(0)
}

// Thousands writes a whole number with commas.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// digits writes three significant digits without an exponent.
func digits(x float64) string {
	a := math.Abs(x)
	switch {
	case a >= 99.95 || a == 0:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}
