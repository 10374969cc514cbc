package steps

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A line is a bar of the picture: a step, or the mean of some.
type line struct {
	label      string
	unit       int    // -1: of several
	step       int    // place among the names of steps
	location   uint32 // where the line is one location, else scene.NoID
	steps      int    // that it is the mean of
	begin, end trace.Time
	terms      [step.Terms]float64
	gpu        [4]float64 // computation, exposed communication, exposed copy, idle
}

func (l *line) total() (sum float64) {
	for _, t := range l.terms {
		sum += t
	}
	return sum
}

func (l *line) span() float64 { return l.gpu[0] + l.gpu[1] + l.gpu[2] + l.gpu[3] }

// add adds a step, to be divided later.
func (l *line) add(s *step.Step) {
	if l.steps == 0 {
		l.begin, l.end = s.Begin, s.End
	}
	l.begin, l.end = min(l.begin, s.Begin), max(l.end, s.End)
	l.steps++
	for t, x := range s.Terms {
		l.terms[t] += float64(x)
	}
	g := sum(s.GPUs)
	for k, x := range []trace.Time{g.Computation, g.ExposedCommunication, g.ExposedCopy, g.Idle} {
		l.gpu[k] += float64(x)
	}
}

func (l *line) divide() {
	for t := range l.terms {
		l.terms[t] /= float64(l.steps)
	}
	for k := range l.gpu {
		l.gpu[k] /= float64(l.steps)
	}
}

// barKinds are the kinds of lines, by the number that items have of them.
var barKinds = []string{"all", "steps", "ranks"}

// by returns the kind of lines. The number of lines that fit decides the meaning of
// auto.
func (r *result) by(room int) int {
	if k := slices.Index(barKinds, r.request.Values.Text("by")); k >= 0 {
		return k
	}
	if len(r.job.Steps) < room || len(r.names) == 1 {
		return slices.Index(barKinds, "all")
	}
	return slices.Index(barKinds, "ranks") // of many the longest of each block is drawn, so that one odd rank is seen
}

// lines returns the bars, the mean of all first; they are made once.
func (r *result) lines(by int) []line {
	if r.held[by] == nil {
		r.held[by] = r.makeLines(barKinds[by])
	}
	return r.held[by]
}

// shortenSteps writes "#3 · rank 0" for "ProfilerStep#3 · rank 0" where all steps have one word and a
// number: a note below the picture has the word.
func (r *result) shortenSteps(rows []scene.Row) {
	word := ""
	for i, n := range r.stepNames() {
		w := strings.TrimRight(n, "0123456789")
		if w == n || i > 0 && w != word {
			return
		}
		word = w
	}
	for i := range rows {
		if rest, ok := strings.CutPrefix(rows[i].Label, word); ok && word != "" {
			rows[i].Label = "#" + rest
		}
	}
}

func (r *result) makeLines(by string) []line {
	steps := r.stepNames()
	place := make(map[string]int, len(steps))
	for i, n := range steps {
		place[n] = i
	}
	mean := line{label: "mean", unit: -1, location: scene.NoID}
	var list []line
	at := map[string]int{}
	for i := range r.job.Steps {
		s := &r.job.Steps[i]
		mean.add(s)
		label, unit := s.Name, -1
		switch {
		case by == "ranks":
			label, unit = r.names[s.Unit], s.Unit
		case by == "all" && len(r.names) > 1:
			label, unit = s.Name+" · "+r.names[s.Unit], s.Unit
		case by == "all":
			unit = s.Unit
		}
		k, ok := at[label]
		if !ok || by == "all" {
			k = len(list)
			at[label] = k
			list = append(list, line{label: label, unit: unit, step: place[s.Name], location: scene.NoID})
		}
		list[k].add(s)
	}
	for i := range list {
		list[i].divide()
	}
	if by == "all" { // steps one below the other, ranks within
		slices.SortStableFunc(list,
			func(a, b line) int { return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.unit, b.unit)) })
	}
	if by == "ranks" {
		turn := make([]int32, len(r.names))
		for k, u := range r.Arrangement().Places(r.devices.Units) {
			turn[u] = int32(k)
		}
		slices.SortStableFunc(list, func(a, b line) int { return cmp.Compare(turn[a.unit], turn[b.unit]) })
		for i := range list {
			list[i].location = uint32(r.devices.Units[list[i].unit])
		}
	}
	mean.divide()
	return append([]line{mean}, list...)
}

// stepNames lists the names of steps in the order in which they first begin.
func (r *result) stepNames() (out []string) {
	seen := map[string]bool{}
	order := make([]int, len(r.job.Steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.job.Steps[a].Begin, r.job.Steps[b].Begin) })
	for _, i := range order {
		if n := r.job.Steps[i].Name; !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
