package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/testing/forgetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Of many locations with few intervals each, what they are was a fifth of the store: numbers that go up by one, or hardly change.
func TestLocationsTakeFewBytes(t *testing.T) {
	const locations = 20_000
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}, Digests: all.Digests}, func(w trace.Writer) {
		region := w.Region(trace.Region{Name: "running"})
		group := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Name: "goroutines", Rank: trace.NoRank})
		for i := range locations {
			s := w.Stream(w.Location(trace.Location{Parent: group, Kind: trace.KindGoroutine, Name: fmt.Sprint("goroutine ", i), Rank: trace.NoRank, Order: int64(i)}), trace.StreamOptions{})
			s.Interval(trace.Time(100*i), trace.Time(100*i+70), region)
			_ = s.Close()
		}
	})
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, "location.") && !strings.HasPrefix(name, "lane.") && name != "string.offset.u64" && !strings.HasSuffix(name, ".offsets") {
			continue
		}
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 8*locations || size == 0 {
		t.Errorf("%d bytes for %d locations", size, locations)
	}
	r, err := Open(path, []trace.Summary{benchSummary{}}, all.Digests...)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if tree := r.Locations(); tree.Len() != locations+1 || tree.Name[locations] != fmt.Sprint("goroutine ", locations-1) || tree.Parent[locations] != 0 || tree.Last[0] != locations {
		t.Errorf("%d locations, the last is %q", tree.Len(), tree.Name[tree.Len()-1])
	}
	for _, name := range []string{"string.offset.u64", "location.name.u32", "lane.row.u64"} { // a store that was written again has it so
		forgetest.Plain(t, path, name)
	}
	again, err := Open(path, []trace.Summary{benchSummary{}}, all.Digests...)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if !slices.Equal(again.Locations().Name, r.Locations().Name) {
		t.Error("other names where they are not packed")
	}
}

// Intervals with many attributes are most of a store of a GPU job: which interval one is of, and which attribute it is, take hardly any room.
func TestAnAttributeReferenceTakesAtMostOneByte(t *testing.T) {
	const rows, each = 50_000, 4
	path := build(t, Options{}, func(w trace.Writer) {
		region := w.Region(trace.Region{Name: "kernel"})
		var keys []trace.AttributeID
		for _, name := range []string{"stream", "grid", "block", "bytes"} {
			keys = append(keys, w.Attribute(name))
		}
		s := w.Stream(thread(w, 0), trace.StreamOptions{})
		for i := range rows {
			s.Enter(trace.Time(10*i), region)
			for k, id := range keys {
				s.Attribute(id, trace.Integer(int64(i*k)))
			}
			s.Leave(trace.Time(10*i+7), region)
		}
		_ = s.Close()
	})
	size := int64(0)
	for _, name := range []string{"interval_fact.row.u64", "interval_fact.attribute.u32"} {
		info, err := os.Stat(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > rows*each {
		t.Errorf("%d bytes for %d attributes", size, rows*each)
	}
}
