package steps

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/scene"
)

// A line is a bar of the picture: a step, or the mean of some.
type line struct {
	label    string
	unit     int    // -1: of several
	step     int    // place among the names of steps
	location uint32 // where the line is one location, else scene.NoID
	step.Mean
}

func (l *line) total() (sum float64) {
	for _, t := range l.Terms {
		sum += t
	}
	return sum
}

func (l *line) span() float64 { return l.OnGPU[0] + l.OnGPU[1] + l.OnGPU[2] + l.OnGPU[3] }

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
	for i, n := range r.job.Names() {
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
	steps := r.job.Names()
	place := make(map[string]int, len(steps))
	for i, n := range steps {
		place[n] = i
	}
	mean := line{label: "mean", unit: -1, location: scene.NoID}
	var list []line
	at := map[string]int{}
	for i := range r.job.Steps {
		s := &r.job.Steps[i]
		mean.Add(s)
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
		list[k].Add(s)
	}
	for i := range list {
		list[i].Divide()
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
	mean.Divide()
	return append([]line{mean}, list...)
}
