package trace

import (
	"cmp"
	"strings"
)

// CompareNatural orders names as people do: "rank 2" before "rank 10". Runs of
// digits compare by value, everything else by bytes; "1" comes before "01".
func CompareNatural(a, b string) int {
	whole := strings.Compare(a, b)
	for len(a) > 0 && len(b) > 0 {
		na, nb := digitRun(a), digitRun(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if len(x) != len(y) {
				return cmp.Compare(len(x), len(y))
			}
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return -whole
}

// digitRun returns the number of digits s begins with.
func digitRun(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
