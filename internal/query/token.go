package query

import "strings"

// A tokenKind is a kind of part of a statement.
type tokenKind uint8

const (
	word      tokenKind = iota // keyword, plain name or number
	named                      // a name in quotes
	literal                    // a text
	parameter                  // ?, ?1, :a, @a, $a
	sign                       // any other character
)

// A token is a part of a statement as the engine takes it apart. Names and strings are without their quotes.
type token struct {
	kind tokenKind
	text string
}

// is reports whether a token is a keyword or sign, which is given in small letters.
func (t token) is(text string) bool {
	return (t.kind == word || t.kind == sign) && strings.EqualFold(t.text, text)
}

// tokens takes a statement apart, without blanks and comments.
func tokens(text string) (out []token) {
	for i := 0; i < len(text); {
		c, rest := text[i], text[i:]
		switch {
		case strings.IndexByte(" \t\n\f\r", c) >= 0:
			i++
		case strings.HasPrefix(rest, "\ufeff"):
			i += len("\ufeff")
		case strings.HasPrefix(rest, "--"):
			i += until(rest, "\n", 2)
		case strings.HasPrefix(rest, "/*"):
			i += until(rest, "*/", 2)
		case c == '\'' || c == '"' || c == '`' || c == '[':
			n, inner := quoted(rest)
			kind := named
			if c == '\'' {
				kind = literal
			}
			out = append(out, token{kind, inner})
			i += n
		default:
			n, kind := 0, sign
			switch {
			case strings.IndexByte("?:@", c) >= 0, c == '$' && len(rest) > 1:
				n, kind = 1, parameter
			case wordly(c):
				kind = word
			}
			for kind != sign && n < len(rest) && wordly(rest[n]) {
				n++
			}
			n = max(n, 1)
			out = append(out, token{kind, rest[:n]})
			i += n
		}
	}
	return out
}

// quoted reads a text or name in quotes: its length with them, and the text between.
func quoted(text string) (length int, inner string) {
	if text[0] == '[' {
		length = until(text, "]", 1)
		return length, strings.TrimSuffix(text[1:length], "]")
	}
	mark := text[:1]
	for length = 1; ; {
		at := strings.Index(text[length:], mark)
		if at < 0 { // the engine says that it does not end
			return len(text), text[1:]
		}
		if length += at + 1; !strings.HasPrefix(text[length:], mark) {
			return length, strings.ReplaceAll(text[1:length-1], mark+mark, mark)
		}
		length++ // a doubled mark is one of the text
	}
}
