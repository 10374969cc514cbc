// Package words writes numbers and lists of names for people.
package words

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
	case a < 999.5e9:
		return digits(ns/1e9) + " s"
	}
	return Thousands(int64(math.Round(ns/1e9))) + " s"
}

// FormatSigned writes a number by a verb that shows its sign, with the minus of all other text.
func FormatSigned(verb string, x float64) string {
	return strings.Replace(fmt.Sprintf(verb, x), "-", "−", 1)
}

// FormatCount returns a count as text, such as "3.10 M".
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

// FormatBytes returns a size as text, such as 3.1 MiB.
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

// FormatShare writes a share as a percentage. A share that is not 0 but would round to it is written as below the
// smallest one.
func FormatShare(x float64) string {
	switch {
	case x > 0 && x < 0.0005:
		return "< 0.1 %"
	case x < 0 && x > -0.0005:
		return "> -0.1 %"
	}
	return strconv.FormatFloat(x*100, 'f', 1, 64) + " %"
}

// FormatChange writes a difference of shares with its sign, if it is large enough to have one.
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

// NameList names some of the locations: "rank 0, 4, 8–12" if the names differ only in a number at their end, else
// the names; past most pieces it writes how many there are.
func NameList(names []string, members []int32, most int) string {
	prefix, numbers := commonPrefix(names, members)
	var pieces []string
	for i := 0; i < len(members); i++ {
		if numbers == nil {
			pieces = append(pieces, names[members[i]])
			continue
		}
		last := i
		for last+1 < len(members) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		switch {
		case last > i+1:
			pieces = append(pieces, fmt.Sprintf("%d–%d", numbers[i], numbers[last]))
			i = last
		default:
			pieces = append(pieces, strconv.Itoa(numbers[i]))
		}
	}
	if len(pieces) > most {
		pieces = append(pieces[:most], fmt.Sprintf("… (%s in all)", Thousands(int64(len(members)))))
	}
	return prefix + strings.Join(pieces, ", ")
}

// commonPrefix splits names into a common prefix and a number each; nil if they have none.
func commonPrefix(names []string, members []int32) (string, []int) {
	prefix := ""
	numbers := make([]int, 0, len(members))
	for k, m := range members {
		name := names[m]
		if n, ok := numberAfter(name, prefix); ok && k > 0 { // as all before it: nearly always
			numbers = append(numbers, n)
			continue
		}
		stem := strings.TrimRight(name, "0123456789")
		n, err := strconv.Atoi(name[len(stem):])
		if err != nil || k > 0 && stem != prefix || name[len(stem):] != strconv.Itoa(n) {
			return "", nil
		}
		prefix = stem
		numbers = append(numbers, n)
	}
	return prefix, numbers
}

// numberAfter returns the number that all of a name after a prefix is, as it would be written; false if that is
// something else.
func numberAfter(name, prefix string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || digits == "" || len(digits) > 18 || digits[0] == '0' && digits != "0" {
		return 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		n = 10*n + int(digits[i]-'0')
	}
	return n, true
}

// Count writes how many of something there are: "1 location", "1,024 locations".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	plural := "s"
	if strings.HasSuffix(what, "s") || strings.HasSuffix(what, "x") {
		plural = "es"
	}
	return Thousands(int64(n)) + " " + what + plural
}

// Plural returns the word for one or for many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Middle shortens a long name, such as that of a template's instance.
func Middle(name string) string {
	const most = 60
	if i := strings.IndexAny(name, "(<"); i >= 16 && len(name) > most && name[i-1] != ':' {
		name = name[:i] // without arguments it is still known
	}
	r := []rune(name)
	if len(r) <= most {
		return name
	}
	return string(r[:most*2/3]) + "…" + string(r[len(r)-most/3+1:])
}
