package parallel

import (
	"context"
	"slices"
)

// leastSort is the number of values that are sorted by one goroutine: fewer are not worth another.
const leastSort = 1 << 14

// Sort sorts a list on all cores, with as much memory again. The order must distinguish any two different values,
// so that the result does not depend on the number of cores.
func Sort[T any](list []T, compare func(a, b T) int) {
	parts := 1
	for parts < Workers() && len(list)/(2*parts) >= leastSort {
		parts *= 2
	}
	if parts == 1 && MergeRuns(list, compare) {
		return
	}
	edge := func(i int) int { return int(int64(len(list)) * int64(i) / int64(parts)) }
	ctx := context.Background()
	_ = For(ctx, parts, func(i int) { slices.SortFunc(list[edge(i):edge(i+1)], compare) })
	if parts == 1 {
		return
	}
	from, to := list, make([]T, len(list))
	for width := 1; width < parts; width *= 2 {
		// Each pair of runs is merged by as many goroutines as have made them: a piece each, cut where both have the
		// same values.
		_ = For(ctx, parts, func(i int) {
			low := i / (2 * width) * 2 * width
			a, b := from[edge(low):edge(low+width)], from[edge(low+width):edge(low+2*width)]
			out := to[edge(low):edge(low+2*width)]
			piece, pieces := i-low, 2*width
			begin, end := len(out)*piece/pieces, len(out)*(piece+1)/pieces
			merge(out[begin:end], a[split(a, b, begin, compare):], b[begin-split(a, b, begin, compare):], compare)
		})
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
}

// MergeRuns sorts a list that consists of a few sorted ones, as lists of several threads often do; it returns false
// if the list does not.
func MergeRuns[T any](list []T, compare func(a, b T) int) bool {
	const few = 32
	var ends [few + 1]int
	runs := 0
	for i := 1; i <= len(list); i++ {
		if i < len(list) && compare(list[i-1], list[i]) <= 0 {
			continue
		}
		if runs++; runs > few {
			return false
		}
		ends[runs] = i
	}
	if runs <= 1 {
		return true
	}
	from, to := list, make([]T, len(list))
	for ; runs > 1; runs = (runs + 1) / 2 {
		for k := 0; k < runs; k += 2 {
			begin, middle, end := ends[k], ends[k+1], ends[min(k+2, runs)]
			merge(to[begin:end], from[begin:middle], from[middle:end], compare)
			ends[k/2+1] = end
		}
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
	return true
}

// split returns how many of the first n values of two sorted lists come from the first of them.
func split[T any](a, b []T, n int, compare func(a, b T) int) int {
	low, high := max(0, n-len(b)), min(n, len(a))
	for low < high {
		mid := (low + high) / 2
		if compare(a[mid], b[n-mid-1]) <= 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// merge fills out with the least values of two sorted lists, those of the first before equal ones of the second.
func merge[T any](out, a, b []T, compare func(a, b T) int) {
	for i := range out {
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) <= 0 {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
		}
	}
}
