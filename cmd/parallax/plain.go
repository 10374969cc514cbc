package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// plain writes text for people. Names come from files: characters in them that would drive a terminal (move its
// cursor, clear it, turn the direction of writing) are escaped as \x1b or \u202e. Each write must hold whole
// characters.
type plain struct{ w io.Writer }

func (p plain) Write(b []byte) (int, error) {
	if strings.IndexFunc(string(b), drivesTerminal) < 0 {
		return p.w.Write(b)
	}
	var out strings.Builder
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case !drivesTerminal(r):
			out.Write(b[i : i+n])
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		i += n
	}
	if _, err := io.WriteString(p.w, out.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}

func drivesTerminal(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f
}
