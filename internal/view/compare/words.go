package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/runchange"
	"github.com/parallax-hpc/parallax/internal/view"
)

// words is the verdict: the change, how sure it is, its causes, and the limits of the
// data.
func (r *result) words() string {
	var b strings.Builder
	l := r.Length
	what := "The run"
	if r.Stepped {
		what = "A step"
	} else if !r.Prints[r.Runs[0][0]].Timed {
		what = "A location"
	}
	e := &l.Estimate
	fmt.Fprintf(&b, "%s takes %s in A and %s in B, %s", what, r.format(e.A), r.format(e.B), changeWords(e))
	switch {
	case e.NA == 1 && e.NB == 1:
		if l.Steps != nil && l.Steps.P > compare.Level {
			fmt.Fprintf(&b, ", which its %d and %d steps do not settle (p = %s)", l.Steps.NA, l.Steps.NB,
				probability(l.Steps.P))
		}
	case l.Verdict == compare.Changed && e.P > compare.Level:
		fmt.Fprintf(&b,
			" (%s, p = %s by Welch's test, which takes runs to be spread normally: no run of one side reaches the "+
				"other)", Interval(e), probability(e.PNormal))
	case l.Verdict == compare.Changed:
		fmt.Fprintf(&b, " (%s, p = %s)", Interval(e), probability(e.P))
	case l.Verdict == compare.Same:
		fmt.Fprintf(&b, ": not changed by more than %s (%s)", percent(r.Worth), Interval(e))
	default:
		fmt.Fprintf(&b, ", which cannot be told from chance (%s, p = %s)", Interval(e), probability(e.P))
		least := max(r.Worth, math.Abs(e.Change.Share))
		if n := compare.Needed(l.Values[0], l.Values[1], least); n > max(e.NA, e.NB) {
			fmt.Fprintf(&b, "; about %d runs per side would decide", n)
		}
	}
	b.WriteString(". ")
	b.WriteString(r.culprits())
	if e.NA == 1 && e.NB == 1 {
		b.WriteString(" There is one run per side: any two runs may differ as much.")
	}
	return b.String()
}

// culprits names the causes of the difference.
func (r *result) culprits() string {
	one := len(r.Runs[0]) == 1 && len(r.Runs[1]) == 1
	whole := r.Length.Difference()
	var names []string
	changed, same, unknown := 0, 0, 0
	for _, q := range r.Rows {
		switch q.Verdict {
		case compare.Changed:
			changed++
		case compare.Same:
			same++
		case compare.Unknown:
			unknown++
		}
		if q.Kind != "part" && r.Parted && one || len(names) == 2 {
			continue
		}
		large := math.Abs(q.Difference()) >= 0.2*math.Abs(whole) &&
			math.Abs(q.Difference()) >= runchange.LeastShare*r.Length.Estimate.A
		if q.Verdict == compare.Changed || one && large {
			names = append(names,
				fmt.Sprintf("%s %s to %s (%s)", label(q), r.format(q.Estimate.A), r.format(q.Estimate.B),
					r.signed(q.Estimate.Shift)))
		}
	}
	switch {
	case one && len(names) > 0:
		return "Most of the difference: " + strings.Join(names, ", ") + "." + r.steady()
	case one:
		return "No part of it stands out."
	case changed == 0:
		return fmt.Sprintf("Of %d call paths none is known to have changed; %d have not by more than %s, %d cannot "+
			"be told.%s", same+unknown, same, percent(r.Worth), unknown, r.likely())
	}
	return fmt.Sprintf("Changed: %s%s; %d have not changed by more than %s, %d cannot be told.%s",
		strings.Join(names, ", "), more(changed-len(names)), same, percent(r.Worth), unknown, r.likely())
}

// leastLikely is the part of the length from which on a difference that is not certain is named.
const leastLikely = 0.05

// likely names the largest difference if it is not certain, but the length changed or much of it would be in it: with
// more runs the sentence names no less than with one.
func (r *result) likely() string {
	q, e := r.Rows[0], &r.Rows[0].Estimate
	if q.Verdict != compare.Unknown ||
		r.Length.Verdict != compare.Changed && math.Abs(e.Shift) < leastLikely*r.Length.Estimate.A {
		return ""
	}
	return fmt.Sprintf(" The largest difference is not certain: %s %s to %s (%s, p = %s by itself).", label(q),
		r.format(e.A), r.format(e.B), r.signed(e.Shift), probability(e.Decisive()))
}

// steady names the largest part that hardly differs: it is as much of an answer.
func (r *result) steady() string {
	var best *runchange.Quantity
	for _, q := range r.Rows {
		if a, b := q.Mean(0), q.Mean(1); q.Kind == "part" && a > 0 && math.Abs(b/a-1) < 0.02 &&
			(best == nil || a > best.Mean(0)) {
			best = q
		}
	}
	if best == nil {
		return ""
	}
	a, b := best.Mean(0), best.Mean(1)
	return fmt.Sprintf(" %s is the same within %s (%s).", label(best), percent(math.Abs(b/a-1)), r.format(b))
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// label is a name, with its name in A.
func label(q *runchange.Quantity) string {
	if q.Was != "" && q.Was != q.Name {
		return q.Name + " (was " + q.Was + ")"
	}
	return q.Name
}

// format writes a time, or a value in the profile's unit.
func (r *result) format(v float64) string { return view.FormatIn(v, r.unit) }

func (r *result) signed(v float64) string { return view.Signed(v, r.format) }

// changeWords writes the change of an estimate: that of the means, which the sentence names, and the median change
// where runs differ so much that it is another.
func changeWords(e *compare.Estimate) string {
	means, median := relative(e.B, e.A), relative(1+e.Change.Share, 1)
	if e.A == 0 || math.Abs(e.B/e.A-1-e.Change.Share) < leastApart {
		return median
	}
	return fmt.Sprintf("%s by the means, %s by the median of all pairs of runs", means, median)
}

// leastApart is the difference from which on the change of the means and the median change are both written.
const leastApart = 0.01

// relative writes a change: "3.1 % more".
func relative(b, a float64) string {
	switch d := b/a - 1; {
	case a == 0 || math.IsNaN(d):
		return "which is new"
	case d < 0:
		return percent(-d) + " less"
	case d >= ManyTimes:
		return Times(b/a) + " as much"
	default:
		return percent(d) + " more"
	}
}

// ManyTimes is the growth from which on a change is written as how many times as much: "51 ×" is read sooner than
// "+5034.3 %".
const ManyTimes = 9

// Times writes a large ratio.
func Times(x float64) string { return view.FormatCount(math.Round(x)) + " ×" }

// percent writes a share of a change, finer than FormatShare where it is small.
func percent(x float64) string {
	switch x *= 100; {
	case x < 0.05:
		return fmt.Sprintf("%.2g %%", x)
	case x < 10:
		return fmt.Sprintf("%.1f %%", x)
	}
	return fmt.Sprintf("%.0f %%", x)
}

// Interval writes the bounds of a change; if the runs are too few for 95 %, those that they do tell.
func Interval(e *compare.Estimate) string {
	low, high, confidence := e.Change.Low, e.Change.High, 1-compare.Level
	if math.IsNaN(low) {
		low, high, confidence = e.Low/e.A, e.High/e.A, e.Confidence
	}
	if math.IsNaN(low) || e.A == 0 {
		return "no interval"
	}
	return fmt.Sprintf("%s … %s with %.0f %% confidence", shorterUnit(signedPercent(100*low), signedPercent(100*high)),
		signedPercent(100*high), 100*confidence)
}

// shorterUnit leaves out the unit of the first of two numbers where the second has the same.
func shorterUnit(a, b string) string {
	for _, unit := range []string{" %", " ×"} {
		if strings.HasSuffix(a, unit) && strings.HasSuffix(b, unit) {
			return strings.TrimSuffix(a, unit)
		}
	}
	return a
}

// signedPercent writes a change with its sign, the minus as long as the plus; none without a sign.
func signedPercent(x float64) string {
	switch {
	case math.Abs(x) < 0.05:
		return "0.0 %"
	case x >= 100*ManyTimes:
		return Times(1 + x/100)
	}
	return view.FormatSigned("%+.1f %%", x)
}

// probability writes a p as benchstat does, three digits after the point.
func probability(p float64) string {
	if p < 0.0005 && p > 0 {
		return fmt.Sprintf("%.0e", p)
	}
	return fmt.Sprintf("%.3f", p)
}
