package scene

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Apart shortens the names of one set so that those that differ still do. An ellipsis
// stands for any text, so a shortened name is taken where no other name of the set could be
// meant by it: "MPI_…duce" is either of MPI_Reduce and MPI_Allreduce, "MPI_Allr…" is one.
// The page shortens lists by the same rules (web/src/shell/apart.ts).
type Apart struct {
	forward  []reading // forms of the names of the set, in small letters, ascending
	backward []reading // the same from their ends
}

// A reading is a form of a name: the name, or one of its foldings.
type reading struct{ text, name string }

// mostApart bounds the names that are looked at: more are not read side by side.
const mostApart = 4096

// NewApart looks at the names of a set.
func NewApart(names []string) *Apart {
	a := &Apart{}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			continue
		}
		if seen[name] = true; len(seen) > mostApart {
			return &Apart{}
		}
		forms, _ := formsOf(name)
		for _, form := range append(forms, numberAfterWord(name)) {
			if form == "" {
				continue
			}
			form = strings.ToLower(Visible(form))
			a.forward = append(a.forward, reading{form, name})
			a.backward = append(a.backward, reading{reversed(form), name})
		}
	}
	order := func(a, b reading) int { return cmp.Compare(a.text, b.text) }
	slices.SortFunc(a.forward, order)
	slices.SortFunc(a.backward, order)
	return a
}

// reversed returns a text byte by byte from its end.
func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// Shorten returns a name of the set in a width. A number that stands alone after a word,
// as in "rank 259", may go without it.
func (a *Apart) Shorten(name string, width, size float32) string {
	if !(width > 0) || !(size > 0) {
		return ""
	}
	adv := fontAdvances(false)
	room := width * adv.units / size
	return a.shorten(name, room, func(s string) []cluster { return clusters(s, adv) }, adv.of('…'))
}

// numberAfterWord returns the number that a name of a word and a number ends with, as "rank 7", "P#7" and
// "rank-7" do.
func numberAfterWord(name string) string {
	if m := wordAndNumber.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// Number returns the number that a name of the set ends with, if no other name of the set could be meant by it; "" if
// one could.
func (a *Apart) Number(name string) string {
	if n := numberAfterWord(name); n != "" && a.tells(n, name) {
		return n
	}
	return ""
}

var wordAndNumber = regexp.MustCompile(`^(?:[^ #]+[ #]|[A-Za-z]+[-_])([0-9]+)$`)

// formsOf returns the forms of a name without an ellipsis of its own: the name, its foldings, and the most folded one
// with its arguments whole. The index of the last is whole, or -1 if it has no arguments.
func formsOf(name string) (forms []string, whole int) {
	folded := foldings(name)
	forms = append([]string{name}, folded...)
	if len(folded) == 0 {
		return forms, -1
	}
	last := folded[len(folded)-1]
	stem, _, cut := strings.Cut(last, "…")
	at := strings.LastIndex(outside(name), stem)
	switch {
	case !cut || stem == "" || at < 0:
		return forms, -1
	case at == 0:
		return forms, 0
	}
	return append(forms, name[at:]), len(forms)
}

// shorten returns the first form of a name that fits and distinguishes it: the name, a folding,
// one with an ellipsis in its middle, and last a part from within; nothing if there is none.
func (a *Apart) shorten(name string, room float32, split func(string) []cluster, ellipsis float32) string {
	if len(name) > longestFolded {
		return ""
	}
	forms, whole := formsOf(name)
	parts := make([][]cluster, len(forms))
	for k, form := range forms {
		parts[k] = split(form)
		if sum(parts[k]) <= room && (k == 0 || a.tells(Visible(form), name)) {
			return Visible(form)
		}
	}
	if n := numberAfterWord(name); n != "" && sum(split(n)) <= room && a.tells(n, name) {
		return n
	}
	take := func(t string) bool { return a.tells(t, name) }
	for _, how := range attempts {
		if (how.part || how.both) && len(a.forward) > mostSearched {
			continue
		}
		for k := len(forms) - 1; k >= 0; k-- { // the most folded keeps most
			if how.folded && (whole < 0 || k == whole || k == 0) || how.both && k != whole {
				continue
			}
			c := cutter{clusters: parts[k], room: room, ellipsis: ellipsis, attempt: how}
			if how.stem || how.both {
				c.keep = stemLength(forms[k])
			}
			if t := c.first(take); t != "" {
				return t
			}
		}
	}
	return ""
}

// mostSearched bounds the forms that are searched for parts from within.
const mostSearched = 2048

// An attempt is a way to cut names.
type attempt struct {
	stem    bool // the arguments of a name give way, not the name
	numbers bool // no number is cut
	words   bool // one of the two ends is a whole word
	part    bool // a part from within is after the beginning, else the end does
	folded  bool // of names with arguments, forms without them
	both    bool // the name and its arguments give way, each in its middle
}

// attempts in the order of how well their forms are read.
var attempts = []attempt{
	{stem: true, numbers: true, words: true},
	{stem: true, numbers: true},
	{folded: true, numbers: true, words: true},
	{folded: true, numbers: true},
	{both: true, numbers: true, words: true},
	{both: true, numbers: true},
	{numbers: true, words: true},
	{numbers: true},
	{part: true, numbers: true, words: true},
	{},
	{part: true},
}

// stemLength counts the characters of a name before its arguments; 0 if it has none.
func stemLength(form string) int {
	i := strings.IndexAny(outside(form), "<([")
	if i <= 0 {
		return 0
	}
	return utf8.RuneCountInString(form[:i]) + 1
}

// tells reports whether a form is of this name alone, capitals or not: "MPI_…reduce" is also MPI_Reduce.
func (a *Apart) tells(form, name string) bool {
	form = strings.ToLower(form)
	parts := strings.Split(form, "…")
	if len(parts) == 1 {
		i,
			_ := slices.BinarySearchFunc(a.forward, form,
			func(r reading, s string) int { return cmp.Compare(r.text, s) })
		for ; i < len(a.forward) && a.forward[i].text == form; i++ {
			if a.forward[i].name != name {
				return false
			}
		}
		return true
	}
	list, back := beginning(a.forward, parts[0]), beginning(a.backward, reversed(parts[len(parts)-1]))
	turned := len(back) < len(list)
	if turned {
		list = back
		for i := range parts {
			parts[i] = reversed(parts[i])
		}
		slices.Reverse(parts)
	}
	for i := range list {
		if list[i].name != name && matches(list[i].text, parts) {
			return false
		}
	}
	return true
}

// beginning returns the readings that begin with a text.
func beginning(list []reading, head string) []reading {
	from, _ := slices.BinarySearchFunc(list, head, func(r reading, s string) int { return cmp.Compare(r.text, s) })
	to, _ := slices.BinarySearchFunc(list[from:], head, func(r reading, s string) int {
		if strings.HasPrefix(r.text, s) {
			return -1
		}
		return 1
	})
	return list[from : from+to]
}

// matches reports whether a text is these parts with anything between them.
func matches(text string, parts []string) bool {
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}

// A cutter makes forms of a text that fill a room.
type cutter struct {
	attempt
	clusters       []cluster
	room, ellipsis float32
	keep           int // clusters at the beginning that stay
}

// first returns the first form that is taken.
func (c *cutter) first(take func(string) bool) string {
	switch {
	case c.both:
		return c.stemAndEnd(take)
	case !c.part:
		return c.middle(take)
	}
	if head := c.fits(0, (c.room-2*c.ellipsis)/3); head >= leastHead {
		if t := c.within(head, take); t != "" {
			return t
		}
	}
	return c.within(0, take)
}

// leastHead is how many characters of a beginning say something before a part from within.
const leastHead = 3

// middle cuts the middle of a text, the evenest ends first.
func (c *cutter) middle(take func(string) bool) string {
	n, even := len(c.clusters), c.evenHead()
	for off := 0; off <= 2*n; off++ {
		i := even + (off+1)/2
		if off%2 == 0 {
			i = even - off/2
		}
		if i < 0 || i > n || i < c.keep {
			continue
		}
		j, ok := c.tail(i)
		if !ok || i+n-j < fewest || !c.careful(i, j) {
			continue
		}
		if t := c.text(0, i) + "…" + c.text(j, n); take(t) {
			return t
		}
	}
	return ""
}

// stemAndEnd cuts the name in its middle and keeps the end of its arguments, as little of it as distinguishes them.
func (c *cutter) stemAndEnd(take func(string) bool) string {
	n, bracket := len(c.clusters), c.keep-1
	if bracket < 1 || bracketEnd[c.clusters[bracket].text] != c.clusters[n-1].text {
		return ""
	}
	end := bracket
	if c.clusters[end-1].text == " " {
		end--
	}
	glue := c.clusters[end : bracket+1]
	stem := cutter{clusters: c.clusters[:end], ellipsis: c.ellipsis, attempt: attempt{numbers: true, words: c.words}}
	for from := n - 2; from > bracket+1; from-- {
		if isWord(c.clusters[from]) {
			continue
		}
		stem.room = c.room - c.ellipsis - sum(glue) - sum(c.clusters[from:])
		if stem.fits(0, stem.room) < leastStem {
			return ""
		}
		rest := join(glue) + "…" + join(c.clusters[from:])
		if t := stem.middle(func(t string) bool { return take(t + rest) }); t != "" {
			return t + rest
		}
	}
	return ""
}

// leastStem is how many characters of a name say which it is.
const leastStem = 8

var bracketEnd = map[string]string{"(": ")", "[": "]", "<": ">", "{": "}"}

// careful reports whether a text may be cut after the first part and before the last.
func (c *cutter) careful(i, j int) bool {
	if i > 0 && c.clusters[i-1].text == "…" || j < len(c.clusters) && c.clusters[j].text == "…" {
		return false // beside another ellipsis
	}
	if c.numbers && (c.inNumber(i) || c.inNumber(j)) {
		return false
	}
	return !c.words || i > 0 && !c.inWord(i) || j < len(c.clusters) && !c.inWord(j)
}

// within returns a part of a text after so much of its beginning.
func (c *cutter) within(head int, take func(string) bool) string {
	room := c.room - 2*c.ellipsis - sum(c.clusters[:head])
	if c.numbers && c.inNumber(head) || head == 0 && !(room > 0) {
		return ""
	}
	for from := head + 1; from < min(len(c.clusters), farthest); from++ {
		if c.words && (!isWord(c.clusters[from]) || c.inWord(from)) {
			continue
		}
		to := c.fits(from, room)
		for c.numbers && to > from && c.inNumber(to) {
			to--
		}
		if to-from < 2 || head+to-from < leastPart || to == len(c.clusters) {
			continue
		}
		if t := c.text(0, head) + "…" + c.text(from, to) + "…"; take(t) {
			return t
		}
	}
	return ""
}

// leastPart is how many characters of a beginning and from within say something: "…Si…" does not.
const leastPart = 4

// farthest is up to where parts from within are looked for.
const farthest = 512

// evenHead returns how much of the beginning stays where both ends keep the same.
func (c *cutter) evenHead() int {
	room, i, j := c.room-c.ellipsis, 0, len(c.clusters)
	for i < j {
		if room -= c.clusters[i].width; room < 0 {
			break
		}
		i++
		if i < j {
			if room -= c.clusters[j-1].width; room < 0 {
				break
			}
			j--
		}
	}
	return i
}

// tail returns where the end begins that fits after the first i; false where these do not fit, or all would.
func (c *cutter) tail(i int) (from int, ok bool) {
	room := c.room - c.ellipsis - sum(c.clusters[:i])
	if room < 0 {
		return 0, false
	}
	j := len(c.clusters)
	for j > i+1 && room >= c.clusters[j-1].width {
		room -= c.clusters[j-1].width
		j--
	}
	return j, j > i
}

// fits returns the end of the text from a place on that fits into a width.
func (c *cutter) fits(from int, room float32) int {
	to := from
	for to < len(c.clusters) && room >= c.clusters[to].width {
		room -= c.clusters[to].width
		to++
	}
	return to
}

// text returns a part without spaces at its ends, which stand next to an ellipsis.
func (c *cutter) text(from, to int) string {
	return strings.Trim(join(c.clusters[from:to]), " ")
}

func join(clusters []cluster) string {
	var b strings.Builder
	for _, x := range clusters {
		b.WriteString(x.text)
	}
	return b.String()
}

// inNumber reports whether a place is in a number, or between those of "1.6.1".
func (c *cutter) inNumber(i int) bool {
	if i <= 0 || i >= len(c.clusters) {
		return false
	}
	before, after := c.clusters[i-1], c.clusters[i]
	switch {
	case isDigit(before) && isDigit(after):
		return true
	case isDigit(before) && after.text == ".":
		return i+1 < len(c.clusters) && isDigit(c.clusters[i+1])
	}
	return before.text == "." && isDigit(after) && i > 1 && isDigit(c.clusters[i-2])
}

func isDigit(c cluster) bool { return len(c.text) == 1 && c.text[0] >= '0' && c.text[0] <= '9' }

// inWord reports whether a place is between two letters or digits.
func (c *cutter) inWord(i int) bool {
	return i > 0 && i < len(c.clusters) && isWord(c.clusters[i-1]) && isWord(c.clusters[i])
}

func isWord(c cluster) bool {
	r, _ := utf8.DecodeRuneInString(c.text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
