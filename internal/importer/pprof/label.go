package pprof

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// labels gathers the labels of samples that make no location: they become
// attributes of the location that took the samples.
type labels struct {
	current []label // of the sample at hand
	seen    map[labelKey]*values
}

type label struct{ name, value string }

type labelKey struct {
	at   trace.LocationID
	name string
}

// values counts the samples of each value of a label.
type values struct {
	samples map[string]int64
	more    int64 // samples of values beyond mostValues
}

// mostValues bounds the values that are distinguished, shownValues those that the
// attribute names.
const (
	mostValues  = 4096
	shownValues = 8
)

// begin forgets the labels of the sample before.
func (l *labels) begin() { l.current = l.current[:0] }

func (l *labels) add(name, value string) { l.current = append(l.current, label{name, value}) }

// count adds the labels of a sample to its location.
func (l *labels) count(at trace.LocationID) {
	for _, x := range l.current {
		if l.seen == nil {
			l.seen = map[labelKey]*values{}
		}
		k := labelKey{at, x.name}
		v := l.seen[k]
		if v == nil {
			v = &values{samples: map[string]int64{}}
			l.seen[k] = v
		}
		if _, ok := v.samples[x.value]; !ok && len(v.samples) >= mostValues {
			v.more++
			continue
		}
		v.samples[x.value]++
	}
}

// write gives each location its labels. If a label has several values on one
// location, samples of all of them were added up: that is counted.
func (l *labels) write(w trace.Writer) {
	keys := slices.SortedFunc(maps.Keys(l.seen), func(a, b labelKey) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.name, b.name))
	})
	for _, k := range keys {
		v := l.seen[k]
		w.Describe(k.at,
			trace.Location{Rank: trace.NoRank,
				Attributes: []trace.Attribute{{Key: k.name, Value: trace.Text(v.text())}}})
		if len(v.samples) < 2 {
			continue
		}
		n := v.more
		for _, c := range v.samples {
			n += c
		}
		w.Report(trace.MissingDetails,
			fmt.Sprintf("labels %q of samples (the most frequent are attributes of the location)", k.name), n, "")
	}
}

// text names the values, those of most samples first.
func (v *values) text() string {
	names := slices.SortedFunc(maps.Keys(v.samples), func(a, b string) int {
		return cmp.Or(cmp.Compare(v.samples[b], v.samples[a]), cmp.Compare(a, b))
	})
	rest := len(names) - shownValues
	if rest > 0 {
		names = names[:shownValues]
	}
	text := strings.Join(names, ", ")
	if v.more > 0 {
		return text + " and many more"
	}
	if rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}
