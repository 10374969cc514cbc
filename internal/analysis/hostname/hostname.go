// Package hostname finds the levels of a machine in the names of its hosts: site,
// cluster, rack, slot.
package hostname

import (
	"slices"
	"strconv"
	"strings"
)

// Levels are the levels of a machine found in names of hosts.
type Levels struct {
	Kinds []string   // "word" or "number", general first
	Keys  [][]string // by name: its key on each level
	Sides []int      // different keys of each level
}

// A token is a word or a number of a name.
type token struct {
	text   string
	number bool
}

// tokens cuts a name: domain labels from general to special, then the host's words and
// numbers.
func tokens(name string) (out []token) {
	host, domain := cut(name)
	if domain != "" {
		labels := strings.Split(domain, ".")
		slices.Reverse(labels)
		for _, l := range labels {
			out = append(out, token{text: l})
		}
	}
	for host != "" {
		number := digit(host[0])
		end := 1
		for end < len(host) && digit(host[end]) == number {
			end++
		}
		out = append(out, token{host[:end], number})
		host = host[end:]
	}
	return out
}

// Host returns a name without its domain.
func Host(name string) string {
	host, _ := cut(name)
	return host
}

// cut separates the host from its domain. Labels that are numbers are no domain: 10.0.3.7 and "node 0.3.7" are
// general first already.
func cut(name string) (host, domain string) {
	host, domain, _ = strings.Cut(name, ".")
	if strings.Trim(domain, ".0123456789") == "" {
		return name, ""
	}
	return host, domain
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// A family is the names of one skeleton: the same words, with numbers at the same places.
type family struct {
	words   []string // a number is #
	members []int
	columns [][]string // numbers that differ, by member
}

// Find returns the levels of names. Words that differ make levels, numbers that differ make levels below;
// levels that another one implies are dropped.
func Find(names []string) *Levels {
	families := group(names)
	deep := 0
	for _, f := range families {
		deep = max(deep, len(f.columns))
	}
	words := wordLevels(families)
	l := &Levels{Keys: make([][]string, len(names))}
	for range words {
		l.Kinds = append(l.Kinds, "word")
	}
	for range deep {
		l.Kinds = append(l.Kinds, "number")
	}
	for k, f := range families {
		for j, i := range f.members {
			var key []string
			for _, w := range words {
				key = append(key, w[k])
			}
			for range deep - len(f.columns) {
				key = append(key, "0")
			}
			for _, c := range f.columns {
				key = append(key, c[j])
			}
			l.Keys[i] = key
		}
	}
	for j := range l.Kinds {
		column := make([]string, len(names))
		for i, key := range l.Keys {
			column[i] = key[j]
		}
		l.Sides = append(l.Sides, different(column))
	}
	return l
}

// group makes families, in the order of their first members.
func group(names []string) (out []*family) {
	at := map[string]*family{}
	rows := make([][]token, len(names))
	for i, name := range names {
		rows[i] = tokens(name)
		words := make([]string, len(rows[i]))
		for k, t := range rows[i] {
			if words[k] = t.text; t.number {
				words[k] = "#"
			}
		}
		key := strings.Join(words, "\x00")
		f := at[key]
		if f == nil {
			f = &family{words: words}
			at[key], out = f, append(out, f)
		}
		f.members = append(f.members, i)
	}
	for _, f := range out {
		for k, w := range f.words {
			if w != "#" {
				continue
			}
			column := make([]string, len(f.members))
			for j, i := range f.members {
				column[j] = rows[i][k].text
			}
			if different(column) > 1 {
				for _, c := range split(column) {
					f.columns = appendNew(f.columns, c)
				}
			}
		}
	}
	return out
}

// wordLevels are the places at which the words of families differ, by family.
func wordLevels(families []*family) (out [][]string) {
	if len(families) < 2 {
		return nil
	}
	length := 0
	for _, f := range families {
		length = max(length, len(f.words))
	}
	for k := range length {
		column, onlyNumbers := make([]string, len(families)), true
		for j, f := range families {
			if k < len(f.words) {
				column[j] = f.words[k]
			}
			onlyNumbers = onlyNumbers && (column[j] == "" || column[j] == "#")
		}
		if different(column) > 1 && !onlyNumbers {
			out = appendNew(out, column)
		}
	}
	return out
}

// appendNew appends a column unless another one implies it, and it that one.
func appendNew(list [][]string, column []string) [][]string {
	for _, other := range list {
		both := make([]string, len(column))
		for i := range column {
			both[i] = column[i] + "\x00" + other[i]
		}
		if n := different(both); n == different(other) && n == different(column) {
			return list
		}
	}
	return append(list, column)
}

func different(column []string) int {
	seen := map[string]bool{}
	for _, c := range column {
		seen[c] = true
	}
	return len(seen)
}

// split reads a column of digits as one number or two: 0312 is rack 3, slot 12 where the
// whole range is less than half full and the parts fill three quarters of theirs.
func split(column []string) [][]string {
	if cut := where(column); cut > 0 {
		head, tail := make([]string, len(column)), make([]string, len(column))
		for i, c := range column {
			head[i], tail[i] = plain(c[:cut]), plain(c[cut:])
		}
		return [][]string{head, tail}
	}
	out := make([]string, len(column))
	for i, c := range column {
		out[i] = plain(c)
	}
	return [][]string{out}
}

// plain drops leading zeros.
func plain(digits string) string {
	if t := strings.TrimLeft(digits, "0"); t != "" {
		return t
	}
	return "0"
}

// where finds the place at which digits of fixed width are cut in two; 0: nowhere.
func where(column []string) (cut int) {
	width := len(column[0])
	for _, c := range column {
		if len(c) != width {
			return 0
		}
	}
	n, span, ok := extent(column)
	if !ok || width < 3 || n < 8 || float64(n)/span >= 0.5 {
		return 0
	}
	best := 0.0
	for at := 1; at < width; at++ {
		head, tail := make([]string, len(column)), make([]string, len(column))
		for i, c := range column {
			head[i], tail[i] = c[:at], c[at:]
		}
		a, high, _ := extent(head)
		b, low, _ := extent(tail)
		if a > 1 && b > 1 && float64(n)/(high*low) > best {
			best, cut = float64(n)/(high*low), at
		}
	}
	if best < 0.75 {
		return 0
	}
	return cut
}

// extent returns the number of different numbers, and how many from the least to the
// greatest.
func extent(column []string) (n int, span float64, ok bool) {
	seen := map[uint64]bool{}
	least, most := ^uint64(0), uint64(0)
	for _, c := range column {
		x, err := strconv.ParseUint(c, 10, 63)
		if err != nil {
			return 0, 0, false
		}
		seen[x] = true
		least, most = min(least, x), max(most, x)
	}
	return len(seen), float64(most-least) + 1, true
}
