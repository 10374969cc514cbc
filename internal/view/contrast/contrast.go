// Package contrast shows why a selection is different: the quantities that set some
// locations apart from the others, or some time range from the rest.
//
// Package sides compares two sets in every quantity that the source has. Quantities of time come first, the largest and
// surest on top.
//
//	set.go     the two sets that are asked for
//	words.go   a difference in words
package contrast

import (
	"context"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/sides"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:  "contrast",
	Title: "Contrast",
	Summary: "quantities in which two selections differ: some locations against others, or one time range against " +
		"the rest",
	HowToRead: "Set A is the selection and set B the rest; --a and --b choose others. Each line is one quantity: " +
		"the time of a role, category, region or caller, the number of locations that call a region, the messages " +
		"of a partner, a counter, a metric or an attribute. The bar on the left shows how much more (right) or less " +
		"(left) A has, as a share of all time, bytes or values. The two rows next to it show the values on one " +
		"scale, A above B: one dot per rank or location, or a box (2, 25, 50, 75 and 98 %) if there are many. Lines " +
		"are sorted by the size of the shift and by the separation of the two sets. Differences that chance " +
		"explains as well are dimmed and come last. If A and B are the same locations at different times, each " +
		"location is compared with itself.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  2,
	Options: view.Words(view.Use("a", "b", "by=all", "metric", "group=auto", "top", "rows=threads"),
		"group: merge the locations of a rank, or show each; auto: ranks if they have several locations [auto "+
			"ranks locations]",
		"by: quantities: all, or some of role, category, region, caller, calls, messages, partner, counter, "+
			"metric, attribute joined by commas"),
	Report:  view.Report{Place: 3, Height: 420, AllRegions: true, About: true},
	Data:    []any{Data{}},
	Compute: compute,
}

type result struct {
	*sides.Result
	request *view.Request
	notes   []string
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	ask := &sides.Question{Regions: q.Selection.Regions, Group: q.Values.Text("group"),
		MetricText: q.Values.Text("metric")}
	var err error
	if ask.Kinds, err = parseKinds(q.Values.Text("by")); err != nil {
		return nil, err
	}
	if ask.Metric, err = runfacts.ChooseMetric(q.Store(), ask.MetricText); err != nil {
		return nil, err
	}
	if err := choose(ctx, q, ask); err != nil {
		return nil, err
	}
	found, err := ask.Compare(ctx)
	if err != nil {
		return nil, err
	}
	if len(found.Rows) == 0 {
		return nil, q.Advise("other regions").Empty("nothing to compare in the selection")
	}
	return &result{found, q, append(view.RowNotes(q.Store()), found.Notes...)}, nil
}

// parseKinds reads --by: all, or kinds joined by commas.
func parseKinds(text string) (map[string]bool, error) {
	out := map[string]bool{}
	for name := range strings.SplitSeq(text, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "all" || name == "":
			for _, k := range sides.Kinds {
				out[k] = true
			}
		case slices.Contains(sides.Kinds, name):
			out[name] = true
		default:
			return nil, words.NotOneOf("--by", name, append([]string{"all"}, sides.Kinds...)...)
		}
	}
	return out, nil
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
