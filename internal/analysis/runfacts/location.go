package runfacts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Chosen returns the locations of a selection for which holds is true, ascending.
func Chosen(t *store.Tree, selected []trace.LocationID, holds []bool) []trace.LocationID {
	out := []trace.LocationID{}
	if selected == nil {
		for id, h := range holds {
			if h {
				out = append(out, trace.LocationID(id))
			}
		}
		return out
	}
	for _, id := range t.Expand(selected) {
		if holds[id] || t.IsAside(id) { // which are there only where they are named
			out = append(out, id)
		}
	}
	return out
}

// RankOf returns the rank of a location; nil if it has none, so that twins say null.
func RankOf(t *store.Tree, id trace.LocationID) *int {
	if t.Rank[id] == trace.NoRank {
		return nil
	}
	rank := int(t.Rank[id])
	return &rank
}

// Processors returns the processors among the rows of a trace that holds goroutines
// too; nil if there are not both. Processors are there all the time, so that their
// share is the machine's. Most goroutines live for a small part of a trace and are
// nothing before and after: over all of them even a machine at full load looks idle.
func Processors(t *store.Tree, rows []trace.LocationID) []trace.LocationID {
	var processors []trace.LocationID
	goroutines := false
	for _, id := range rows {
		switch t.Kind[id] {
		case trace.KindProcessor:
			processors = append(processors, id)
		case trace.KindGoroutine:
			goroutines = true
		}
	}
	if !goroutines {
		return nil
	}
	return processors
}

// Units joins locations into the units that are compared: with "ranks" all locations of a rank are one, with
// "locations" each is its own; "auto" takes ranks where they have several locations each, and no GPU among them: that
// is compared with GPUs, not with its host. It gives the location that stands for each unit, ascending, and the unit of
// each of ids.
func Units(t *store.Tree, ids []trace.LocationID, by string) (units []trace.LocationID, of []int32, err error) {
	switch by {
	case "auto", "ranks", "locations":
	default:
		return nil, nil, fmt.Errorf("--group %q: want auto, ranks or locations", by)
	}
	top := func(id trace.LocationID) trace.LocationID {
		for by != "locations" && t.Rank[id] >= 0 && t.Parent[id] != trace.NoLocation &&
			t.Rank[t.Parent[id]] == t.Rank[id] {
			id = t.Parent[id]
		}
		return id
	}
	of = make([]int32, len(ids))
	index := make([]int32, t.Len()) // by location: its number among units, plus one
	if len(ids) > 0 {
		units = make([]trace.LocationID, 0, len(ids))
	}
	for i, id := range ids {
		u := top(id)
		if index[u] == 0 {
			units = append(units, u)
			index[u] = int32(len(units))
		}
		of[i] = index[u] - 1
	}
	isGPU := func(id trace.LocationID) bool { return t.Kind[id] == trace.KindDevice }
	if by == "auto" && (len(units) < 2 || len(units) == len(ids) || slices.ContainsFunc(ids, isGPU)) {
		for i := range of {
			of[i] = int32(i)
		}
		return ids, of, nil
	}
	return units, of, nil
}

// ShortNames names locations for labels: by name where all names differ, else by
// rank where all ranks differ, else by as much of the end of the path as it takes,
// at most the whole.
func ShortNames(t *store.Tree, ids []trace.LocationID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = t.Name[id]
	}
	if distinct(out) {
		return out
	}
	for i, id := range ids {
		if out[i] = ""; t.Rank[id] >= 0 {
			out[i] = "rank " + strconv.Itoa(int(t.Rank[id]))
		}
	}
	if !slices.Contains(out, "") && distinct(out) {
		return out
	}
	for parts := 2; ; parts++ {
		whole := true
		for i, id := range ids {
			name, up := t.Name[id], t.Parent[id]
			for n := 1; n < parts && up != trace.NoLocation; n++ {
				name, up = t.Name[up]+"/"+name, t.Parent[up]
			}
			out[i] = name
			whole = whole && up == trace.NoLocation
		}
		if whole || distinct(out) {
			return out
		}
	}
}

func distinct(names []string) bool {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if seen[n] {
			return false
		}
		seen[n] = true
	}
	return true
}

// Attribute finds an attribute on a location itself, whatever its letter case.
func Attribute(t *store.Tree, id trace.LocationID, key string) string {
	for _, a := range t.Attributes[id] {
		if strings.EqualFold(a.Key, key) {
			return a.Value.String()
		}
	}
	return ""
}
