package grouping

import (
	"context"
	"math"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// silhouette is the mean over items of (b - a) / max(a, b): a is the mean distance
// to the own group, b to the nearest other. An item alone counts 0.
func silhouette(d []float32, of []int, m int) float64 {
	k := 0
	for _, c := range of {
		k = max(k, c+1)
	}
	s := newSpread(m, of, k)
	parallel.For(context.Background(), m, func(i int) {
		for j, x := range d[i*m : (i+1)*m] {
			s.to[i*k+of[j]] += float64(x)
		}
	})
	return s.silhouette(k)
}

// A cutter gives the silhouettes of cuts into ever more groups. A cut is the one before with one group split in two:
// distances to the smaller part are added up, and those to the other are the rest, so that all together cost little
// more than the first.
type cutter struct {
	*spread
	d      []float32
	joins  []join
	values []float64 // by number of groups
}

func newCuts(d []float32, joins []join, m, most int) *cutter {
	s := newSpread(m, make([]int, m), most)
	s.size[0] = float64(m)
	parallel.For(context.Background(), m, func(i int) {
		for _, x := range d[i*m : (i+1)*m] {
			s.to[i*most] += float64(x)
		}
	})
	return &cutter{s, d, joins, make([]float64, 2, most+1)}
}

// silhouettes returns those of the cuts into 2 to n groups, by their number.
func (c *cutter) silhouettes(n int) []float64 {
	m := len(c.of)
	for k := len(c.values); k <= n; k++ {
		j := c.joins[len(c.joins)-(k-1)]
		c.split(c.d, members(c.joins, m, j.a), members(c.joins, m, j.b), k-1)
		c.values = append(c.values, c.silhouette(k))
	}
	return c.values
}

// members lists the items of a cluster of the linkage.
func members(joins []join, m, cluster int) (out []int) {
	stack := []int{cluster}
	for len(stack) > 0 {
		c := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if c < m {
			out = append(out, c)
			continue
		}
		stack = append(stack, joins[c-m].a, joins[c-m].b)
	}
	return out
}

// A spread holds how far each item is from the groups, added up over their members.
type spread struct {
	of   []int
	most int
	size []float64 // of each group
	to   []float64 // by item, then group
}

func newSpread(m int, of []int, most int) *spread {
	s := &spread{of: of, most: most, size: make([]float64, most), to: make([]float64, m*most)}
	for _, c := range of {
		s.size[c]++
	}
	return s
}

// split makes a group of two: the smaller part gets a new number.
func (s *spread) split(d []float32, a, b []int, number int) {
	if len(b) > len(a) {
		a, b = b, a
	}
	old := s.of[b[0]]
	m := len(s.of)
	parallel.For(context.Background(), m, func(i int) {
		row, sum := d[i*m:(i+1)*m], 0.0
		for _, j := range b {
			sum += float64(row[j])
		}
		s.to[i*s.most+number] = sum
		s.to[i*s.most+old] = max(s.to[i*s.most+old]-sum, 0)
	})
	for _, j := range b {
		s.of[j] = number
	}
	s.size[old] -= float64(len(b))
	s.size[number] = float64(len(b))
}

func (s *spread) silhouette(k int) float64 {
	if k < 2 {
		return 0
	}
	sum := 0.0
	for i, own := range s.of {
		if s.size[own] == 1 {
			continue
		}
		to := s.to[i*s.most : i*s.most+k]
		a, b := to[own]/(s.size[own]-1), math.Inf(1)
		for c := range to {
			if c != own {
				b = min(b, to[c]/s.size[c])
			}
		}
		if w := max(a, b); w > 0 {
			sum += (b - a) / w
		}
	}
	return sum / float64(len(s.of))
}
