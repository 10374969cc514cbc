package vista

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Clause is one clause of a source program: H :- G, … | B, … .
type Clause struct {
	Name string // its head
	// Goals are the procedures that its body calls, such as split/4. Operations of the
	// language itself (true, unification, arithmetic) are no calls. Nil where the text is no
	// clause.
	Goals []string
	File  string
	Line  int
}

// A Program has clauses by their numbers.
type Program map[int64]Clause

// extensions of files next to a trace that may hold its program, in the order of asking.
var extensions = []string{".clauses", ".fghc", ".ghc", ".kl1", ".fcp", ".parlog", ".strand", ".pl", ".pro"}

// mostSource bounds how much of a program is read.
const mostSource = 16 << 20

// readProgram reads the source program of a run: in .clauses a number and a text a line, else
// clauses, which count from 1 on in the order of the file.
func readProgram(run importer.Run) (Program, error) {
	name := run.Companions[0]
	f, err := run.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostSource))
	if err != nil {
		return nil, err
	}
	if path.Ext(name) == ".clauses" {
		return numbered(string(text), name), nil
	}
	return inOrder(string(text), name), nil
}

// numbered reads lines of a number and a text. A text that is no clause is a name.
func numbered(text, file string) Program {
	p, line := Program{}, 0
	for row := range strings.Lines(text) {
		line++
		number, rest, _ := strings.Cut(strings.TrimSpace(row), " ")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			continue
		}
		rest = strings.TrimSpace(rest)
		p[n] = Clause{Name: rest, Line: int(min(n, 1<<30))}
		if whole := sentences(rest); len(whole) == 1 && whole[0].ended {
			p[n] = clauseOf(whole[0], file, line)
		}
	}
	p.tellApart()
	return p
}

// inOrder reads a program as a compiler does.
func inOrder(text, file string) Program {
	p := Program{}
	for _, s := range sentences(text) {
		if s.ended && !isDirective(s.text) {
			p[int64(len(p)+1)] = clauseOf(s, file, s.line)
		}
	}
	p.tellApart()
	return p
}

func isDirective(text string) bool {
	return strings.HasPrefix(text, ":-") || strings.HasPrefix(text, "?-")
}

// clauseOf takes a clause apart: its head is the part before the neck, its body the part
// after the neck, without the guard before the commit bar.
func clauseOf(s sentence, file string, line int) Clause {
	head, rest, _ := cutTop(s.text, ":-")
	if _, body, guarded := cutTop(rest, "|"); guarded {
		rest = body
	}
	c := Clause{Name: strings.Join(strings.Fields(head), " "), Goals: []string{}, File: path.Base(file), Line: line}
	for rest != "" {
		var goal string
		goal, rest, _ = cutTop(rest, ",")
		if name := procedureOf(strings.TrimSpace(goal)); name != "" {
			c.Goals = append(c.Goals, name)
		}
	}
	return c
}

// tellApart adds their numbers to the names of clauses that have the same head.
func (p Program) tellApart() {
	count := map[string]int{}
	for _, c := range p {
		count[c.Name]++
	}
	for n, c := range p {
		if count[c.Name] > 1 && c.Goals != nil {
			c.Name = fmt.Sprintf("%s (clause %d)", c.Name, n)
			p[n] = c
		}
	}
}

// ofLanguage are goals that need no procedure.
var ofLanguage = []string{"true", "otherwise", "fail", "false", "halt", "!"}

// procedureOf names the procedure that a goal calls with the number of its arguments; empty
// where the language itself does it.
func procedureOf(goal string) string {
	open := 0
	for open < len(goal) && (goal[open] == '_' || goal[open] >= 0x80 || isAlphanumeric(goal[open])) {
		open++
	}
	if strings.HasPrefix(goal, "'") {
		open = skipQuoted(goal, 0)
	}
	name, rest := goal[:open], strings.TrimSpace(goal[open:])
	switch {
	case name == "" || slices.Contains(ofLanguage, name) || name[0] >= 'A' && name[0] <= 'Z' || name[0] == '_':
		return ""
	case rest == "" || rest[0] == '@': // a pragma says where it is to run
		return name + "/0"
	case rest[0] != '(':
		return "" // an operator follows
	}
	inside, after, _ := cutTop(rest[1:], ")")
	if after = strings.TrimSpace(after); after != "" && after[0] != '@' {
		return ""
	}
	arguments := 0
	for more := strings.TrimSpace(inside) != ""; more; arguments++ {
		_, inside, more = cutTop(inside, ",")
	}
	return fmt.Sprintf("%s/%d", name, arguments)
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// A sentence is a text up to its full stop, without comments.
type sentence struct {
	text  string
	line  int // of its first character
	ended bool
}

// sentences cuts a program at full stops: points before white space or the end.
func sentences(text string) (out []sentence) {
	var b strings.Builder
	line, first := 1, 0
	put := func(part string) {
		if first == 0 && strings.TrimSpace(part) != "" {
			first = line
		}
		b.WriteString(part)
		line += strings.Count(part, "\n")
	}
	end := func(ended bool) {
		if t := strings.TrimSpace(b.String()); t != "" {
			out = append(out, sentence{t, first, ended})
		}
		b.Reset()
		first = 0
	}
	for i := 0; i < len(text); {
		next := i + 1
		switch c := text[i]; {
		case c == '%' || strings.HasPrefix(text[i:], "/*"):
			next = skipComment(text, i)
			line += strings.Count(text[i:next], "\n")
			b.WriteByte(' ')
		case c == '\'' || c == '"':
			next = skipQuoted(text, i)
			put(text[i:next])
		case c == '.' && (next == len(text) || strings.IndexByte(" \t\r\n%", text[next]) >= 0):
			end(true)
		default:
			put(text[i:next])
		}
		i = next
	}
	end(false)
	return out
}

// skipComment returns the place behind a comment that begins at i; a line's end is no part of it.
func skipComment(text string, i int) int {
	mark, tail := "\n", 0
	if text[i] == '/' {
		mark, tail = "*/", 2
	}
	if n := strings.Index(text[i+1:], mark); n >= 0 {
		return i + 1 + n + tail
	}
	return len(text)
}

// skipQuoted returns the place behind a quoted text that begins at i; a doubled quote is one of it.
func skipQuoted(text string, i int) int {
	for k := i + 1; k < len(text); k++ {
		switch {
		case text[k] == '\\':
			k++
		case text[k] == text[i] && k+1 < len(text) && text[k+1] == text[i]:
			k++
		case text[k] == text[i]:
			return k + 1
		}
	}
	return len(text)
}

// cutTop cuts a text around the first mark that is in no bracket and no quotes.
func cutTop(text, mark string) (before, after string, found bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		if depth == 0 && strings.HasPrefix(text[i:], mark) {
			return text[:i], text[i+len(mark):], true
		}
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '\'', '"':
			i = skipQuoted(text, i) - 1
		}
	}
	return text, "", false
}

// Names makes a program of which no more than the names of clauses is known.
func Names(names map[int64]string) Program {
	p := Program{}
	for n, name := range names {
		p[n] = Clause{Name: name, Line: int(min(n, 1<<30))}
	}
	return p
}

// region of a clause.
func (p Program) region(clause int64) trace.Region {
	c, known := p[clause]
	g := trace.Region{Name: c.Name, Category: "clause", Role: trace.RoleCompute, File: c.File, Line: c.Line}
	if !known || g.Name == "" {
		g.Name, g.Line = fmt.Sprintf("clause %d", clause), int(min(clause, 1<<30))
	}
	if c.Goals != nil {
		g.Attributes = trace.WithGoals(c.Goals)
	}
	return g
}
