package step

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A marking is the way in which a region marks steps, the most reliable last.
type marking uint8

const (
	noStep    marking = iota
	optimizer         // ends a step if no other mark does
	repeated          // an annotation that comes again and again
	named             // one whose name says that it is a step
	numbered          // names that differ only in a running number
	annotated         // XLA's StepTraceAnnotation and its like: a number next to the name
	profiled          // ProfilerStep#n
)

// mostMarks is how many steps of one unit are still steps.
const mostMarks = 20_000

var profilerStep = regexp.MustCompile(`^ProfilerStep#?\s*(\d+|…)`)

// stepWords are parts of names that mean a step, as trainers write them: PyTorch Lightning,
// Megatron, DeepSpeed, Keras. Those before are preferred to those behind.
var stepWords = []string{
	"train_step", "train-step", "training_step", "train step", "run_training_batch", "train_batch", "train batch",
	"global_step", "iteration", "iter", "step", "batch", "train", "epoch",
}

// stepWord is the place of a name among stepWords; len(stepWords) where it has none.
func stepWord(stem string) int {
	stem = strings.ToLower(stem)
	for i, w := range stepWords {
		at := strings.Index(stem, w)
		if at < 0 {
			continue
		}
		if end := at + len(w); w == "iter" || w == "step" || w == "batch" || w == "train" { // whole words only
			if at > 0 && isLetter(stem[at-1]) || end < len(stem) && isLetter(stem[end]) {
				continue
			}
		}
		return i
	}
	return len(stepWords)
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// A family is regions that together mark the steps.
type family struct {
	sort  marking
	word  int
	stem  string
	names map[string]bool // that differ by their number
	cover trace.Time
	count int
	marks [][]mark // by unit
	spoil bool     // too many to be steps
}

// A mark is one interval that may be a step.
type mark struct {
	begin, end trace.Time
	region     trace.RegionID
	location   trace.LocationID
	lane       int
	row        int
	number     int64 // -1: none
}

// sortOf returns how a region of the host may mark steps.
func sortOf(g *trace.Region) marking {
	name := strings.ToLower(g.Name)
	switch {
	case profilerStep.MatchString(g.Name):
		return profiled
	case strings.HasPrefix(name, "optimizer.step#") || name == "deepspeedengine.step" || name == "optimizer":
		return optimizer
	case isLoader(name) || strings.HasPrefix(name, "optimizer."):
		return noStep
	}
	annotation := g.Role == trace.RoleAnnotation
	if stem := trace.Stem(g.Name); stem != g.Name &&
		(annotation || g.Role == trace.RoleCompute && !strings.EqualFold(g.Category, "cpu_op") &&
			!strings.EqualFold(g.Category, "operator") && stepWord(stem) < len(stepWords)) {
		return numbered
	}
	switch {
	case !annotation:
		return noStep
	case strings.EqualFold(g.Category, "step"):
		return annotated
	case stepWord(g.Name) < len(stepWords) && !strings.Contains(name, "lr_") && !strings.Contains(name, "zero_grad"):
		return named
	}
	return repeated
}

// choose picks the family that marks the steps, nil where none does. In each of the sorts the one
// whose name says so best, then the one that covers most.
func choose(all []*family, lengths []trace.Time) *family {
	whole := trace.Time(0)
	for _, l := range lengths {
		whole += l
	}
	var best *family
	for _, f := range all {
		f.measure()
		part := float64(f.cover) / float64(max(whole, 1))
		switch {
		case f.spoil || f.count < 2 && f.sort != profiled:
			continue
		case f.sort == numbered &&
			(len(f.names) < 2 && !trace.FoldedStep(f.stem+"…") || f.word == len(stepWords) && part < 0.5):
			continue
		case f.sort == repeated && (f.count < 3 || part < 0.5):
			continue
		}
		if best == nil ||
			cmp.Or(cmp.Compare(f.sort, best.sort), cmp.Compare(best.word, f.word), cmp.Compare(f.cover, best.cover),
				cmp.Compare(best.stem, f.stem)) > 0 {
			best = f
		}
	}
	return best
}

// measure keeps, of each unit, the marks of the lane that has most, outermost and in order.
func (f *family) measure() {
	f.cover, f.count = 0, 0
	for u, list := range f.marks {
		if f.spoil {
			break
		}
		f.marks[u] = outermost(list)
		f.count = max(f.count, len(f.marks[u]))
		for _, m := range f.marks[u] {
			f.cover += m.end - m.begin
		}
	}
}

func outermost(list []mark) []mark {
	type place struct {
		location trace.LocationID
		lane     int
	}
	most, at := 0, place{}
	count := map[place]int{}
	for _, m := range list {
		p := place{m.location, m.lane}
		count[p]++
		if n := count[p]; n > most ||
			n == most && cmp.Or(cmp.Compare(p.location, at.location), cmp.Compare(p.lane, at.lane)) < 0 {
			most, at = n, p
		}
	}
	list = slices.DeleteFunc(list, func(m mark) bool { return m.location != at.location || m.lane != at.lane })
	slices.SortFunc(list,
		func(a, b mark) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end)) })
	out := list[:0]
	for _, m := range list {
		if n := len(out); n > 0 && m.begin < out[n-1].end {
			continue
		}
		out = append(out, m)
	}
	return out
}

// steps of one unit, named. If an optimizer ends them, they reach from the end of one to that of the next.
func (f *family) steps(unit int, g *gatherer, begin trace.Time) ([]Mark, error) {
	list := f.marks[unit]
	out := make([]Mark, 0, len(list))
	for i, m := range list {
		at := store.Row{Location: m.location, Lane: m.lane - int(g.Lane(m.location, 0)), Row: m.row}
		name, err := store.NameOf(g.Store, g.Regions[m.region].Name, at)
		if err != nil {
			return nil, err
		}
		s := Mark{Name: name, Begin: m.begin, End: m.end, Location: m.location}
		switch {
		case f.sort == optimizer:
			s.Name, s.Begin = "step "+strconv.Itoa(i+1), begin
			begin = s.End
		case m.number >= 0:
			s.Name += " " + strconv.FormatInt(m.number, 10)
		case len(f.names) < 2 && f.sort < numbered:
			s.Name += " " + strconv.Itoa(i+1)
		}
		out = append(out, s)
	}
	return out, nil
}

// words names the steps.
func (f *family) words() string {
	switch f.sort {
	case optimizer:
		return "from the end of one optimizer step to that of the next"
	case numbered, profiled:
		return f.stem + "n"
	}
	return f.stem
}
