package proposal

import "math"

// RowWidth is how many places a row of n has: the divisor of n next to √(1.6 n), if there
// is one from √n to 2.5 √n, else that rounded up.
func RowWidth(n int) int {
	want, root := math.Sqrt(1.6*float64(n)), math.Sqrt(float64(n))
	best := 0
	for k := int(math.Ceil(root)); float64(k) <= 2.5*root; k++ {
		if n%k == 0 && (best == 0 || math.Abs(float64(k)-want) < math.Abs(float64(best)-want)) {
			best = k
		}
	}
	if best > 0 {
		return best
	}
	return int(math.Ceil(want))
}

// rowPlaces fills rows; fold: every other one backwards, so that each rank is next to the
// next.
func rowPlaces(n int, fold bool) [][]int {
	wide := max(RowWidth(n), 1)
	out := make([][]int, n)
	for i := range out {
		x, y := i%wide, i/wide
		if fold && y%2 == 1 {
			x = wide - 1 - x
		}
		out[i] = []int{x, y}
	}
	return out
}

// hilbertPlaces are the first n places of a Hilbert curve on the least square of a power
// of two.
func hilbertPlaces(n int) [][]int {
	side := 1
	for side*side < n {
		side *= 2
	}
	out := make([][]int, n)
	for i := range out {
		x, y := 0, 0
		for t, s := i, 1; s < side; t, s = t/4, s*2 {
			rx := 1 & (t / 2)
			ry := 1 & (t ^ rx)
			if ry == 0 {
				if rx == 1 {
					x, y = s-1-x, s-1-y
				}
				x, y = y, x
			}
			x, y = x+s*rx, y+s*ry
		}
		out[i] = []int{x, y}
	}
	return out
}

// nested places things as blocks in blocks. keys are the numbers of the groups of each
// thing, outermost first. Blocks of a level are as large as the largest of them, with one
// place more between them for each level below. They are read like text: the first one is at the upper left.
func nested(keys [][]int) [][]int {
	out := make([][]int, len(keys))
	all := make([]int, len(keys))
	for i := range keys {
		out[i], all[i] = []int{0, 0}, i
	}
	if len(keys) > 0 {
		_, high := nest(keys, 0, all, out)
		for _, p := range out { // y points up
			p[1] = high - 1 - p[1]
		}
	}
	return out
}

// blockColumns returns how many columns n blocks make: the whole is about as wide as 1.6 times its height, and
// few places stay empty. sides is the width of a block over its height.
func blockColumns(n int, sides float64) int {
	best, least := 1, math.Inf(1)
	for k := 1; k <= n; k++ {
		rows := (n + k - 1) / k
		bad := math.Abs(math.Log(float64(k)/float64(rows)*sides/1.6)) + float64(rows*k-n)/float64(n)
		if bad < least-1e-9 {
			best, least = k, bad
		}
	}
	return best
}

// nest places some things from level on, and returns how wide and high their block is.
func nest(keys [][]int, level int, things []int, out [][]int) (wide, high int) {
	if level == len(keys[things[0]]) {
		columns := RowWidth(len(things))
		for k, i := range things {
			out[i][0], out[i][1] = k%columns, k/columns
		}
		return min(columns, len(things)), (len(things) + columns - 1) / columns
	}
	var groups [][]int
	at := map[int]int{}
	for _, i := range things {
		k, ok := at[keys[i][level]]
		if !ok {
			k = len(groups)
			at[keys[i][level]], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	if len(groups) == 1 {
		return nest(keys, level+1, things, out)
	}
	for _, g := range groups {
		w, h := nest(keys, level+1, g, out)
		wide, high = max(wide, w), max(high, h)
	}
	gap := len(keys[things[0]]) - level
	n := len(groups)
	columns := blockColumns(n, float64(wide+gap)/float64(high+gap))
	for k, g := range groups {
		for _, i := range g {
			out[i][0] += k % columns * (wide + gap)
			out[i][1] += k / columns * (high + gap)
		}
	}
	rows := (n + columns - 1) / columns
	return columns*(wide+gap) - gap, rows*(high+gap) - gap
}
