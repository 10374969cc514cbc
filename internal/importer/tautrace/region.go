package tautrace

import (
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// regionOf takes the place in the source out of a name: "main int (int, char **) [{ring.cpp} {7,1}-{40,1}]" is line 7
// of ring.cpp.
func regionOf(name, group string) trace.Region {
	r := trace.Region{Name: name, Category: group}
	i := strings.LastIndex(name, " [{")
	if i <= 0 || !strings.HasSuffix(name, "]") {
		return r
	}
	file, rest, ok := strings.Cut(name[i+3:], "}")
	rest, brace := strings.CutPrefix(strings.TrimSpace(rest), "{")
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	line, err := strconv.ParseInt(digits, 10, 32)
	if !ok || !brace || file == "" || err != nil {
		return r
	}
	r.Name, r.File, r.Line = strings.TrimSpace(name[:i]), file, int(line)
	return r
}
