package scaling

import (
	"fmt"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/scaling"
	"github.com/parallax-hpc/parallax/internal/view"
)

func (r *result) factor(name string) *scaling.Factor {
	for i := range r.factors {
		if r.factors[i].Name == name {
			return &r.factors[i]
		}
	}
	return nil
}

// words is the verdict: how far it scales, the worst factor, and the dominant call path
// beyond.
func (r *result) words() string {
	var b strings.Builder
	first, last := &r.runs[0], &r.runs[len(r.runs)-1]
	at := len(r.runs) - 1
	ideal := last.Sums.Size / first.Sums.Size
	fmt.Fprintf(&b, "%s scaling from %.0f to %.0f ranks", strings.ToUpper(string(r.kind[:1]))+string(r.kind[1:]),
		first.Sums.Size, last.Sums.Size)
	if s := r.factor("Speedup"); s != nil && ideal > 1 {
		what := "times as fast"
		if r.kind == scaling.Weak {
			what = "times as much in the same time"
		}
		fmt.Fprintf(&b, ": %.3g %s, where %.3g would be ideal", s.Values[at], what, ideal)
	}
	if g := r.factor("Global efficiency"); g != nil && !math.IsNaN(g.Values[at]) {
		fmt.Fprintf(&b, "; %s efficient in all", view.FormatShare(g.Values[at]))
	}
	b.WriteString(".")
	var worst *scaling.Factor
	for i := range r.factors {
		f := &r.factors[i]
		if f.Share && f.Level == 2 && f.Values[at] < 1 && (worst == nil || f.Values[at] < worst.Values[at]) {
			worst = f
		}
	}
	if c := r.factor("Computation scalability"); c != nil && math.IsNaN(first.Sums.Instructions) &&
		(worst == nil || c.Values[at] < worst.Values[at]) {
		worst = c
	}
	if worst != nil && worst.Values[at] < 0.99 {
		fmt.Fprintf(&b, " Most is lost by %s, %s.", strings.ToLower(worst.Name[:1])+worst.Name[1:],
			view.FormatShare(worst.Values[at]))
	}
	if len(r.models) > 0 && r.models[0].Fitted {
		m := &r.models[0]
		sum := 0.0
		for i := range r.models {
			sum += r.models[i].Last()
		}
		how := "as it is"
		if len(m.Terms) > 0 {
			how = "growing with" + strings.TrimPrefix(m.Terms[0].Growth(), " ·")
			if m.Terms[0].I < 0 {
				how = "falling less than the others"
			}
		}
		if sum > 0 {
			fmt.Fprintf(&b, " At %.0f ranks %s would have most of the time, %s, %s.", scaling.Beyond*last.Sums.Size,
				m.Name, view.FormatShare(m.Predicted/sum), how)
		}
	}
	return b.String()
}
