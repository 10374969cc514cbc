package formula

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A UI is the other half of a layout file: not where things lie, but how the picture is controlled. It
// names the layout's events, binds them unless the user does, and sets how a view begins:
//
//	BEGIN_UI=4P×16Block
//	event0=MPI_Allreduce:exclusive
//	event0.name=time waiting in reductions
//	shape=spheres
//	point=1.5
//	END_UI
//
// The name is that of the layout it belongs to, or * for all of the file. A "#" before
// each of the lines is allowed: tools that do not know them read comments.
type UI struct {
	Name string
	Line int // of BEGIN_UI
	// Label of event0 … event3, for people; or empty.
	Label [4]string
	// Defaults of options by name, as the user would write them: event0 … event3, and
	// those of UIOptions.
	Defaults map[string]string
}

// UIOptions are the settings of a UI besides the events, each an option of the view of topologies.
var UIOptions = []string{"shape", "point", "detail", "axes", "key", "traffic", "cores", "numbering", "range", "min",
	"max", "slice", "camera", "palette"}

var (
	beginUI = regexp.MustCompile(`^#?\s*BEGIN_UI\s*=(.*)$`)
	endUI   = regexp.MustCompile(`^#?\s*END_UI\s*$`)
)

// mostUI bounds how many there are in a file.
const mostUI = 1000

// takeUI reads the UI blocks and blanks their lines, so that later passes do not see them and line numbers
// stay.
func takeUI(p *parser, lines []string, strict bool) (out []string, uis []*UI, warnings []string, err *Error) {
	out = lines
	for i := 0; i < len(lines); i++ {
		m := beginUI.FindStringSubmatch(strings.TrimSpace(lines[i]))
		if m == nil {
			continue
		}
		if len(uis) == 0 {
			out = slices.Clone(lines)
		}
		end := i + 1
		for end < len(lines) && !endUI.MatchString(strings.TrimSpace(lines[end])) &&
			!beginAny.MatchString(lines[end]) && !beginUI.MatchString(strings.TrimSpace(lines[end])) {
			end++
		}
		u, bad := readUI(p, strings.TrimSpace(m[1]), lines, i, end)
		if end >= len(lines) || !endUI.MatchString(strings.TrimSpace(lines[end])) {
			open := p.fail(Unterminated, token{line: i + 1, column: 1}, "close it with END_UI",
				"the UI of %q does not end", u.Name)
			bad = append([]*Error{open}, bad...)
			end--
		}
		if len(uis) >= mostUI {
			bad = append(bad,
				p.fail(TooLarge, token{line: i + 1, column: 1}, "", "there are more than %d UI blocks", mostUI))
		}
		if len(bad) > 0 && strict {
			return nil, nil, nil, bad[0]
		}
		for _, e := range bad {
			warnings = append(warnings, e.Error())
		}
		for k := i; k <= end; k++ {
			out[k] = ""
		}
		if len(uis) < mostUI {
			uis = append(uis, u)
		}
		i = end
	}
	return out, uis, warnings, nil
}

// readUI reads the lines between from and end.
func readUI(p *parser, name string, lines []string, from, end int) (u *UI, bad []*Error) {
	u = &UI{Name: name, Line: from + 1, Defaults: map[string]string{}}
	fail := func(k int, hint, format string, args ...any) {
		bad = append(bad, p.fail(Syntax, token{line: k + 1, column: 1}, hint, format, args...))
	}
	if name == "" {
		fail(from, "BEGIN_UI=name of the layout, or *", "the UI block has no name")
	}
	for k := from + 1; k < end; k++ {
		line := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines[k]), "#"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if !ok {
			fail(k, "a line is KEY=VALUE", "%q sets nothing", line)
			continue
		}
		if event, isLabel := strings.CutSuffix(key, ".name"); isLabel {
			if n := eventNumber(event); n >= 0 {
				u.Label[n] = value
				continue
			}
		}
		if eventNumber(key) < 0 && !slices.Contains(UIOptions, key) {
			fail(k, "there are event0 … event3, event0.name … event3.name, "+strings.Join(UIOptions, ", "),
				"a UI cannot set %q", key)
			continue
		}
		u.Defaults[key] = value
	}
	return u, bad
}

// eventNumber returns 0 … 3 of "event0" … "event3", else -1.
func eventNumber(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "event"))
	if err != nil || !strings.HasPrefix(name, "event") || n < 0 || n > 3 || len(name) != 6 {
		return -1
	}
	return n
}

// joinUI gives each layout its UI: one of its name before one for all.
func joinUI(p *parser, layouts []*Layout, uis []*UI, strict bool) (warnings []string, err *Error) {
	for _, u := range uis {
		known := u.Name == "*"
		for _, l := range layouts {
			if u.Name == l.Name || u.Name == "*" && l.UI == nil {
				l.UI = u
				known = true
			}
		}
		if !known {
			e := p.fail(Missing, token{line: u.Line, column: 1}, "give it the name of a block of this file",
				"there is no layout %q for this UI", u.Name)
			if strict {
				return nil, e
			}
			warnings = append(warnings, e.Error())
		}
	}
	return warnings, nil
}
