package scene

import "strings"

const (
	sentenceEdge = 8
	sentenceLine = 15
)

// Sentence writes what a picture says over its top, in a few lines, and gives the room
// that it takes. A picture too low for it has none.
func Sentence(s *Scene, text string) float32 {
	if s.Height < 160 || text == "" {
		return sentenceEdge
	}
	marks := &Text{Size: TextSize}
	y := float32(sentenceEdge)
	for _, l := range Wrap(text, float32(s.Width)-2*sentenceEdge, TextSize, 3) {
		marks.Add(sentenceEdge, y+10, l, UIText, Start)
		y += sentenceLine
	}
	s.AddLayer("verdict", -1, marks)
	return y + 4
}

// Wrap breaks a text into lines that fit a width, at most so many; the last is shortened.
func Wrap(text string, width, size float32, most int) (lines []string) {
	now := ""
	for _, word := range strings.Fields(text) {
		next := strings.TrimSpace(now + " " + word)
		if now != "" && len(lines) < most-1 && TextWidth(next, size, false) > width {
			lines, now = append(lines, now), word
			continue
		}
		now = next
	}
	return append(lines, Shorten(now, width, size))
}
