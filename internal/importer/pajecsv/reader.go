package pajecsv

import (
	"bufio"
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// dumped are the fields of pj_dump's lines, by their first.
var dumped = map[string][]string{
	"Container": {"Nature", "Container", "Type", "Start", "End", "Duration", "Name"},
	"State":     {"Nature", "Container", "Type", "Start", "End", "Duration", "Depth", "Value"},
	"Event":     {"Nature", "Container", "Type", "Start", "Value"},
	"Variable":  {"Nature", "Container", "Type", "Start", "End", "Duration", "Value"},
	"Link":      {"Nature", "Container", "Type", "Start", "End", "Duration", "Value", "Origin", "Dest", "Key"},
}

// synonyms are other names that tables use for a column.
var synonyms = map[string]string{"ResourceId": "Container", "Imbrication": "Depth", "StartContainer": "Origin",
	"EndContainer": "Dest"}

// split cuts a line at its commas; blanks around a field do not count, and a field in
// quotes keeps its commas. into is used again.
func split(line string, into []string) []string {
	into = into[:0]
	for {
		line = strings.TrimLeft(line, " \t")
		if strings.HasPrefix(line, `"`) {
			text, rest := unquote(line[1:])
			into = append(into, text)
			_, after, more := strings.Cut(rest, ",")
			if !more {
				return into
			}
			line = after
			continue
		}
		field, rest, more := strings.Cut(line, ",")
		into = append(into, strings.TrimRight(field, " \t"))
		if !more {
			return into
		}
		line = rest
	}
}

// unquote reads up to the closing quote; two quotes are one.
func unquote(s string) (text, rest string) {
	from := 0
	for {
		i := strings.IndexByte(s[from:], '"')
		if i < 0 {
			return strings.ReplaceAll(s, `""`, `"`), ""
		}
		i += from
		if i+1 < len(s) && s[i+1] == '"' {
			from = i + 2
			continue
		}
		return strings.ReplaceAll(s[:i], `""`, `"`), s[i+1:]
	}
}

// columns maps the names of a table's columns to their places.
type columns struct {
	names []string
	at    map[string]int
}

func newColumns(names []string) *columns {
	c := &columns{names: append([]string(nil), names...), at: map[string]int{}}
	for i, n := range c.names {
		if s, ok := synonyms[n]; ok {
			n = s
			c.names[i] = n
		}
		if _, taken := c.at[n]; !taken {
			c.at[n] = i
		}
	}
	return c
}

// get returns a field of a line, empty if there is none.
func (c *columns) get(fields []string, name string) string {
	if i, ok := c.at[name]; ok && i < len(fields) {
		return fields[i]
	}
	return ""
}

// known are the columns with a meaning of their own.
var known = map[string]bool{
	"Nature": true, "Container": true, "Type": true, "Start": true, "End": true, "Duration": true, "Depth": true,
	"Value": true, "Name": true,
	"Origin": true, "Dest": true, "Key": true,
}

// parseTime reads a decimal number as nanoseconds, where its unit has so many decimals
// of them.
func parseTime(text string, decimals int) (trace.Time, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) <= decimals && len(whole) <= 10 {
		digits := whole + fraction + "000000000"[:decimals-len(fraction)]
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && whole+fraction != "" && n > -farthest &&
			n < farthest && !strings.ContainsAny(fraction, "+-_") {
			return trace.Time(n), true
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if f *= math.Pow10(decimals); err != nil || !(math.Abs(f) < farthest) {
		return 0, false
	}
	return trace.Time(math.Round(f)), true
}

// farthest is the last time that is believed: 146 years.
const farthest = 1 << 62

// value reads a field as a number where it is one, written as numbers are.
func value(text string) trace.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return trace.Integer(n)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.Contains(text, ".") && !math.IsInf(f, 0) &&
		!math.IsNaN(f) {
		return trace.Number(f)
	}
	return trace.Text(text)
}

// isNumeral reports whether a text is a number, an address or the like.
func isNumeral(text string) bool {
	return strings.ContainsAny(text, "0123456789") && strings.Trim(text, "0123456789abcdefABCDEFx_.-+") == ""
}

// readLine reads a line of up to longest bytes; a longer one is passed over.
func readLine(in *bufio.Reader) (text string, long bool, err error) {
	var all []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(all)+len(part) > longest {
			long, all, part = true, nil, nil
		}
		if err == bufio.ErrBufferFull {
			if !long {
				all = append(all, part...)
			}
			continue
		}
		if all == nil {
			return string(part), long, err
		}
		return string(append(all, part...)), long, err
	}
}
