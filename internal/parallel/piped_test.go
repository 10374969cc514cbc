package parallel

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestBatchesAreTakenInOrderAndTheRestIsReturned(t *testing.T) {
	for _, c := range []struct{ workers, most, refuse int }{{1, 0, -1}, {1, 100, -1}, {4, 1000, -1}, {4, 1000, 17}, {3, 5, 4}, {8, 1000, 0}} {
		read := 0
		var taken, left []int
		for _, p := range Piped(c.workers, func() int { return 0 }, func(p *[2]int) bool {
			*p = [2]int{read, 0}
			read++
			return read <= c.most
		}, func(_ int, p *[2]int) { p[1] = p[0] * p[0] }, func(p *[2]int) bool {
			if p[0] == c.refuse {
				return false
			}
			taken = append(taken, p[1])
			return true
		}) {
			left = append(left, p[0])
		}
		want := c.most
		if c.refuse >= 0 {
			want = c.refuse
		}
		if len(taken) != want || !slices.IsSorted(taken) {
			t.Errorf("%+v: took %v", c, taken)
		}
		if len(left) > 2*c.workers || (c.refuse >= 0) != (len(left) > 0) || len(left) > 0 && (left[0] != c.refuse || !slices.IsSorted(left)) {
			t.Errorf("%+v: left %v", c, left)
		}
	}
}

func TestAPanicWithinAPipeIsOneOfItsCaller(t *testing.T) {
	for _, where := range []string{"next", "work", "take"} {
		boom := func(at string, p *int) bool {
			if at == where && *p == 40 {
				panic("boom")
			}
			return true
		}
		func() {
			defer func() {
				if p := recover(); !strings.Contains(fmt.Sprint(p), "boom") {
					t.Errorf("%s: caught %v", where, p)
				}
			}()
			n := 0
			Piped(3, func() int { return 0 }, func(p *int) bool { n++; *p = n; return boom("next", p) && n < 100 },
				func(_ int, p *int) { boom("work", p) }, func(p *int) bool { return boom("take", p) })
			t.Errorf("%s: no panic", where)
		}()
	}
}
