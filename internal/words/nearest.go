package words

import (
	"fmt"
	"strings"
)

// A Refusal is the error of a word that is none of the known ones.
type Refusal struct {
	Of, Typed string // "--theme", "drak"
	Known     []string
	More      string // follows the known names
}

func (r *Refusal) Error() string {
	typed := strings.ToValidUTF8(r.Typed, "?")
	if len(typed) > longestWord {
		typed = strings.ToValidUTF8(typed[:longestWord], "") + "…"
	}
	return fmt.Sprintf("%s %q: want %s%s%s", r.Of, typed, Or(r.Known...), r.More, Suggest(r.Typed, r.Known))
}

// longestWord is how many bytes of a word are said again; none longer is near a name.
const longestWord = 80

// NotOneOf is the refusal of a word that is none of the known; it names the nearest.
func NotOneOf(of, typed string, known ...string) *Refusal {
	return &Refusal{Of: of, Typed: typed, Known: known}
}

// Or joins names as in "a, b or c".
func Or(names ...string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Suggest returns "; did you mean NAME?" with the name nearest to typed, or nothing if none is near.
func Suggest(typed string, names []string) string {
	if best := Nearest(typed, names); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}

// Nearest returns the name with the fewest slips from typed, at most one in three letters; "": none is near.
func Nearest(typed string, names []string) (best string) {
	if typed == "" || len(typed) > longestWord {
		return ""
	}
	least := max(1, len(typed)/3) + 1
	for _, n := range names {
		if d := slips(typed, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// slips counts letters that are wrong, missing, too many, or swapped with the next.
// O(len(a) × len(b)).
func slips(a, b string) int {
	before, last, row := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, make([]int, len(b)+1)
	}
	return last[len(b)]
}
