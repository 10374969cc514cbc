package tau

import (
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// samplings are TAU's prefixes of names that its sampling made.
var samplings = []string{"[SAMPLE]", "[CONTEXT]", "[UNWIND]", "[INTERMEDIATE]", "[SUMMARY]"}

// regionOf takes the place in the source out of a name:
// "MPBT [{bt.f} {45,8}-{279,10}]" is MPBT in line 45 of bt.f.
func regionOf(name, group string) trace.Region {
	r := trace.Region{Name: name, Category: group}
	for _, s := range samplings {
		if strings.HasPrefix(name, s) {
			r.Attributes = append(r.Attributes,
				trace.Attribute{Key: "sampled", Value: trace.Text(strings.ToLower(strings.Trim(s, "[]")))})
			r.Role = trace.RoleOf(strings.TrimSpace(name[len(s):]), group)
		}
	}
	i := strings.LastIndex(name, " [{")
	if i <= 0 || !strings.HasSuffix(name, "]") {
		return r
	}
	file, rest, ok := strings.Cut(name[i+3:], "}")
	rest, brace := strings.CutPrefix(strings.TrimSpace(rest), "{")
	if !ok || !brace || file == "" {
		return r
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	line, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return r
	}
	r.Name, r.File, r.Line = strings.TrimSpace(name[:i]), file, int(line)
	if _, to, ok := strings.Cut(rest, "}-{"); ok {
		end, _, _ := strings.Cut(to, ",")
		if n, err := strconv.ParseInt(strings.TrimRight(end, "}]"), 10, 32); err == nil {
			r.Attributes = append(r.Attributes, trace.Attribute{Key: "end line", Value: trace.Integer(n)})
		}
	}
	return r
}
