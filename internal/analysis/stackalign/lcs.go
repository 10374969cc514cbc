package stackalign

// A match says that a[A] and b[B] are the same.
type match struct{ a, b int32 }

// mostEdits bounds the edits that are searched for at a time: lists with more edits are aligned part by
// part, which may miss the best alignment.
const mostEdits = 2000

// longest returns a longest common subsequence of two lists, in order, by Myers' greedy
// search over the number of edits: O((len(a)+len(b)) × edits) time and O(edits²) memory.
// exact is false where the edits were more than mostEdits.
func longest(a, b []int32, most int) (out []match, exact bool) {
	exact = true
	from, to := 0, 0 // where the rest begins in a and b
	for {
		for from < len(a) && to < len(b) && a[from] == b[to] {
			out = append(out, match{int32(from), int32(to)})
			from, to = from+1, to+1
		}
		end := 0
		for end < len(a)-from && end < len(b)-to && a[len(a)-1-end] == b[len(b)-1-end] {
			end++
		}
		x, y := a[from:len(a)-end], b[to:len(b)-end]
		path, done := search(x, y, most)
		for i := len(path) - 1; i >= 0; i-- {
			out = append(out, match{path[i].a + int32(from), path[i].b + int32(to)})
		}
		if done.a == int32(len(x)) && done.b == int32(len(y)) {
			for ; end > 0; end-- {
				out = append(out, match{int32(len(a) - end), int32(len(b) - end)})
			}
			return out, exact
		}
		exact = false
		from, to = from+int(done.a), to+int(done.b)
	}
}

// search returns the matches of a shortest edit path in reverse, and how far it came.
func search(a, b []int32, most int) (path []match, done match) {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return nil, match{int32(n), int32(m)}
	}
	limit := min(n+m, most)
	v := make([]int32, 2*limit+3) // the furthest x on each diagonal, from -limit-1 on
	at := func(k int) *int32 { return &v[k+limit+1] }
	var steps [][]int32
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := int32(0)
			switch {
			case d == 0:
			case k == -d || k != d && *at(k - 1) < *at(k + 1):
				x = *at(k + 1)
			default:
				x = *at(k - 1) + 1
			}
			y := x - int32(k)
			for int(x) < n && int(y) < m && y >= 0 && a[x] == b[y] {
				x, y = x+1, y+1
			}
			*at(k) = x
			if int(x) >= n && int(y) >= m {
				steps = append(steps, append([]int32(nil), v[limit+1-d:limit+2+d]...))
				return back(a, b, steps, k), match{int32(n), int32(m)}
			}
		}
		steps = append(steps, append([]int32(nil), v[limit+1-d:limit+2+d]...))
	}
	best, far := 0, int32(-1) // no end within the limit: take the path that came farthest
	d := len(steps) - 1
	for k := -d; k <= d; k += 2 {
		x := steps[d][k+d]
		if y := x - int32(k); int(x) <= n && int(y) <= m && y >= 0 && x+y > far {
			best, far = k, x+y
		}
	}
	x := steps[d][best+d]
	return back(a, b, steps, best), match{x, x - int32(best)}
}

// back follows the steps from diagonal k of the last one to the start.
func back(a, b []int32, steps [][]int32, k int) (path []match) {
	x := steps[len(steps)-1][k+len(steps)-1]
	for d := len(steps) - 1; d >= 0; d-- {
		y := x - int32(k)
		fromK, fromX := k, int32(0)
		if d > 0 {
			before := steps[d-1]
			get := func(k int) int32 {
				if i := k + d - 1; i >= 0 && i < len(before) {
					return before[i]
				}
				return -1
			}
			if k == -d || k != d && get(k-1) < get(k+1) {
				fromK, fromX = k+1, get(k+1)
			} else {
				fromK, fromX = k-1, get(k-1)
			}
		}
		startX := fromX
		if d > 0 && fromK == k-1 {
			startX++ // one of a was left out first
		}
		for x > startX && y > 0 && a[x-1] == b[y-1] {
			x, y = x-1, y-1
			path = append(path, match{x, y})
		}
		x, k = fromX, fromK
	}
	return path
}
