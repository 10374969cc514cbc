package formula

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	beginLine = regexp.MustCompile(`^BEGIN_VIZ\s*=(.*)$`)
	beginAny  = regexp.MustCompile(`^\s*BEGIN_VIZ\b`)
	eventName = regexp.MustCompile(`^event\d+(\.|$)`)
)

// readOnly are names that a layout cannot set.
var readOnly = map[string]bool{"rank": true, "maxrank": true, "lastrank": true, "node": true, "context": true,
	"thread": true}

// Parse reads a layout file strictly: the first fault is an error.
func Parse(text string) ([]*Layout, error) {
	layouts, warnings, err := parse(text, true)
	if err != nil {
		return nil, err
	}
	_ = warnings // none in strict mode
	return layouts, nil
}

// ParseCompatible reads a file as ParaProf does: a second block of a name is
// renamed, lines that are no assignment and blocks that do not parse are left out;
// each is said in the warnings.
func ParseCompatible(text string) (layouts []*Layout, warnings []string, err error) {
	return parse(text, false)
}

func parse(text string, strict bool) (layouts []*Layout, warnings []string, err error) {
	if len(text) > mostBytes {
		return nil, nil, &Error{Kind: TooLarge, Line: 1, Column: 1, Text: "the file is larger than a layout may be"}
	}
	lines := strings.Split(text, "\n")
	p := &parser{lines: lines}
	lines, uis, warnings, bad := takeUI(p, lines, strict)
	if bad != nil {
		return nil, nil, bad
	}
	at := func(line int) token { return token{line: line + 1, column: 1} }
	names := map[string]bool{}
	outside, firstOutside := 0, 0 // lines outside of blocks
	for i := 0; i < len(lines); {
		s := strings.TrimSpace(lines[i])
		first := i
		i++
		if s == "" || strings.HasPrefix(s, "#") {
			continue
		}
		m := beginLine.FindStringSubmatch(s)
		if m == nil || strings.TrimSpace(m[1]) == "" {
			if strict {
				return nil, nil, p.fail(Syntax, at(first), "blocks begin with BEGIN_VIZ=name", "a block is wanted here")
			}
			if outside++; outside == 1 {
				firstOutside = first + 1
			}
			continue
		}
		name := strings.TrimSpace(m[1])
		end := i
		for end < len(lines) && strings.TrimSpace(lines[end]) != "END_VIZ" && !beginAny.MatchString(lines[end]) {
			end++
		}
		if end >= len(lines) || strings.TrimSpace(lines[end]) != "END_VIZ" {
			e := p.fail(Unterminated, at(first), "close it with END_VIZ", "block %q does not end", name)
			if strict {
				return nil, nil, e
			}
			warnings = append(warnings, e.Error())
			i = end
			continue
		}
		body := lines[i:end]
		if !strict {
			body, warnings = withoutJunk(body, i, warnings)
		}
		l, e := p.block(name, body, i+1)
		if e == nil && names[name] {
			if strict {
				e = p.fail(Duplicate, at(first), "give it another name", "a block %q is there already", name)
			} else {
				l.Name = unused(names, name)
				warnings = append(warnings,
					fmt.Sprintf("line %d: a second block %q is called %q", first+1, name, l.Name))
			}
		}
		switch {
		case e != nil && strict:
			return nil, nil, e
		case e != nil:
			warnings = append(warnings, fmt.Sprintf("block %q is left out: %v", name, e))
		default:
			names[l.Name] = true
			layouts = append(layouts, l)
		}
		i = end + 1
	}
	more, bad := joinUI(p, layouts, uis, strict)
	if bad != nil {
		return nil, nil, bad
	}
	switch {
	case outside == 1:
		warnings = append(warnings, fmt.Sprintf("line %d stands outside of blocks and is skipped", firstOutside))
	case outside > 1:
		warnings = append(warnings,
			fmt.Sprintf("%d lines stand outside of blocks and are skipped, the first is line %d", outside,
				firstOutside))
	}
	return layouts, few(append(warnings, more...)), nil
}

// mostWarnings is how many a reader wants to see of one file.
const mostWarnings = 20

func few(warnings []string) []string {
	if n := len(warnings) - mostWarnings; n > 0 {
		return append(warnings[:mostWarnings:mostWarnings], fmt.Sprintf("and %d more", n))
	}
	return warnings
}

// withoutJunk blanks lines that can be no part of an assignment: no "=", and not a
// continuation of the line before.
func withoutJunk(body []string, first int, warnings []string) ([]string, []string) {
	out := append([]string{}, body...)
	for k, line := range out {
		s := strings.TrimSpace(line)
		if s == "" || strings.Contains(s, "=") || strings.HasPrefix(s, "#") {
			continue
		}
		before := ""
		if k > 0 {
			before = strings.TrimSpace(out[k-1])
		}
		continues := strings.ContainsAny(s[:1], "+-*/^)(,<>!&|") ||
			before != "" && strings.ContainsAny(before[len(before)-1:], "+-*/^(,=<>!&|")
		if !continues {
			out[k] = ""
			warnings = append(warnings, fmt.Sprintf("line %d is no assignment and is skipped", first+k+1))
		}
	}
	return out, warnings
}

func unused(names map[string]bool, name string) string {
	for n := 2; ; n++ {
		if s := fmt.Sprintf("%s (%d)", name, n); !names[s] {
			return s
		}
	}
}

// block compiles the body of a block that begins on a line.
func (p *parser) block(name string, body []string, line int) (*Layout, *Error) {
	t, err := tokens(body, line)
	if err != nil {
		return nil, err
	}
	p.tokens, p.i, p.depth = t, 0, 0
	l := &Layout{Name: name, Line: line - 1, Points: 1}
	if l.statements, err = p.parseStatements(); err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for _, s := range l.statements {
		if readOnly[s.name] || eventName.MatchString(s.name) {
			return nil, p.fail(ReadOnly, s.at, "use another name", "%s is given and cannot be set", s.at.named())
		}
		set[s.name] = true
	}
	if !set["x"] && set["x0"] {
		l.numbered = true
		for l.Points = 1; set[fmt.Sprintf("x%d", l.Points)]; l.Points++ {
		}
	}
	for k := range l.Points {
		for _, axis := range []string{"x", "y", "z"} {
			if n := l.axis(axis, k); !set[n] {
				return nil,
					p.fail(Missing, token{line: line - 1, column: 1}, "a layout sets x, y and z",
						"block %q does not set %s", name, n)
			}
		}
	}
	return l, nil
}

// axis is the name that holds a coordinate of the k-th point.
func (l *Layout) axis(name string, k int) string {
	if l.numbered {
		return fmt.Sprintf("%s%d", name, k)
	}
	return name
}
