package compare

import "strings"

// Plain returns a name without template arguments, parameters and prefixes before the name itself: two
// versions of a compiler, or of a library, write those differently.
func Plain(name string) string {
	if strings.HasSuffix(name, ")") || strings.HasSuffix(name, ") const") {
		// Parameters end at the last closing bracket; those inside template arguments go with them.
		depth := 0
		for i := strings.LastIndexByte(name, ')'); i >= 0; i-- {
			switch name[i] {
			case ')':
				depth++
			case '(':
				depth--
			}
			if depth == 0 {
				if i > 0 {
					name = name[:i]
				}
				break
			}
		}
	}
	var b strings.Builder
	depth := 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '<' && i > 0 && !strings.HasSuffix(name[:i], "operator") && !strings.HasSuffix(name[:i], "operator<"):
			depth++
		case c == '>' && depth > 0:
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return strings.TrimPrefix(strings.TrimSpace(b.String()), "void ")
}

// likeness of two names: the share of pairs of neighbouring letters that they have in
// common (Dice). 1 is equal.
func likeness(a, b string) float64 {
	pairs := func(s string) map[[2]byte]int {
		s = strings.ToLower(s)
		out := map[[2]byte]int{}
		for i := 1; i < len(s); i++ {
			out[[2]byte{s[i-1], s[i]}]++
		}
		return out
	}
	x, y := pairs(a), pairs(b)
	common := 0
	for p, n := range x {
		common += min(n, y[p])
	}
	if n := len(a) + len(b) - 2; n > 0 {
		return 2 * float64(common) / float64(n)
	}
	return 0
}
