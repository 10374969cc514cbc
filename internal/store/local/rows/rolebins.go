package rows

import "github.com/parallax-hpc/parallax/internal/trace"

// RoleBins adds up the time of each role in bins of 2^level ns. Whole bins within
// a time range are kept as differences, so that adding is O(1) however many
// bins it crosses; take and join run over the bins once.
type RoleBins struct {
	begin     trace.Time
	Level     int
	n         int
	part      []trace.Time // parts of bins: RoleCount values a bin
	step      []trace.Time // changes of whole bins, likewise; one bin more
	low, high int          // bins in [low, high) may be other than zero
}

func NewRoleBins(begin trace.Time, level, n int) *RoleBins {
	return new(RoleBins).Reset(begin, level, n)
}

// Reset makes b empty bins, with the memory it has. All of it is zero.
func (b *RoleBins) Reset(begin trace.Time, level, n int) *RoleBins {
	size := (n + 1) * trace.RoleCount
	if cap(b.part) < size {
		b.part, b.step = make([]trace.Time, size), make([]trace.Time, size)
	}
	*b = RoleBins{begin: begin, Level: level, n: n, part: b.part[:size], step: b.step[:size], low: n}
	return b
}

// End of the last bin.
func (b *RoleBins) End() trace.Time { return b.begin + trace.Time(b.n)<<b.Level }

// Add counts [from, to), which is within the bins, as time of role.
func (b *RoleBins) Add(from, to trace.Time, role trace.Role) {
	if from >= to {
		return
	}
	first, last := int((from-b.begin)>>b.Level), int((to-1-b.begin)>>b.Level)
	b.low, b.high = min(b.low, first), max(b.high, last+1)
	i := first*trace.RoleCount + int(role)
	if first == last {
		b.part[i] += to - from
		return
	}
	j := last*trace.RoleCount + int(role)
	b.part[i] += b.begin + trace.Time(first+1)<<b.Level - from
	b.part[j] += to - (b.begin + trace.Time(last)<<b.Level)
	b.step[i+trace.RoleCount] += 1 << b.Level
	b.step[j] -= 1 << b.Level
}

// AddSegments counts segments that follow each other without gaps; those of one role in a row are one. It does the
// same as add for each, inlined: a call for each made an import 3 % longer.
func (b *RoleBins) AddSegments(list []trace.Segment) {
	begin, level, part, step := b.begin, b.Level&63, b.part, b.step
	low, high := b.low, b.high
	for i := 0; i < len(list); {
		g := &list[i]
		k := i + 1
		for k < len(list) && list[k].Role == g.Role && (list[k].Row < 0) == (g.Row < 0) {
			k++
		}
		from, to, role := g.Begin-begin, list[k-1].End-begin, int(g.Role)
		i = k
		if g.Row < 0 {
			continue
		}
		first, last := int(from>>level), int((to-1)>>level)
		low, high = min(low, first), max(high, last+1)
		at := first*trace.RoleCount + role
		if first == last {
			part[at] += to - from
			continue
		}
		end := last*trace.RoleCount + role
		part[at] += trace.Time(first+1)<<level - from
		part[end] += to - trace.Time(last)<<level
		step[at+trace.RoleCount] += 1 << level
		step[end] -= 1 << level
	}
	b.low, b.high = low, high
}

// Join adds the times of o, which has the same bins.
func (b *RoleBins) Join(o *RoleBins) {
	b.low, b.high = min(b.low, o.low), max(b.high, o.high)
	for i := o.low * trace.RoleCount; i < o.high*trace.RoleCount; i++ {
		b.part[i] += o.part[i]
		b.step[i] += o.step[i]
	}
}

// Sums returns the bins that may be other than zero, as they are kept.
func (b *RoleBins) Sums() (low, high int, part, step []trace.Time) {
	from, to := b.low*trace.RoleCount, b.high*trace.RoleCount
	if b.low >= b.high {
		return b.n, 0, nil, nil
	}
	return b.low, b.high, b.part[from:to], b.step[from:to]
}

// SetSums puts the result of Sums into empty bins; false: it does not fit.
func (b *RoleBins) SetSums(low, high int, part, step []trace.Time) bool {
	if low >= high {
		return len(part) == 0 && len(step) == 0
	}
	if n := (high - low) * trace.RoleCount; high > b.n || len(part) != n || len(step) != n {
		return false
	}
	b.low, b.high = low, high
	copy(b.part[low*trace.RoleCount:], part)
	copy(b.step[low*trace.RoleCount:], step)
	return true
}

// Take adds the times to those of a group, bin by bin, and clears them.
func (b *RoleBins) Take(to []trace.Time) {
	var whole [trace.RoleCount]trace.Time
	for i := b.low * trace.RoleCount; i < b.high*trace.RoleCount; i++ {
		role := i % trace.RoleCount
		whole[role] += b.step[i]
		to[i] += b.part[i] + whole[role]
	}
	b.clear()
}

func (b *RoleBins) clear() {
	if b.low < b.high {
		clear(b.part[b.low*trace.RoleCount : b.high*trace.RoleCount])
		clear(b.step[b.low*trace.RoleCount : b.high*trace.RoleCount])
	}
	b.low, b.high = b.n, 0
}

// Pack clears the bins and gives their times role by role, with a bit for each
// role that has any.
func (b *RoleBins) Pack() (times []trace.Time, roles uint16) {
	all := make([]trace.Time, b.n*trace.RoleCount)
	b.Take(all)
	for i, t := range all {
		if t != 0 {
			roles |= 1 << (i % trace.RoleCount)
		}
	}
	for role := range trace.RoleCount {
		if roles>>role&1 != 0 {
			for k := range b.n {
				times = append(times, all[k*trace.RoleCount+role])
			}
		}
	}
	return times, roles
}
