package compare

import (
	"fmt"
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/view"
)

// choose returns the runs of A and of B.
func (r *result) choose() error {
	a, b, key := r.request.Values.Patterns("a"), r.request.Values.Patterns("b"), r.request.Values.Text("by")
	r.side = make([]int, len(r.names))
	for i := range r.names {
		in := [2]bool{}
		var err error
		switch {
		case key != "" && len(a) == 0 && len(b) == 0:
			var own, first string
			if own, err = r.key(i, key); err == nil {
				first, err = r.key(0, key)
			}
			in[0], in[1] = own == first, own != first
		default:
			in[0] = len(a) == 0 && i == 0
			if len(a) > 0 {
				in[0], err = matches(a, r.names[i])
			}
			in[1] = len(b) == 0 && !in[0]
			if len(b) > 0 && err == nil {
				in[1], err = matches(b, r.names[i])
			}
		}
		if err != nil {
			return err
		}
		switch {
		case in[0] && in[1]:
			return fmt.Errorf("run %s is on both sides; --a and --b must not overlap", r.names[i])
		case in[1]:
			r.side[i] = 1
		case !in[0]:
			r.side[i] = -1
		}
		if s := r.side[i]; s >= 0 {
			r.Runs[s] = append(r.Runs[s], i)
		}
	}
	for s, name := range [2]string{"A", "B"} {
		if len(r.Runs[s]) == 0 {
			return view.Empty("choose with --a PATTERN and --b PATTERN, or --by KEY; the runs are "+
				strings.Join(shorten(r.names, 12), ", "), "no run is on side %s", name)
		}
	}
	return nil
}

func shorten(names []string, most int) []string {
	if len(names) <= most {
		return names
	}
	return append(append([]string(nil), names[:most]...), fmt.Sprintf("and %d more", len(names)-most))
}

// key is a fact of a run: as the user gave it, or a property of the source.
func (r *result) key(i int, name string) (string, error) {
	if v, ok := r.keys[i][name]; ok {
		return v, nil
	}
	switch name {
	case "ranks":
		return fmt.Sprint(r.Prints[i].Size()), nil
	case "format":
		return r.Prints[i].Format, nil
	}
	if v, ok := r.Prints[i].Property(name); ok {
		return v, nil
	}
	return "", fmt.Errorf("--by %q: run %s has no such key; give one with --key %s=VALUE", name, r.names[i], name)
}

// matches tries globs on the name of a run.
func matches(patterns []string, name string) (bool, error) {
	for _, p := range patterns {
		ok, err := path.Match(p, name)
		if err != nil {
			return false, fmt.Errorf("pattern %q: %w", p, err)
		}
		if ok || p == name {
			return true, nil
		}
	}
	return false, nil
}

// label names a side: its run, or the common part of its runs' names, and how many they
// are.
func (r *result) label(side int) string {
	runs := r.Runs[side]
	if key := r.request.Values.Text("by"); key != "" {
		v, err := r.key(runs[0], key)
		one := err == nil
		for _, i := range runs { // side B may have several values
			w, err := r.key(i, key)
			one = one && err == nil && w == v
		}
		if one {
			return key + " " + v
		}
	}
	if len(runs) == 1 {
		return r.names[runs[0]]
	}
	prefix := r.names[runs[0]]
	for _, i := range runs {
		for !strings.HasPrefix(r.names[i], prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	if prefix = strings.TrimRight(prefix, "-_.# "); len(prefix) >= 2 {
		return fmt.Sprintf("%s… (%d runs)", prefix, len(runs))
	}
	return fmt.Sprintf("%d runs", len(runs))
}

// sizes describes where runs of different sizes are compared.
func (r *result) sizes() string {
	least, most := 0, 0
	for _, side := range r.Runs {
		for _, i := range side {
			n := r.Prints[i].Size()
			if least == 0 || n < least {
				least = n
			}
			most = max(most, n)
		}
	}
	if least == most {
		return ""
	}
	return fmt.Sprintf("the runs have %d to %d ranks: times are means per location; the view scaling compares sizes "+
		"against each other", least, most)
}
