package paje

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// colourOf returns a colour as #rrggbb: from three or four numbers between 0 and 1
// (some writers go up to 255), or from six hexadecimal digits. Any other text is
// no colour.
func colourOf(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	if len(parts) == 3 || len(parts) == 4 {
		var c [3]float64
		most := 0.0
		for i := range c {
			f, err := strconv.ParseFloat(parts[i], 64)
			if err != nil || !(f >= 0 && f <= 255) {
				return ""
			}
			c[i], most = f, max(most, f)
		}
		scale := 255.0
		if most > 1 {
			scale = 1
		}
		return fmt.Sprintf("#%02x%02x%02x", uint8(math.Round(c[0]*scale)), uint8(math.Round(c[1]*scale)),
			uint8(math.Round(c[2]*scale)))
	}
	hex := strings.TrimPrefix(strings.TrimSpace(text), "#")
	if _, err := strconv.ParseUint(hex, 16, 32); err == nil && len(hex) == 6 {
		return "#" + strings.ToLower(hex)
	}
	return ""
}
