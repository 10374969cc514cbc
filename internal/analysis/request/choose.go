package request

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Choose returns those of some requests that words mean. Ids and globs add up; conditions
// must all hold:
//
//	slow, slow:1%     the slowest, 5 % where nothing is said
//	errors            with a call that failed
//	>200ms, <1s       by duration
//	took:100ms..1s    by duration, both ends included
//	begin:1.2s..3s    by begin, both ends included
//	root:NAME         by a glob of the root's name
//	KEY=VALUE         by an attribute of the root
func (f *Forest) Choose(s *runfacts.SpanSource, from []int32, words []string) ([]int32, error) {
	out := slices.Clone(from)
	var ids []string
	for _, w := range words {
		w = strings.TrimSpace(w)
		keep, err := f.condition(s, from, w)
		if err != nil {
			return nil, err
		}
		if keep == nil {
			ids = append(ids, w)
			continue
		}
		out = slices.DeleteFunc(out, func(k int32) bool { return !keep(k) })
	}
	if len(ids) > 0 {
		out = slices.DeleteFunc(out, func(k int32) bool {
			return !slices.ContainsFunc(ids, func(p string) bool {
				return matches(p, f.Requests[k].ID)
			})
		})
	}
	return out, nil
}

// condition reads one word; nil for an id.
func (f *Forest) condition(s *runfacts.SpanSource, from []int32, w string) (func(int32) bool, error) {
	kind, rest, has := strings.Cut(w, ":")
	switch {
	case w == "slow" || kind == "slow" && has:
		share := 0.05
		if has {
			x, err := strconv.ParseFloat(strings.TrimSuffix(rest, "%"), 64)
			if err != nil || x <= 0 || x >= 100 {
				return nil, fmt.Errorf("%q: want slow:SHARE, such as slow:1%%", w)
			}
			share = x / 100
		}
		return f.slowest(from, share), nil
	case w == "errors":
		return func(k int32) bool { return f.Requests[k].Errors > 0 }, nil
	case kind == "root" && has:
		return func(k int32) bool {
			r := f.Requests[k].Root
			if r == NoRoot {
				return false
			}
			return matches(rest, f.Regions[f.Region[r]].Name)
		}, nil
	case (kind == "took" || kind == "begin") && has && strings.Contains(rest, ".."):
		low, high, err := timeRange(rest)
		if err != nil {
			return nil, fmt.Errorf("%q: want a range such as %s:100ms..1s", w, kind)
		}
		return func(k int32) bool {
			t := f.Requests[k].Begin
			if kind == "took" {
				t = f.Requests[k].Duration()
			}
			return low <= t && t <= high
		}, nil
	case len(w) > 1 && (w[0] == '>' || w[0] == '<'):
		d, err := time.ParseDuration(strings.TrimSpace(w[1:]))
		if err != nil {
			return nil, fmt.Errorf("%q: want a duration such as %c200ms", w, w[0])
		}
		more := w[0] == '>'
		return func(k int32) bool {
			t := f.Requests[k].Duration()
			return more && t > trace.Time(d) || !more && t < trace.Time(d)
		}, nil
	}
	if key, value, ok := strings.Cut(w, "="); ok {
		has := map[int32]bool{}
		err := f.ofRoots(s, key, func(node int32, v trace.Value) {
			if v.String() == value {
				has[node] = true
			}
		})
		return func(k int32) bool { return has[f.Requests[k].Root] }, err
	}
	return nil, nil
}

// timeRange reads "100ms..1s"; an end that is missing bounds nothing.
func timeRange(text string) (low, high trace.Time, err error) {
	low, high = math.MinInt64, math.MaxInt64
	from, to, _ := strings.Cut(text, "..")
	for _, x := range []struct {
		text string
		into *trace.Time
	}{{from, &low}, {to, &high}} {
		if x.text = strings.TrimSpace(x.text); x.text == "" {
			continue
		}
		d, err := time.ParseDuration(x.text)
		if err != nil {
			return 0, 0, err
		}
		*x.into = trace.Time(d)
	}
	return low, high, nil
}

// slowest holds the slowest of some requests: at least one, and all that last as long.
func (f *Forest) slowest(from []int32, share float64) func(int32) bool {
	times := make([]trace.Time, len(from))
	for i, k := range from {
		times[i] = f.Requests[k].Duration()
	}
	slices.SortFunc(times, func(a, b trace.Time) int { return cmp.Compare(b, a) })
	n := max(int(math.Round(share*float64(len(times)))), 1)
	if len(times) == 0 {
		return func(int32) bool { return false }
	}
	least := times[n-1]
	return func(k int32) bool { return f.Requests[k].Duration() >= least }
}

// Within returns the requests that begin in [begin, end) and, where locations are given, have
// a call at one of them.
func (f *Forest) Within(begin, end trace.Time, locations func(trace.LocationID) bool) []int32 {
	out := []int32{}
	for k := range f.Requests {
		r := &f.Requests[k]
		if r.Begin < begin || r.Begin >= end {
			continue
		}
		in := locations == nil
		if !in {
			f.Each(r, func(node int32, _ int) { in = in || locations(f.calls.Location(node)) })
		}
		if in {
			out = append(out, int32(k))
		}
	}
	return out
}

// matches reports whether a text is as a pattern says, in which * stands for any text.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		if _, text, ok = strings.Cut(text, p); !ok {
			return false
		}
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
