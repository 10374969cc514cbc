package compare

import (
	"regexp"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Names hold things that are others in every run, beside those that trace.FoldName knows: the number of a step, the
// id of a process, a hash. They are replaced by …, so that runs can be told apart by their work.
var changing = []struct{ what, by *regexp.Regexp }{
	// address of a function without a name
	{what: regexp.MustCompile(`\b0x[0-9a-fA-F]+\b`)},
	// number of a step
	{
		what: regexp.MustCompile(
			`(?i)((?:\b|_)(?:step|iter|iteration|epoch|batch|frame|timestep|cycle|request|task)s?[ _#:=-]*)\d+`,
		),
	},
	// ProfilerStep#12
	{what: regexp.MustCompile(`([A-Za-z_]#)\d+`)},
	// id
	{
		what: regexp.MustCompile(
			`(?i)(\b(?:pid|tid|thread|process|port|worker|rank|session|conn|fd|job|handle)(?:[ _-]?id)?[ #:=]+)\d+`,
		),
	},
	// hash
	{what: regexp.MustCompile(`(^|[^0-9A-Za-z])(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{6,}([^0-9A-Za-z]|$)`),
		by: regexp.MustCompile(`[0-9].*[a-f]|[a-f].*[0-9]`)},
	// port
	{what: regexp.MustCompile(`(:)\d{4,5}\b`)},
}

// numbered is an annotation with a number at its end: ProfilerStep#12.
var numbered = regexp.MustCompile(`^(.*?[^0-9])\d+$`)

// Canonical returns a name without the parts that change from run to run.
func Canonical(name string, role trace.Role) string {
	name = trace.FoldName(name)
	for i := range changing {
		if x := &changing[i]; x.by == nil || x.by.MatchString(name) {
			switch x.what.NumSubexp() {
			case 0:
				name = x.what.ReplaceAllString(name, "…")
			case 1:
				name = x.what.ReplaceAllString(name, "${1}…")
			default:
				name = x.what.ReplaceAllString(name, "${1}…${2}")
			}
		}
	}
	if role == trace.RoleAnnotation {
		name = numbered.ReplaceAllString(name, "${1}…")
	}
	return name
}

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
