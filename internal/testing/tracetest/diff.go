package tracetest

import (
	"fmt"
	"slices"
	"strings"
)

// maxDiff bounds the lines that are compared in detail: the work grows with
// their square.
const maxDiff = 1500

// Diff returns the difference of two dumps, line by line, with "-" before lines only in want and "+" before lines
// only in got; empty if they are equal.
func Diff(want, got string) string {
	if want == got {
		return ""
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	tail := 0
	for tail < min(len(a), len(b))-same && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out strings.Builder
	context := max(0, same-3)
	fmt.Fprintf(&out, "from line %d:\n", context+1)
	for _, s := range a[context:same] {
		fmt.Fprintf(&out, "  %s\n", s)
	}
	for _, s := range diffLines(a[same:len(a)-tail], b[same:len(b)-tail]) {
		out.WriteString(s + "\n")
	}
	for _, s := range a[len(a)-tail : min(len(a), len(a)-tail+3)] {
		fmt.Fprintf(&out, "  %s\n", s)
	}
	return out.String()
}

// diffLines finds a longest common subsequence; far too long inputs are cut and
// the cut is said.
func diffLines(a, b []string) []string {
	cut := ""
	if len(a) > maxDiff || len(b) > maxDiff {
		cut = fmt.Sprintf("  … %d and %d lines differ in all", len(a), len(b))
		a, b = a[:min(len(a), maxDiff)], b[:min(len(b), maxDiff)]
	}
	length := make([][]int, len(a)+1) // of the common subsequence of a[i:] and b[j:]
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if length[i][j] = max(length[i+1][j], length[i][j+1]); a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	var out []string
	for len(a) > 0 || len(b) > 0 {
		i, j := len(length)-1-len(a), len(length[0])-1-len(b)
		switch {
		case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			out, a, b = append(out, "  "+a[0]), a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && length[i+1][j] >= length[i][j+1]:
			out, a = append(out, "- "+a[0]), a[1:]
		default:
			out, b = append(out, "+ "+b[0]), b[1:]
		}
	}
	if cut != "" {
		out = append(out, cut)
	}
	return slices.Clip(out)
}
