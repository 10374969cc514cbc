package demo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/chrometrace"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// direct keeps a demo in the reference store.
func direct(t *testing.T, name string) store.Reader {
	t.Helper()
	return directFrom(t, name, storetest.NewMemory())
}

// directFrom keeps a demo in a store that may know of more time than it fills.
func directFrom(t *testing.T, name string, m *storetest.Memory) store.Reader {
	t.Helper()
	d, _ := Find(name)
	if err := d.Write(context.Background(), Options{}, m); err != nil {
		t.Fatal(err)
	}
	return m.Reader()
}

// through writes a demo as files, and keeps what our reader finds in them.
func through(t *testing.T, name, format, path string) store.Reader {
	t.Helper()
	s, err := importer.NewSource(generate(t, name, format, path))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect([]*importer.Format{chrometrace.Format}, s)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	m := storetest.NewMemory()
	if err := runs[0].Import(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	return m.Reader()
}

// placesOf names every row by the number of its process and its own number among
// the rows of its kind there: what a file keeps of a tree whatever it calls it.
func placesOf(r store.Reader) map[trace.LocationID]string {
	tree := r.Locations()
	names := map[trace.LocationID]string{}
	process := -1
	var seen map[trace.Kind]int
	for id := range tree.Len() {
		if tree.Kind[id] == trace.KindProcess {
			process++
			seen = map[trace.Kind]int{}
		}
		if tree.Holds[id] {
			kind := tree.Kind[id]
			if kind == trace.KindProcess {
				kind = trace.KindThread // a file has only threads
			}
			names[trace.LocationID(id)] = fmt.Sprintf("%d/%s%d", process, kind, seen[kind])
			seen[kind]++
		}
	}
	return names
}

// intervalsOf lists the intervals of a store, one a line.
func intervalsOf(t *testing.T, r store.Reader, facts map[string]bool) (lines []string) {
	t.Helper()
	places, regions := placesOf(r), r.Regions()
	// The rows of one location come on one goroutine; lines of all are sorted.
	found := make(chan []string, 16)
	failed := make(chan error, 1)
	go func() {
		defer close(found)
		failed <- r.Intervals(context.Background(), store.Window{Begin: 0, End: math.MaxInt64}, func(c *trace.Columns) error {
			part := make([]string, c.Len())
			for i := range part {
				g := regions[c.Region[i]]
				attributes := []string{}
				list, err := r.IntervalAttributes(store.Row{Location: c.Location, Lane: c.Lane, Row: c.First + i})
				if err != nil {
					return err
				}
				for _, a := range list {
					if facts[a.Key] {
						attributes = append(attributes, a.Key+"="+a.Value.String())
					}
				}
				slices.Sort(attributes)
				part[i] = fmt.Sprintln(places[c.Location], c.Begin[i], c.End(i), c.Depth[i], g.Category, g.Name, g.Role, attributes)
			}
			found <- part
			return nil
		})
	}()
	for part := range found {
		lines = append(lines, part...)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestOurReaderFindsTheSameIntervals(t *testing.T) {
	for _, c := range []struct{ name, format, path string }{
		{"stencil?locations=16&intervals=8000", "chrome", "run.json"},
		{"uniform?locations=20&intervals=20000", "chrome", "run.json.gz"},
		{"training?locations=4&intervals=12000", "kineto", "run"},
		{"training?locations=4&intervals=12000", "chrome", "run.json"},
		{"training?locations=9&intervals=15000", "kineto", "run.gz"},
	} {
		t.Run(c.name+" "+c.format, func(t *testing.T) {
			want, got := direct(t, c.name), through(t, c.name, c.format, c.path)
			facts := map[string]bool{}
			for _, a := range want.Attributes() {
				facts[a] = true
			}
			diffLines(t, intervalsOf(t, got, facts), intervalsOf(t, want, facts))
			w, g := want.Info(), got.Info()
			if g.Links != w.Links || g.Samples != w.Samples || g.Depth != w.Depth || g.Rows != w.Rows || g.End != w.End {
				t.Errorf("file: %d links, %d samples, depth %d, %d rows, end %d; demo: %d, %d, %d, %d, %d",
					g.Links, g.Samples, g.Depth, g.Rows, g.End, w.Links, w.Samples, w.Depth, w.Rows, w.End)
			}
			if c.format == "kineto" && (g.Ranks != w.Ranks || len(got.Communicators()) != len(want.Communicators())) {
				t.Errorf("file: %d ranks, %d communicators; demo: %d, %d", g.Ranks, len(got.Communicators()), w.Ranks, len(want.Communicators()))
			}
			for _, e := range g.Report {
				// Chrome's format has no word for ranks: a reader may take them from names.
				if e.Kind == trace.Repaired || e.Kind == trace.Guessed && !strings.Contains(e.What, "ranks") {
					t.Errorf("the reader had to help: %+v", e)
				}
			}
		})
	}
}
