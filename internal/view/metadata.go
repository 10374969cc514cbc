package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A MetadataColumn is the metadata under one key, as a number of each location: its own
// fact, else that of the nearest above it, else that of the whole run. Facts that all
// locations share are kept with the run.
type MetadataColumn struct {
	Values []float64 // 0 if there is none, or none that is a number
	Known  []bool    // whether it is there and a number
	Found  int       // locations that have the key at all
	Text   string    // one that is no number
}

// Numbers counts the locations that have a number.
func (m *MetadataColumn) Numbers() (n int) {
	for _, known := range m.Known {
		if known {
			n++
		}
	}
	return n
}

// Trouble describes missing metadata, with the available keys; "" if nothing is missing.
func (m *MetadataColumn) Trouble(s store.Reader, ids []trace.LocationID, key string) string {
	n := len(m.Values)
	switch numbers := m.Numbers(); {
	case m.Found == 0:
		keys := MetadataKeys(s, ids)
		return fmt.Sprintf("no metadata is called %q, it counts as 0; %s%s", key, listedKeys(keys),
			words.Suggest(key, keys))
	case numbers == 0:
		return fmt.Sprintf("the metadata %q is no number, such as %q, and counts as 0; %s", key, shortened(m.Text),
			listedKeys(MetadataKeys(s, ids)))
	case numbers < n:
		return fmt.Sprintf("%s of %s locations have no number under the metadata %q, which counts as 0",
			Thousands(int64(n-numbers)), Thousands(int64(n)), key)
	}
	return ""
}

func shortened(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}

func listedKeys(keys []string) string {
	if len(keys) == 0 {
		return "the source has no metadata that are numbers"
	}
	more := ""
	if len(keys) > 24 {
		keys, more = keys[:24], " …"
	}
	return "there are " + strings.Join(keys, ", ") + more
}

// Metadata finds a key, whatever its letter case, for each of ids. O(ids × depth of the tree).
func Metadata(s store.Reader, ids []trace.LocationID, key string) *MetadataColumn {
	t := s.Locations()
	m := &MetadataColumn{Values: make([]float64, len(ids)), Known: make([]bool, len(ids))}
	run, ofRun := property(s, key)
	take := func(i int, v trace.Value) {
		m.Found++
		if m.Values[i], m.Known[i] = v.Number(); !m.Known[i] {
			m.Values[i], m.Text = 0, v.String()
		}
	}
next:
	for i, id := range ids {
		for at := id; at != trace.NoLocation; at = t.Parent[at] {
			for _, a := range t.Attributes[at] {
				if strings.EqualFold(a.Key, key) {
					take(i, a.Value)
					continue next
				}
			}
		}
		if ofRun {
			take(i, run)
		}
	}
	return m
}

// property is a fact of the whole run. If keys differ in letter case alone, the one
// written as asked for comes first, else the first in order.
func property(s store.Reader, key string) (trace.Value, bool) {
	all := s.Info().Properties
	if text, ok := all[key]; ok {
		return trace.Text(text), true
	}
	best := ""
	for k := range all {
		if strings.EqualFold(k, key) && (best == "" || k < best) {
			best = k
		}
	}
	return trace.Text(all[best]), best != ""
}

// MetadataKeys lists the available keys: those with numbers of the run and of a few
// locations, in order.
func MetadataKeys(s store.Reader, ids []trace.LocationID) []string {
	t := s.Locations()
	seen := map[string]bool{}
	for _, id := range ids[:min(len(ids), 256)] {
		for at := id; at != trace.NoLocation; at = t.Parent[at] {
			for _, a := range t.Attributes[at] {
				if _, ok := a.Value.Number(); ok {
					seen[a.Key] = true
				}
			}
		}
	}
	for key, text := range s.Info().Properties {
		if _, ok := trace.Text(text).Number(); ok {
			seen[key] = true
		}
	}
	out := make([]string, 0, len(seen))
	for key := range seen {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
