package formula

import (
	"slices"
	"strings"
)

// doubleSigns are signs of two characters; a single = assigns.
var doubleSigns = []string{"==", "!=", "<=", ">=", "&&", "||"}

type tokenKind uint8

const (
	endToken tokenKind = iota
	numberToken
	nameToken
	keyToken // the argument of metadata(…), as written
	signToken
)

type token struct {
	kind         tokenKind
	text         string
	line, column int
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// tokens cuts the body of a block, whose first line has the number line.
func tokens(body []string, line int) (out []token, err *Error) {
	for k, text := range body {
		for i := 0; i < len(text); {
			c := text[i]
			t := token{line: line + k, column: i + 1}
			switch {
			case c == ' ' || c == '\t' || c == '\r':
				i++
				continue
			case c == '#':
				i = len(text)
				continue
			case isDigit(c) || c == '.' && i+1 < len(text) && isDigit(text[i+1]):
				n := numberLength(text[i:])
				t.kind, t.text = numberToken, text[i:i+n]
			case isLetter(c):
				n := nameLength(text[i:])
				t.kind, t.text = nameToken, text[i:i+n]
			case i+1 < len(text) && slices.Contains(doubleSigns, text[i:i+2]):
				t.kind, t.text = signToken, text[i:i+2]
			case strings.IndexByte("+-*/^(),=<>!", c) >= 0:
				t.kind, t.text = signToken, text[i:i+1]
			default:
				return nil,
					&Error{Kind: Syntax, Line: t.line, Column: t.column,
						Text: "character " + quote(text[i:]) + " has no meaning here", source: text}
			}
			i += len(t.text)
			out = append(out, t)
			if key, n := metadataKey(out, text[i:]); n > 0 {
				out = append(out, token{keyToken, key, t.line, i + 1})
				i += n
			}
			if len(out) > mostTokens {
				return nil,
					&Error{Kind: TooLarge, Line: t.line, Column: t.column, Text: "the layout is too long", source: text}
			}
		}
	}
	return out, nil
}

// metadataKey reads the text in the parentheses of metadata(…) as it is: keys have blanks and signs.
func metadataKey(out []token, rest string) (string, int) {
	if len(out) < 2 || out[len(out)-1].text != "(" || !strings.EqualFold(out[len(out)-2].text, "metadata") {
		return "", 0
	}
	end := strings.IndexByte(rest, ')')
	if end < 0 {
		return "", 0
	}
	return strings.Trim(strings.TrimSpace(rest[:end]), `"'`), end
}

func quote(s string) string {
	for i := range s {
		if i > 0 {
			return "\"" + s[:i] + "\""
		}
	}
	return "\"" + s + "\""
}

// numberLength is that of digits [ "." [ digits ] ] [ exponent ] | "." digits [ exponent ].
func numberLength(s string) int {
	i := 0
	digits := func() {
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	digits()
	if i < len(s) && s[i] == '.' {
		i++
		digits()
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			i = j
			digits()
		}
	}
	return i
}

// nameLength is that of a name with parts joined by dots.
func nameLength(s string) int {
	i := 0
	for i < len(s) {
		switch {
		case isLetter(s[i]), i > 0 && isDigit(s[i]):
			i++
		case s[i] == '.' && i > 0 && i+1 < len(s) && isLetter(s[i+1]):
			i += 2
		default:
			return i
		}
	}
	return i
}
