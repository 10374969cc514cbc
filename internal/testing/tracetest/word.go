package tracetest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A word is one part of a line: plain text, or key=text.
type word struct {
	key    string
	text   string
	keyed  bool
	quoted bool // the text was in quotes
}

// words splits a line at blanks outside quotes; a "#" after a blank ends it.
func words(line string) ([]word, error) {
	var out []word
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" || line == "#" || strings.HasPrefix(line, "# ") {
			return out, nil
		}
		var w word
		var err error
		if w.text, w.quoted, line, err = piece(line, true); err != nil {
			return nil, err
		}
		if rest, ok := strings.CutPrefix(line, "="); ok {
			w.key, w.keyed = w.text, true
			if w.text, w.quoted, line, err = piece(rest, false); err != nil {
				return nil, err
			}
		}
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			return nil, fmt.Errorf("want a blank before %q", line)
		}
		out = append(out, w)
	}
}

// piece takes a quoted or plain text off the line; a plain one before "=" is a key.
func piece(line string, mayBeKey bool) (text string, quoted bool, rest string, err error) {
	if strings.HasPrefix(line, `"`) {
		q, err := strconv.QuotedPrefix(line)
		if err != nil {
			return "", false, "", fmt.Errorf("quoted text %s: %w", line, err)
		}
		text, err = strconv.Unquote(q)
		return text, true, line[len(q):], err
	}
	stop := " \t"
	if mayBeKey {
		stop = " \t="
	}
	n := strings.IndexAny(line, stop)
	if n < 0 {
		n = len(line)
	}
	return line[:n], false, line[n:], nil
}

// quote writes a name so that words reads it back as one plain word.
func quote(name string) string {
	if name == "" || name == "->" || name == "-" || strings.HasPrefix(name, "#") || name[0] >= '0' && name[0] <= '9' ||
		name[0] == '!' {
		return strconv.Quote(name)
	}
	for _, r := range name {
		if r == '"' || r == '=' || r == '\\' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return strconv.Quote(name)
		}
	}
	return name
}

// value reads the value of an attribute: quoted text stays text.
func (w word) value() trace.Value {
	if !w.quoted {
		if i, err := strconv.ParseInt(w.text, 10, 64); err == nil {
			return trace.Integer(i)
		}
		if f, err := strconv.ParseFloat(w.text, 64); err == nil {
			return trace.Number(f)
		}
	}
	return trace.Text(w.text)
}

// writeValue is the inverse of value.
func writeValue(v trace.Value) string {
	s := v.String()
	switch v.Kind {
	case trace.ValueInteger:
		return s
	case trace.ValueNumber:
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0"
		}
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil || strings.ContainsAny(s, "\"\\") || quote(s) != s {
		return strconv.Quote(s)
	}
	return s
}

// parseTime reads nanoseconds, or a number with a unit.
func parseTime(s string) (trace.Time, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return trace.Time(i), nil
	}
	number := strings.TrimRight(s, "munsµ")
	scale := map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}[s[len(number):]]
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || scale == 0 {
		return 0, fmt.Errorf("time %q: want nanoseconds or a number with a unit, such as 1.5ms", s)
	}
	return trace.Time(f * scale), nil
}

// parseRange reads "begin..end".
func parseRange(s string) (begin, end trace.Time, err error) {
	a, b, ok := strings.Cut(s, "..")
	if !ok {
		return 0, 0, fmt.Errorf("range %q: want begin..end", s)
	}
	if begin, err = parseTime(a); err != nil {
		return 0, 0, err
	}
	end, err = parseTime(b)
	return begin, end, err
}
