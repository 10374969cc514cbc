package findings

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/view"
)

// capital begins a sentence; names of one word keep their own spelling.
func capital(s string) string {
	if !strings.HasPrefix(s, "rank") {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// capitalWord begins a sentence with a word of ours.
func capitalWord(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// in names regions: " in MPI_Waitall and MPI_Allreduce".
func in(names []string) string {
	for i, n := range names {
		names[i] = middle(n)
	}
	if len(names) == 0 {
		return ""
	}
	return " in " + strings.Join(names, " and ")
}

// between writes a range with the unit once: "3.60 to 31.6 ms".
func between(low, high float64) string {
	a, b := view.FormatDuration(low), view.FormatDuration(high)
	x, unit, _ := strings.Cut(a, " ")
	if _, same, ok := strings.Cut(b, " "); ok && same == unit {
		return x + " to " + b
	}
	return a + " to " + b
}

// others says how many of all others: "all 15 others", "4 of the 63 others".
func others(n, all int) string {
	switch {
	case n >= all && all == 1:
		return "the other one"
	case n >= all:
		return "the other " + view.Thousands(int64(all))
	}
	return fmt.Sprintf("%s of the other %s", view.Thousands(int64(n)), view.Thousands(int64(all)))
}

// middle shortens a long name, such as that of a template's instance.
func middle(name string) string {
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
