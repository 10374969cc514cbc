package scene

import (
	"regexp"
	"strings"
)

// foldings returns shorter and shorter forms of the name of a function or a file. Parts that many names share are
// removed first: arguments of templates and lists of parameters, the return type, directories, then packages and
// namespaces from the left. The distinctive part is at the end and stays:
//
//	void at::native::fill<float>(int, float)   at::native::fill<…>(…), native::fill<…>(…), fill<…>(…)
//	cmd/compile/internal/ssa.(*Func).Compile   ssa.(*Func).Compile, (*Func).Compile
//	aten::mm [64×512] [512×512]                aten::mm […], mm […]
//	MPI_Bcast                                  Bcast
//
// A text of several words is no name and has none; neither has "node1.cluster.org", which
// differs from its sisters at the beginning. The page folds names by the same
// rules (web/src/shell/fold.ts).
func foldings(s string) (out []string) {
	if len(s) > longestFolded {
		return nil
	}
	count := counted.FindString(s)
	now := strings.TrimSuffix(s, count)
	add := func(next string) {
		if next != now && next != "" {
			now = next
			out = append(out, now+count)
		}
	}
	if shapes := shapeList.FindString(now); shapes != "" && shapes != now {
		return foldShapes(strings.TrimSuffix(now, shapes), count)
	}
	name := foldBrackets(now)
	if i := strings.LastIndexByte(outside(name), ' '); i >= 0 {
		if !strings.HasSuffix(name, ")") {
			return nil
		}
		if name = name[i+1:]; name[0] == '(' && !strings.Contains(name, "::") {
			return nil // "thread 7 (python)" returns nothing
		}
	}
	add(name)
	flat := outside(now)
	if end := strings.IndexByte(flat+"(", '('); strings.LastIndexByte(flat[:end], '/') >= 0 {
		add(now[strings.LastIndexByte(flat[:end], '/')+1:])
	}
	for {
		flat = outside(now)
		i := strings.Index(flat, "::")
		if i < 0 || i+2 == len(now) {
			break
		}
		add(now[i+2:])
	}
	for {
		flat = outside(now)
		first, _, ok := strings.Cut(flat, ".")
		if !ok || first == "" || strings.Trim(first, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" ||
			!strings.ContainsAny(now[len(first):], "ABCDEFGHIJKLMNOPQRSTUVWXYZ(") {
			// a host or a file begins with its distinctive part
			break
		}
		add(now[len(first)+1:])
	}
	add(now[len(libraryPrefix.FindString(now)):])
	return out
}

// libraryPrefix is what all calls of a library begin with; a short call "Send" is known without it.
var libraryPrefix = regexp.MustCompile(`^P?MPI_`)

// longestFolded bounds the bytes of a name to fold: a longer one is cut as any text is.
const longestFolded = 4096

// shapeList is the shapes that an operator was called with, behind its name.
var shapeList = regexp.MustCompile(`( \[[0-9×]+\])+$`)

// foldShapes returns the forms of an operator whose shapes give way before its name.
func foldShapes(operator, count string) (out []string) {
	for _, form := range append([]string{operator}, foldings(operator)...) {
		out = append(out, form+" […]"+count)
	}
	return out
}

// counted is how many a row stands for, behind its name.
var counted = regexp.MustCompile(` \([0-9,]+\)$`)

// foldBrackets replaces the text in <>, and in () after a name, by an ellipsis.
func foldBrackets(s string) string {
	var b strings.Builder
	depth, open := 0, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case depth == 0 && (c == '<' || c == '(') && i > 0 && afterName(s[i-1]) && closes(s[i:]):
			depth, open = 1, c
			if s[i+1] == closing(c) { // nothing in it
				depth = 0
				b.WriteString(s[i : i+2])
				i++
				continue
			}
			b.WriteByte(c)
			b.WriteString("…")
		case depth == 0:
			b.WriteByte(c)
		case c == open:
			depth++
		case c == closing(open) && !(c == '>' && s[i-1] == '-'):
			if depth--; depth == 0 {
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

func closing(open byte) byte {
	if open == '<' {
		return '>'
	}
	return ')'
}

// closes reports whether the bracket that a text begins with is closed in it.
func closes(s string) bool {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			depth++
		case s[i] == closing(s[0]) && !(s[i] == '>' && s[i-1] == '-'):
			if depth--; depth == 0 {
				return true
			}
		}
	}
	return false
}

func afterName(c byte) bool {
	return c == '_' || c == '>' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// outside returns a text with the bytes in brackets blanked out.
func outside(s string) string {
	b := []byte(s)
	depth := 0
	for i, c := range b {
		switch c {
		case '(', '<', '[', '{':
			if depth++; depth > 1 {
				b[i] = 'x'
			}
		case ')', '>', ']', '}':
			if depth > 1 {
				b[i] = 'x'
			}
			depth = max(depth-1, 0)
		default:
			if depth > 0 {
				b[i] = 'x'
			}
		}
	}
	return string(b)
}
