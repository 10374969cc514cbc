package step

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Worked reports whether any GPU did anything.
func (j *Job) Worked() bool {
	return slices.ContainsFunc(j.GPUs, func(g GPU) bool { return g.Works > 0 })
}

// Unlinked returns the GPU work whose launch is not in the source.
func (j *Job) Unlinked() (count int, time trace.Time) {
	for i := range j.GPUs {
		count += j.GPUs[i].Unlinked
		time += j.GPUs[i].UnlinkedTime
	}
	return count, time
}

// Idle returns the idle time of all GPUs by cause, and its sum: in the steps, or if there are none in all time.
func (j *Job) Idle() (sum [Causes]trace.Time, whole trace.Time) {
	for i := range j.GPUs {
		from := &j.GPUs[i].InSteps
		if len(j.Steps) == 0 {
			from = &j.GPUs[i].Causes
		}
		for c, t := range from {
			sum[c] += t
			whole += t
		}
	}
	return sum, whole
}

// A GapOfGPU is a gap, and the place of its GPU among those of the job.
type GapOfGPU struct {
	*Gap
	GPU int
}

// LongestGaps returns up to n gaps of all GPUs, longest first. Gaps between one work and the next are left out: they
// have no cause.
func (j *Job) LongestGaps(n int) []GapOfGPU {
	var list []GapOfGPU
	for g := range j.GPUs {
		for k := range j.GPUs[g].Gaps {
			if x := &j.GPUs[g].Gaps[k]; x.Cause() != BetweenWorks {
				list = append(list, GapOfGPU{x, g})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b GapOfGPU) int {
		return cmp.Or(cmp.Compare(b.Length(), a.Length()), cmp.Compare(a.Begin, b.Begin))
	})
	return list[:min(len(list), n)]
}

// Names returns the names of steps in the order in which they first begin.
func (j *Job) Names() (out []string) {
	seen := map[string]bool{}
	order := make([]int, len(j.Steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(j.Steps[a].Begin, j.Steps[b].Begin) })
	for _, i := range order {
		if n := j.Steps[i].Name; !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// A Mean is the mean of steps.
type Mean struct {
	Steps      int
	Begin, End trace.Time // of all
	Terms      [Terms]float64
	// OnGPU is the time of their GPUs: computation, exposed communication, exposed copy, idle.
	OnGPU [4]float64
}

// Add adds a step. Divide must follow.
func (m *Mean) Add(s *Step) {
	if m.Steps == 0 {
		m.Begin, m.End = s.Begin, s.End
	}
	m.Begin, m.End = min(m.Begin, s.Begin), max(m.End, s.End)
	m.Steps++
	for t, x := range s.Terms {
		m.Terms[t] += float64(x)
	}
	g := SumOfGPUs(s.GPUs)
	for k, x := range []trace.Time{g.Computation, g.ExposedCommunication, g.ExposedCopy, g.Idle} {
		m.OnGPU[k] += float64(x)
	}
}

// Divide divides the sums by the number of steps.
func (m *Mean) Divide() {
	for t := range m.Terms {
		m.Terms[t] /= float64(m.Steps)
	}
	for k := range m.OnGPU {
		m.OnGPU[k] /= float64(m.Steps)
	}
}

// SumOfGPUs adds up the times of GPUs.
func SumOfGPUs(list []Time) (t Time) {
	for _, x := range list {
		t.Add(x)
	}
	return t
}
