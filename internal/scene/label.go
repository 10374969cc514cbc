package scene

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is how many characters of a text are drawn at most: more than any picture holds.
const longest = 2000

// Visible returns a text as it is drawn. Characters that would act instead of show
// (controls, marks that change the direction of writing, broken UTF-8) are written as
// escapes, and the middle of endless texts as an ellipsis. Names come from traces and may hold anything.
func Visible(s string) string {
	if len(s) <= longest && plain(s) {
		return s
	}
	if len(s) > 4*longest {
		head := cutFront(s, 2*longest)
		s = head + "…" + cutBack(s, 2*longest)
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteString(visibleRune(r, n, s[i]))
		i += n
	}
	out := b.String()
	if utf8.RuneCountInString(out) <= longest {
		return out
	}
	runes := []rune(out)
	return string(runes[:longest/2]) + "…" + string(runes[len(runes)-longest/2+1:])
}

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

func visibleRune(r rune, n int, first byte) string {
	switch {
	case r == utf8.RuneError && n == 1:
		return fmt.Sprintf("\\x%02x", first)
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return fmt.Sprintf("\\x%02x", r)
	case turns(r) || r&0xFFFE == 0xFFFE || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
		return fmt.Sprintf("\\u%04x", r)
	case unicode.Is(unicode.Zs, r):
		return " "
	}
	return string(r)
}

// turns reports marks that change the direction of following text, even beyond their own.
func turns(r rune) bool {
	return r == 0x061C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// joins reports characters that belong to the one before: accents, joiners, variants.
func joins(r rune) bool {
	return r >= 0x300 && (r == 0x200D || r >= 0x1F3FB && r <= 0x1F3FF || unicode.In(r, unicode.Mn, unicode.Me))
}

// Shorten returns a text that fits a width in pixels: as it is, or, if it is a name, without parts that many names
// have in common (see foldings), or with an ellipsis in the middle, since names differ at both ends. If not even five
// characters would remain it returns "". The cost grows with the width, not with the text.
func Shorten(s string, width, size float32) string { return shorten(s, width, size, false) }

// Longest returns the first of some texts, from long to short, that fits a width in pixels as it is; if none does, the
// last one shortened.
func Longest(width float32, texts ...string) string {
	for _, t := range texts {
		if TextWidth(t, TextSize, false) <= width {
			return t
		}
	}
	return Shorten(texts[len(texts)-1], width, TextSize)
}

// ShortenBold is Shorten for bold text.
func ShortenBold(s string, width, size float32) string { return shorten(s, width, size, true) }

func shorten(s string, width, size float32, bold bool) string {
	if !(width > 0) || !(size > 0) || s == "" {
		return ""
	}
	a := fontAdvances(bold)
	room := width * a.units / size
	// Hardly a character is narrower than a fifth of the size, so more is not looked at.
	most := min(int(min(room/a.units, longest)*5)+16, longest)
	front, back := s, s
	if len(s) > 4*most {
		front, back = cutFront(s, 2*most), cutBack(s, 2*most)
	}
	head := clusters(front, a)
	if len(front) == len(s) && sum(head) <= room {
		return Visible(s)
	}
	for _, folded := range foldings(s) {
		head = clusters(folded, a)
		if s, front = folded, folded; sum(head) <= room {
			return Visible(s)
		}
	}
	tail := head
	if len(front) < len(s) {
		tail = clusters(back, a)
	}
	return squeeze(head, tail, room-a.of('…'))
}

// fewest is how many characters a shortened text must keep to say anything.
const fewest = 5

// squeeze takes clusters that fit from head and tail in turn, one more from the head.
func squeeze(head, tail []cluster, room float32) string {
	i, j := 0, len(tail)
	for i < len(head) && j > 0 {
		if i <= len(tail)-j {
			if room -= head[i].width; room < 0 {
				break
			}
			i++
			continue
		}
		if room -= tail[j-1].width; room < 0 {
			break
		}
		j--
	}
	if i+len(tail)-j < fewest {
		return ""
	}
	var b strings.Builder
	for _, c := range head[:i] {
		b.WriteString(c.text)
	}
	b.WriteString("…")
	for _, c := range tail[j:] {
		b.WriteString(c.text)
	}
	return b.String()
}

// A cluster must not be cut: a character with the accents on it, or an escape.
type cluster struct {
	text  string
	width float32
}

func clusters(s string, a *advances) []cluster {
	out := make([]cluster, 0, len(s))
	joined := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		text := s[i : i+n]
		if r < ' ' || r > '~' {
			text = visibleRune(r, n, s[i])
		}
		width := float32(0)
		for _, v := range text {
			width += a.of(v)
		}
		if len(out) > 0 && (joins(r) || joined) {
			last := &out[len(out)-1]
			last.text, last.width = last.text+text, last.width+width
		} else {
			out = append(out, cluster{text, width})
		}
		joined = r == 0x200D
		i += n
	}
	return out
}

func sum(cs []cluster) (w float32) {
	for _, c := range cs {
		w += c.width
	}
	return w
}

// cutFront and cutBack give about n bytes of an end, at the border of a character.
func cutFront(s string, n int) string {
	for range utf8.UTFMax - 1 {
		if n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
	}
	return s[:min(n, len(s))]
}

func cutBack(s string, n int) string {
	at := max(len(s)-n, 0)
	for range utf8.UTFMax - 1 {
		if at < len(s) && !utf8.RuneStart(s[at]) {
			at++
		}
	}
	return s[at:]
}

const (
	sentenceEdge = 8
	sentenceLine = 15
)

// Sentence writes the message of a picture over its top, in a few lines, and returns its height. A picture too low for
// it has none.
func Sentence(s *Scene, text string) float32 {
	if s.Height < 160 || text == "" {
		return sentenceEdge
	}
	marks := &Text{Size: TextSize}
	y := float32(sentenceEdge)
	for _, l := range Wrap(text, float32(s.Width)-2*sentenceEdge, TextSize, max(3, min(int(s.Height)/100, 6))) {
		marks.Add(sentenceEdge, y+10, l, UIText, Start)
		y += sentenceLine
	}
	s.AddLayer("verdict", -1, marks)
	return y + 4
}

// Wrap breaks a text into lines that fit a width, at most so many; the last ends with an
// ellipsis after a whole word where more would follow. Words longer than a line are shortened.
func Wrap(text string, width, size float32, most int) (lines []string) {
	now := ""
	for _, word := range strings.Fields(text) {
		if TextWidth(word, size, false) > width {
			word = Shorten(word, width, size)
		}
		next := strings.TrimSpace(now + " " + word)
		if now != "" && len(lines) < most-1 && TextWidth(next, size, false) > width {
			lines, now = append(lines, now), word
			continue
		}
		now = next
	}
	return append(lines, firstWords(now, width, size))
}

// firstWords returns as many words of a text as fit; a word that is too long itself is shortened.
func firstWords(text string, width, size float32) string {
	if TextWidth(text, size, false) <= width {
		return text
	}
	for short := text; ; {
		i := strings.LastIndexByte(short, ' ')
		if i <= 0 {
			return Shorten(text, width, size)
		}
		if short = strings.TrimRight(short[:i], " ,;:."); TextWidth(short+" …", size, false) <= width {
			return short + " …"
		}
	}
}
