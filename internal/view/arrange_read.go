package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// An arranging is --arrange, taken apart.
type arranging struct {
	trace.Likeness
	group     string // compared units, as in --group
	from, to  string
	locations []string
	regions   []string
	given     map[string]bool
}

// parseArrange reads tree (nil), or groups[:KEY=VALUE,…]. In patterns of locations and
// regions a comma is written %2C.
func parseArrange(text string) (*arranging, error) {
	kind, rest, _ := strings.Cut(text, ":")
	switch {
	case text == "tree" || text == "":
		return nil, nil
	case kind != "groups" && kind != "optimal":
		refused := words.NotOneOf("--arrange", text, "tree", "groups", "optimal")
		refused.More = ", as in groups:k=3,similarity=time or optimal:p=0.3"
		return nil, refused
	}
	a := usualArranging()
	if kind == "optimal" {
		a.By, a.P = "optimal", 0.1
	}
	if rest == "" {
		return a, nil
	}
	for _, part := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(part, "=")
		name = OptionName(name)
		if err := a.set(name, value); err != nil {
			return nil, fmt.Errorf("--arrange %q: %w", text, err)
		}
		a.given[name] = true
	}
	return a, nil
}

// usualArranging is that of groups without settings.
func usualArranging() *arranging {
	return &arranging{Likeness: trace.Likeness{By: "both", Seed: 1}, group: "auto", given: map[string]bool{}}
}

// usual reports whether it compares the whole run without settings.
func (a *arranging) usual() bool {
	u := usualArranging()
	return a.Likeness == u.Likeness && a.group == u.group && a.from == "" && a.to == "" && len(a.locations) == 0 &&
		len(a.regions) == 0
}

func (a *arranging) set(name, value string) (err error) {
	if cut := a.By == "optimal"; cut &&
		slices.Contains([]string{"similarity", "k", "threshold", "seed", "closure"}, name) ||
		!cut && name == "p" {
		return fmt.Errorf("%s is not for %s", name, map[bool]string{true: "the best cut", false: "groups"}[cut])
	}
	switch name {
	case "p":
		if a.P, err = strconv.ParseFloat(value, 64); err != nil || !(a.P >= 0 && a.P <= 1) {
			err = fmt.Errorf("p is from 0 to 1")
		}
	case "similarity":
		if a.By = value; !slices.Contains([]string{"both", "structure", "time"}, value) {
			err = fmt.Errorf("similarity is both, structure or time")
		}
	case "k":
		if a.K, err = strconv.Atoi(value); err != nil || a.K < 0 {
			err = fmt.Errorf("k is a number of groups")
		}
	case "threshold":
		if a.Threshold, err = strconv.ParseFloat(value, 64); err != nil || !(a.Threshold >= 0 && a.Threshold <= 1) {
			err = fmt.Errorf("threshold is from 0 to 1")
		}
	case "seed":
		if a.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			err = fmt.Errorf("seed is a whole number")
		}
	case "group":
		if a.group = value; !slices.Contains([]string{"auto", "ranks", "locations"}, value) {
			err = fmt.Errorf("group is auto, ranks or locations")
		}
	case "closure":
		if a.Closure = value == "dynamic"; value != "dynamic" && value != "direct" {
			err = fmt.Errorf("closure is direct or dynamic")
		}
	case "location":
		a.locations = append(a.locations, strings.ReplaceAll(value, "%2C", ","))
	case "region":
		a.regions = append(a.regions, strings.ReplaceAll(value, "%2C", ","))
	case "time":
		var ok bool
		if a.from, a.to, ok = strings.Cut(value, ".."); !ok {
			err = fmt.Errorf("time is FROM..TO, as in 1s..2s")
		}
	default:
		err = fmt.Errorf("there is no %q; it has similarity, k, threshold, closure, seed, group, time, location and "+
			"region; of optimal: p, group, time, location and region", name)
	}
	return err
}

// take follows the options of a view that groups by itself, where --arrange does not
// say otherwise.
func (a *arranging) take(v Values) {
	names := []string{"similarity", "k", "threshold", "seed"}
	if a.By == "optimal" {
		names = []string{"p"}
	}
	for _, name := range names {
		if v.Set(name) && !a.given[name] {
			_ = a.set(name, v.Text(name)) // checked where it was set
		}
	}
	a.given = nil
}
