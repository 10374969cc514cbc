package view

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A Spec is a selection as people write it: on the command line, in the URL, in
// the HTTP API. Empty parts select everything.
type Spec struct {
	From, To  string   // "1.5s", "200ms", "30%", plain nanoseconds
	Locations []string // patterns, see Pattern
	Regions   []string
}

// Resolve turns a spec into a selection of the run. A pattern that matches
// nothing is an error that says so.
func (s Spec) Resolve(r store.Reader) (trace.Selection, error) {
	sel := trace.Selection{Begin: 0, End: r.Info().End}
	var err error
	if s.From != "" {
		if sel.Begin, err = ParseTime(s.From, r.Info().End); err != nil {
			return sel, fmt.Errorf("--from: %w", err)
		}
	}
	if s.To != "" {
		if sel.End, err = ParseTime(s.To, r.Info().End); err != nil {
			return sel, fmt.Errorf("--to: %w", err)
		}
	}
	sel.Begin, sel.End = max(sel.Begin, 0), min(sel.End, r.Info().End)
	if (s.From != "" || s.To != "") && sel.Begin >= sel.End {
		from, to := cmp.Or(s.From, "the begin"), cmp.Or(s.To, "the end")
		return sel,
			fmt.Errorf("the time range from %s to %s is empty; the trace is %s long", from, to,
				FormatTime(r.Info().End))
	}
	if sel.Locations, err = MatchLocations(r.Locations(), s.Locations); err != nil {
		return sel, err
	}
	sel.Regions, err = MatchRegions(r.Regions(), s.Regions)
	return sel, err
}

// First returns the spec that a view shows of runs first, with a note that names the parts left out. If it names no
// time: the core, if a few records far from all others stretch the run; for a view over time, the first window of
// runs that are mostly blank.
func (s Spec) First(ctx context.Context, v *View, runs []Run) (Spec, string, error) {
	r := runs[0].Store
	if s.From != "" || s.To != "" {
		return s, "", nil
	}
	if core := r.Info().Core; core != nil {
		s.From, s.To = strconv.FormatInt(int64(core[0]), 10), strconv.FormatInt(int64(core[1]), 10)
		return s,
			fmt.Sprintf("shows the %s from %s on, of %s: a few records lie far from all others in time; --from 0 "+
				"--to 100%% shows all",
				FormatTime(core[1]-core[0]), FormatTime(core[0]), FormatTime(r.Info().End)), nil
	}
	if !v.OfTime {
		return s, "", nil
	}
	windows, err := runfacts.Windows(ctx, r)
	if err != nil || windows == nil {
		return s, "", err
	}
	first := windows[0]
	if len(runs) == 2 { // both have room on the one scale
		other, err := runfacts.Windows(ctx, runs[1].Store)
		if err != nil || other == nil {
			return s, "", err
		}
		first = [2]trace.Time{min(first[0], other[0][0]), max(first[1], other[0][1])}
	}
	s.From, s.To = strconv.FormatInt(int64(first[0]), 10), strconv.FormatInt(int64(min(first[1], r.Info().End)), 10)
	return s,
		fmt.Sprintf("shows the first of %d windows: nothing is recorded for the %s after it; --from %s shows the "+
			"next one, --from 0 --to 100%% all of %s",
			len(windows), FormatTime(windows[1][0]-windows[0][1]), fmt.Sprintf("%dms", windows[1][0]/1e6),
			FormatTime(r.Info().End)), nil
}

// ParseTime reads a time with a unit, a share of the whole, or plain nanoseconds.
func ParseTime(s string, whole trace.Time) (trace.Time, error) {
	num := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzµ%")
	scale,
		ok := map[string]float64{"": 1, "ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9,
		"%": float64(whole) / 100}[s[len(num):]]
	if !ok {
		return 0, fmt.Errorf("time %q: unknown unit %q, want ns, us, ms, s, min, h or %%", s, s[len(num):])
	}
	if scale == 1 {
		if i, err := strconv.ParseInt(num, 10, 64); err == nil {
			return trace.Time(i), nil
		}
	}
	f, err := strconv.ParseFloat(num, 64)
	if err != nil || f != f || f*scale > 9e18 || f*scale < -9e18 {
		return 0, fmt.Errorf("time %q: want a number with a unit, such as 1.5s or 30%%", s)
	}
	return trace.Time(f*scale + 0.5), nil
}

// A Pattern is a glob on a path or name ("*" crosses slashes, letter case
// counts), or a regular expression after "re:".
type Pattern func(name string) bool

// ParsePattern compiles a pattern.
func ParsePattern(s string) (Pattern, error) {
	if expr, ok := strings.CutPrefix(s, "re:"); ok {
		re, err := regexp.Compile(expr)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", s, err)
		}
		return re.MatchString, nil
	}
	if !strings.ContainsAny(s, "*?[") {
		return func(name string) bool { return name == s }, nil
	}
	var b strings.Builder
	b.WriteString("(?s)^")
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		case '[':
			j := strings.IndexByte(s[i:], ']')
			if j < 0 {
				return nil, fmt.Errorf("pattern %q: %w", s, path.ErrBadPattern)
			}
			b.WriteString(s[i : i+j+1])
			i += j
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	re, err := regexp.Compile(b.String() + "$")
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", s, err)
	}
	return re.MatchString, nil
}

// MatchRegions returns the regions whose name or category/name matches, in order;
// nil for no pattern. "role:io" and "category:kernel" select whole sets, "#7" one id.
func MatchRegions(regions []trace.Region, patterns []string) ([]trace.RegionID, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	hit := make([]bool, len(regions))
	for _, p := range patterns {
		match, err := RegionPattern(p)
		if err != nil {
			return nil, err
		}
		n := 0
		for i := range regions {
			if match(trace.RegionID(i), &regions[i]) {
				hit[i] = true
				n++
			}
		}
		if n == 0 {
			return nil,
				fmt.Errorf("--regions %q matches none of %d regions; `parallax info` lists them%s", p, len(regions),
					words.Suggest(p, regionNames(regions)))
		}
	}
	out := []trace.RegionID{}
	for i, h := range hit {
		if h {
			out = append(out, trace.RegionID(i))
		}
	}
	return out, nil
}

func regionNames(regions []trace.Region) []string {
	out := make([]string, len(regions))
	for id := range regions {
		out[id] = regions[id].Name
	}
	return out
}

// RegionPattern compiles one pattern on regions, also used by --busy and --idle:
// a bare role name is a role there.
func RegionPattern(p string) (func(trace.RegionID, *trace.Region) bool, error) {
	if n, ok := strings.CutPrefix(p, "#"); ok {
		if id, err := strconv.ParseUint(n, 10, 32); err == nil {
			return func(x trace.RegionID, _ *trace.Region) bool { return uint64(x) == id }, nil
		}
	}
	if name, ok := strings.CutPrefix(p, "role:"); ok {
		role, known := trace.ParseRole(name)
		if !known {
			return nil, words.NotOneOf("role", name, trace.RoleNames()...)
		}
		return func(_ trace.RegionID, r *trace.Region) bool { return r.Role == role }, nil
	}
	if name, ok := strings.CutPrefix(p, "category:"); ok {
		m, err := ParsePattern(name)
		if err != nil {
			return nil, err
		}
		return func(_ trace.RegionID, r *trace.Region) bool { return m(r.Category) }, nil
	}
	m, err := ParsePattern(p)
	if err != nil {
		return nil, err
	}
	return func(_ trace.RegionID, r *trace.Region) bool {
		return m(r.Name) || r.Category != "" && m(r.Category+"/"+r.Name)
	}, nil
}

// Limits reads --min and --max: a time, a number, or a share of the most there is; NaN where they are not given.
func (q *Request) Limits(most float64) (low, high float64, err error) {
	ends := [2]float64{math.NaN(), math.NaN()}
	for i, name := range [2]string{"min", "max"} {
		if text := q.Values.Text(name); text != "" {
			t, err := ParseTime(text, trace.Time(most))
			if err != nil {
				return 0, 0, fmt.Errorf("--%s: %w", name, err)
			}
			ends[i] = float64(t)
		}
	}
	if ends[0] >= ends[1] {
		return 0, 0, fmt.Errorf("--min is not below --max")
	}
	return ends[0], ends[1], nil
}

// Against reads the locations that --against names, to compare with those selected: patterns, or the rest.
func (q *Request) Against(ctx context.Context, against string) ([]trace.LocationID, string, error) {
	tree := q.Store().Locations()
	if against != "rest" {
		ids, err := MatchLocations(tree, SplitPatterns(against))
		if err != nil {
			err = fmt.Errorf("--against: %w", err)
		}
		return ids, ShortPattern(against), err
	}
	if q.Selection.Locations == nil {
		return nil, "", fmt.Errorf("--against rest: choose some locations first, all are selected")
	}
	chosen := tree.Expand(q.Selection.Locations)
	ids := []trace.LocationID{}
	holders, err := runfacts.ChosenHolders(ctx, q.Store(), nil)
	if err != nil {
		return nil, "", err
	}
	for _, id := range holders {
		if _, in := slices.BinarySearch(chosen, id); !in && tree.IsLeaf(id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, "", fmt.Errorf("--against rest: no other location has calls")
	}
	return ids, "the rest", nil
}
