package ctf

import (
	"fmt"
	"strconv"
	"strings"
)

// A token of TSDL. Words, numbers, strings, and signs of one to three characters.
type token struct {
	kind tokenKind
	text string
	line int
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenNumber
	tokenText
	tokenSign
)

// lex cuts metadata into tokens.
func lex(b []byte) ([]token, error) {
	var out []token
	line := 1
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == 0:
			i++
		case c == '/' && i+1 < len(b) && b[i+1] == '*':
			end := i + 2
			for end+1 < len(b) && (b[end] != '*' || b[end+1] != '/') {
				if b[end] == '\n' {
					line++
				}
				end++
			}
			if end+1 >= len(b) {
				return out, fmt.Errorf("line %d: a comment does not end", line)
			}
			i = end + 2
		case c == '/' && i+1 < len(b) && b[i+1] == '/':
			for i < len(b) && b[i] != '\n' {
				i++
			}
		case c == '"' || c == '\'':
			text, n, ok := quoted(b[i:])
			if !ok {
				return out, fmt.Errorf("line %d: a text does not end", line)
			}
			out = append(out, token{tokenText, text, line})
			i += n
		case isWord(c) && (c < '0' || c > '9'):
			end := i
			for end < len(b) && isWord(b[end]) {
				end++
			}
			out = append(out, token{tokenWord, string(b[i:end]), line})
			i = end
		case c >= '0' && c <= '9':
			end := i
			for end < len(b) && isWord(b[end]) {
				end++
			}
			out = append(out, token{tokenNumber, string(b[i:end]), line})
			i = end
		default:
			sign := string(c)
			for _, long := range []string{"...", ":=", "->"} {
				if strings.HasPrefix(string(b[i:min(i+3, len(b))]), long) {
					sign = long
				}
			}
			if !strings.Contains("{}[]()<>;:,.=*+-:=...->", sign) {
				return out, fmt.Errorf("line %d: %q is no part of the language", line, sign)
			}
			out = append(out, token{tokenSign, sign, line})
			i += len(sign)
		}
	}
	return append(out, token{tokenEnd, "", line}), nil
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// quoted reads a text with its escapes, and how many bytes it takes.
func quoted(b []byte) (string, int, bool) {
	var out []byte
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == b[0]:
			return string(out), i + 1, true
		case c == '\n':
			return "", 0, false
		case c == '\\' && i+1 < len(b):
			i++
			switch b[i] {
			case 'n':
				out = append(out, '\n')
			case 't':
				out = append(out, '\t')
			default:
				out = append(out, b[i])
			}
		default:
			out = append(out, c)
		}
	}
	return "", 0, false
}

// number reads an integer as C writes it; wide where it needs 64 bits without a sign.
func number(s string) (v int64, wide bool, ok bool) {
	s = strings.TrimRight(s, "uUlL")
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return n, false, true
	}
	n, err := strconv.ParseUint(s, 0, 64)
	return int64(n), true, err == nil
}
