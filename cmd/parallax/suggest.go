package main

// suggest gives ", did you mean …?" with the name that is nearest to what was typed, or nothing if none is near.
func suggest(typed string, names []string) string {
	if best := nearest(typed, names); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}

// nearest is the name with the fewest slips from what was typed, at most one in three letters; "": none is near.
func nearest(typed string, names []string) (best string) {
	if typed == "" {
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

func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return append(names, "help", "version")
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
