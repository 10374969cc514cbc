package contrast

import (
	"math"
	"math/rand/v2"
	"sync"
)

// A Method is how p was found.
type Method uint8

const (
	// None: one of the sets is empty.
	None Method = iota
	// Exact: all ways to deal the values to two sets of these sizes.
	Exact
	// Drawn: some thousand of those ways, drawn at random from a fixed seed.
	Drawn
	// Normal: the normal distribution that many ranks follow, corrected for ties.
	Normal
	// Student: t of the values themselves, with the variance of both sets as one.
	// One against many is Crawford and Howell's test of a single case (1998).
	Student
)

func (m Method) String() string {
	return [...]string{"none", "exact", "drawn", "normal", "student"}[m]
}

// mostSteps bounds the steps for the exact distribution of one comparison.
const mostSteps = 1 << 20

// test chooses the test. Ranks decide wherever sets wholly apart could pass after a
// correction for so many comparisons. Smaller sets (one rank against seven has at best
// p = 1/4) can never show anything by ranks, so there the values themselves do, at the
// price of believing that they are spread like a bell; Judge then asks for sets that
// hardly overlap besides. The rule looks at sizes alone, never at values.
func (c *Comparison) test(comparisons int, draw *drawer) (float64, Method) {
	na, nb := len(c.A), len(c.B)
	if na == 0 || nb == 0 {
		return 1, None
	}
	var least float64
	if c.Paired {
		least = math.Pow(2, 1-float64(min(na, nb)))
	} else {
		least = 2 / choose(na+nb, min(na, nb))
	}
	if !c.Ranks && least*float64(max(comparisons, 1)) > Level {
		if c.Paired {
			return studentPaired(differences(c.A, c.B)), Student
		}
		return student(c.A, c.B), Student
	}
	if c.Paired {
		return signedTest(differences(c.A, c.B))
	}
	return rankTest(c.A, c.B, draw)
}

// choose is n over k.
func choose(n, k int) float64 {
	out := 1.0
	for i := range min(k, n-k) {
		out *= float64(n-i) / float64(i+1)
	}
	return out
}

// rankTest is Mann and Whitney's: how far is the sum of ranks of the smaller set from its expectation by
// chance.
func rankTest(a, b []float64, draw *drawer) (float64, Method) {
	ranks := midranks(a, b)
	n, total := len(a), len(a)+len(b)
	mine := ranks[:n]
	if len(b) < n {
		n, mine = len(b), ranks[n:]
	}
	sum := 0
	for _, r := range mine {
		sum += r
	}
	mean := n * (total + 1) // of doubled ranks
	far := sum - mean
	if far < 0 {
		far = -far
	}
	switch {
	case n*total*2*n*total <= mostSteps:
		return exactSum(ranks, n, mean, far), Exact
	case n < 16:
		return draw.sum(ranks, n, mean, far), Drawn
	}
	return normalSum(ranks, n, far), Normal
}

var rooms = sync.Pool{New: func() any { return new([]float64) }}

// room is n zeros: a test needs many, and thousands of tests follow each other.
func room(n int) (zeros []float64, release func()) {
	p := rooms.Get().(*[]float64)
	if cap(*p) < n {
		*p = make([]float64, n)
	}
	zeros = (*p)[:n]
	clear(zeros)
	return zeros, func() { rooms.Put(p) }
}

// exactSum counts the subsets of n ranks whose sum is at least so far from the mean.
// ways[k][s] is how many subsets of k ranks have sum s; counts are exact in a float64
// up to 2^53 and good to 1e-15 beyond. O(ranks × n × sum).
func exactSum(ranks []int, n, mean, far int) float64 {
	most := 2 * n * len(ranks)
	ways := make([][]float64, n+1)
	flat, release := room((n + 1) * (most + 1))
	defer release()
	for k := range ways {
		ways[k] = flat[k*(most+1) : (k+1)*(most+1)]
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for k := n; k >= 1; k-- {
			from, to := ways[k-1], ways[k]
			for s := most; s >= r; s-- {
				to[s] += from[s-r]
			}
		}
	}
	hits, all := 0.0, 0.0
	for s, w := range ways[n] {
		all += w
		if s-mean >= far || mean-s >= far {
			hits += w
		}
	}
	return hits / all
}

// normalSum is the normal approximation with the variance that ties leave, and half a
// rank for continuity.
func normalSum(ranks []int, n, far int) float64 {
	total := float64(len(ranks))
	squares := 0.0
	for _, r := range ranks {
		d := float64(r)/2 - (total+1)/2
		squares += d * d
	}
	variance := float64(n) * (total - float64(n)) / total * squares / (total - 1)
	if variance == 0 {
		return 1
	}
	z := max(float64(far)/2-0.5, 0) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

// A drawer deals sets at random; those of one size are drawn once.
type drawer struct {
	total, n int
	sets     []int32
}

// draws is the number of sets that are dealt: enough for p down to 1/20,000.
const draws = 19_999

func (d *drawer) sum(ranks []int, n, mean, far int) float64 {
	if d.total != len(ranks) || d.n != n {
		d.deal(len(ranks), n)
	}
	hits := 1
	for k := range draws {
		sum := -mean
		for _, i := range d.sets[k*n : (k+1)*n] {
			sum += ranks[i]
		}
		if sum >= far || -sum >= far {
			hits++
		}
	}
	return float64(hits) / (draws + 1)
}

// deal draws sets without repeats by Floyd's algorithm.
func (d *drawer) deal(total, n int) {
	d.total, d.n = total, n
	d.sets = make([]int32, 0, draws*n)
	random := rand.New(rand.NewPCG(1, uint64(total)<<32|uint64(n)))
	for range draws {
		from := len(d.sets)
	next:
		for j := total - n; j < total; j++ {
			x := int32(random.IntN(j + 1))
			for _, y := range d.sets[from:] {
				if y == x {
					d.sets = append(d.sets, int32(j))
					continue next
				}
			}
			d.sets = append(d.sets, x)
		}
	}
}

// signedTest is Wilcoxon's: pairs without a difference are left out.
func signedTest(d []float64) (float64, Method) {
	ranks, values := signedRanks(d)
	n := len(values)
	if n == 0 {
		return 1, Exact
	}
	up, all, squares := 0, 0, 0.0
	for i, r := range ranks {
		all += r
		squares += float64(r) * float64(r)
		if values[i] > 0 {
			up += r
		}
	}
	far := 2*up - all
	if far < 0 {
		far = -far
	}
	if n*all <= mostSteps {
		return exactSigns(ranks, all, far), Exact
	}
	// In doubled ranks the variance of up is Σ r²/4, and a step is one.
	z := max(float64(far)/2-0.5, 0) / (math.Sqrt(squares) / 2)
	return math.Erfc(z / math.Sqrt2), Normal
}

// exactSigns counts the ways to give ranks a sign, of which 2·up − all is so far from 0.
func exactSigns(ranks []int, all, far int) float64 {
	ways, release := room(all + 1)
	defer release()
	ways[0] = 1
	for _, r := range ranks {
		for s := all; s >= 0; s-- {
			ways[s] /= 2
			if s >= r {
				ways[s] += ways[s-r] / 2
			}
		}
	}
	p := 0.0
	for s, w := range ways {
		if 2*s-all >= far || all-2*s >= far {
			p += w
		}
	}
	return min(p, 1)
}
