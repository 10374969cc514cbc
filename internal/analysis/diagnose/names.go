package diagnose

// Names of units, times and regions in sentences.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// mostChosen bounds the locations that a finding selects.
const mostChosen = 500

// locations of units, for a selection.
func (f *facts) locations(units []int32) []trace.LocationID {
	out := make([]trace.LocationID, 0, len(units))
	for _, u := range units {
		out = append(out, f.units[u])
	}
	slices.Sort(out)
	return out[:min(len(out), mostChosen)]
}

// named writes units for people: "rank 5", "ranks 40–47 (all of node05)".
func (f *facts) named(units []int32) string {
	text := words.NameList(f.names, units, 6)
	if len(units) > 1 {
		word := f.unitWord()
		if rest, ok := cut(text, "rank "); ok {
			text = "ranks " + rest
		} else if rest, ok := cut(text, word+" "); ok {
			text = plural(word) + " " + rest
		} else if !strings.Contains(text, " ") || strings.Contains(text, ", ") {
			text = plural(word) + " " + text
		}
		if group, ok := f.wholeGroup(units); ok {
			text += " (all of " + group + ")"
		}
	}
	return text
}

// plural is a word for several units.
func plural(word string) string {
	_, word, _ = strings.Cut(words.Count(2, word), " ")
	return word
}

func cut(s, prefix string) (string, bool) {
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return s, false
}

// wholeGroup finds a location whose units are exactly these.
func (f *facts) wholeGroup(units []int32) (string, bool) {
	up, n := f.units[units[0]], 0
	for n < len(units) {
		if up = f.tree.Parent[up]; up == trace.NoLocation {
			return "", false
		}
		from, _ := slices.BinarySearch(f.units, up)
		to, _ := slices.BinarySearch(f.units, f.tree.Last[up]+1)
		n = to - from
	}
	for _, u := range units {
		if id := f.units[u]; id < up || id > f.tree.Last[up] {
			return "", false
		}
	}
	return f.tree.Name[up], n == len(units) && n < len(f.units)
}

// unitWord returns the word for a unit.
func (f *facts) unitWord() string {
	if len(f.names) > 0 {
		if _, ok := cut(f.names[0], "rank "); ok {
			return "rank"
		}
	}
	if k := string(f.tree.Kind[f.units[0]]); k != "" {
		return k
	}
	return "location"
}

// phaseWindow is the time from the first to the last of some phases.
func (f *facts) phaseWindow(phases []int) (begin, end trace.Time) {
	begin, end = f.window.End, f.window.Begin
	for _, k := range phases {
		begin, end = min(begin, f.phases.List[k].Begin), max(end, f.phases.List[k].End)
	}
	return begin, end
}

// totalsOf asks for the times in some phases, or takes those at hand.
func (c *diagnosis) totalsOf(phases []int) (*totals, error) {
	if len(phases) == 0 || len(phases) == len(c.phases.List) {
		return c.table, nil
	}
	begin, end := c.phaseWindow(phases)
	return c.totals(c.ctx, store.Window{Begin: begin, End: end, Locations: c.window.Locations})
}

// phaseWords describes which phases: "in all 3 phases (ProfilerStep#3 to 5)".
func (f *facts) phaseWords(phases []int) string {
	list := f.phases.List
	n := len(phases)
	if n == 0 || len(list) == 1 {
		return ""
	}
	first, last := list[phases[0]].Name, list[phases[n-1]].Name
	if f.phases.Step > 1 { // "iteration 1–7": several each
		first, _, _ = strings.Cut(first, "–")
	}
	span := first + " to " + number(last)
	switch {
	case n == len(list):
		return " in all " + words.Count(f.phases.Count, "phase") + " (" + span + ")"
	case f.phases.Step > 1 && phases[n-1]-phases[0]+1 == n:
		return " in " + span
	case n == 1:
		return " in " + last
	case phases[n-1]-phases[0]+1 == n:
		return " in " + words.Count(n, "phase") + " (" + span + ")"
	case f.phases.Step > 1:
		return " in phases between " + first + " and " + number(last)
	}
	return " in " + words.Thousands(int64(n)) + " of " + words.Count(len(list), "phase") + " between " + first +
		" and " +
		number(last)
}

// number is the number at the end of a phase's name, or the name.
func number(name string) string {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if i == len(name) || i == 0 {
		return name
	}
	return name[i:]
}

func (f *facts) phaseNames(phases []int) []string {
	out := []string{}
	for _, k := range phases {
		out = append(out, f.phases.List[k].Name)
	}
	return out
}

// phaseOption passes on the cut of the run, so that the view shows the same phases.
func (f *facts) phaseOption() map[string][]string {
	if how := f.question.Phase; how != "" && how != "auto" {
		return map[string][]string{"phase": {how}}
	}
	return map[string][]string{}
}

// capital begins a sentence; names of one word keep their own spelling.
func capital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	switch first {
	case "the", "rank", "ranks", "threads", "processes", "locations", "cores", "tasks":
		return capitalWord(s)
	}
	return s
}

// capitalWord begins a sentence with a word of ours.
func capitalWord(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// in names regions: " in MPI_Waitall and MPI_Allreduce".
func in(names []string) string {
	for i, n := range names {
		names[i] = words.Middle(n)
	}
	if len(names) == 0 {
		return ""
	}
	return " in " + strings.Join(names, " and ")
}

// about writes a range, or one value where both ends are written alike.
func (f *facts) about(low, high float64) string {
	if f.amount(low) == f.amount(high) {
		return f.amount(low)
	}
	return between(low, high, f.unit)
}

// between writes a range with the unit once: "3.60 to 31.6 ms".
func between(low, high float64, unit string) string {
	a, b := words.FormatIn(low, unit), words.FormatIn(high, unit)
	x, unit, _ := strings.Cut(a, " ")
	if _, same, ok := strings.Cut(b, " "); ok && same == unit {
		return x + " to " + b
	}
	return a + " to " + b
}

// others describes how many of all others: "all 15 others", "4 of the 63 others".
func others(n, all int) string {
	switch {
	case n >= all && all == 1:
		return "the other one"
	case n >= all:
		return "the other " + words.Thousands(int64(all))
	}
	return fmt.Sprintf("%s of the other %s", words.Thousands(int64(n)), words.Thousands(int64(all)))
}
