package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// usualWidth is the width that logs and most terminals show without breaking lines.
const usualWidth = 80

// width returns the columns that text for people may take: those of the terminal, within readable bounds.
func width(w io.Writer) int {
	if p, ok := w.(plain); ok {
		w = p.w
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return min(max(n, 60), 120)
		}
	}
	return usualWidth
}

// wrapped breaks text at spaces into lines of at most so many columns, each after the
// indent. A number stays with its unit.
func wrapped(text, indent string, columns int) string {
	words := strings.Fields(text)
	for i := 0; i+1 < len(words); {
		if isNumber(words[i]) && isUnit(words[i+1]) {
			words[i] += " " + words[i+1]
			words = append(words[:i+1], words[i+2:]...)
		} else {
			i++
		}
	}
	var b strings.Builder
	at := 0
	for _, w := range words {
		n := utf8.RuneCountInString(w)
		switch {
		case b.Len() == 0:
			b.WriteString(indent)
			at = len(indent)
		case at+1+n > columns:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(w)
		at += n
	}
	return b.String()
}

func isNumber(s string) bool {
	return strings.Trim(s, "(") != "" && strings.Trim(strings.Trim(s, "("), "0123456789.,") == ""
}

func isUnit(s string) bool {
	switch strings.TrimRight(s, ".,;:)") {
	case "%", "s", "ms", "µs", "ns", "k", "×", "min", "h":
		return true
	}
	return false
}

// bar is a share of so many columns, in eighths.
func bar(share float64, columns int) string {
	eighths := int(min(max(share, 0), 1)*float64(8*columns) + 0.5)
	s := strings.Repeat("█", eighths/8)
	if eighths%8 > 0 {
		s += string([]rune(" ▏▎▍▌▋▊▉")[eighths%8])
	}
	return s
}
