package demo

import "github.com/parallax-hpc/parallax/internal/trace"

// A random is Vigna's splitmix64: one word of state, the same numbers on every
// machine and in every release, which a library's generator does not promise.
type random struct{ state uint64 }

const golden = 0x9E3779B97F4A7C15

func mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// randomOf starts the generator of one actor: actors of one seed are independent
// of each other and of the order in which they are simulated.
func randomOf(seed, actor uint64) random {
	return random{mix(seed+golden) ^ mix(mix(actor+golden)+golden)}
}

func (r *random) next() uint64 {
	r.state += golden
	return mix(r.state)
}

// below returns an integer in [0, n); the tiny bias of the remainder does not matter here.
func (r *random) below(n uint64) uint64 { return r.next() % n }

// around returns base with noise of a triangular shape that reaches perMille of it to both sides. It uses integers
// only, so that the result is the same everywhere.
func (r *random) around(base trace.Time, perMille uint64) trace.Time {
	x := r.next()
	span := uint64(base) * perMille / 1000
	if span == 0 {
		return base
	}
	// Two independent halves of one draw; their difference is triangular.
	a, b := (x>>32)*span>>32, (x&0xFFFFFFFF)*span>>32
	return base + trace.Time(a) - trace.Time(b)
}
