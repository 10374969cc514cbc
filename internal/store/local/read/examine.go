package read

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Examination reports which parts of a store are as written.
type Examination struct {
	Files, Bytes int64
	Damaged      []DamagedFile
	// Cannot is why the store cannot be opened at all; empty if it can.
	Cannot string
	// Lost are the questions that may fail, Usable those that do not.
	Lost, Usable []string
	// Locations whose intervals are damaged, of all that have some.
	Locations, Of int
	Sources       []string
}

// A DamagedFile is a file with its damage.
type DamagedFile struct {
	Name   string
	Why    string
	Blocks [][2]int64 // damaged byte ranges
}

// questions lists kinds of queries with the tables they need. All need the core tables.
var questions = []struct {
	what   string
	tables []string
}{
	{"intervals of single locations, and what is drawn of them", []string{"interval", "caller"}},
	{"time by region and location", []string{"checkpoint", "sum", "cover"}},
	{"level of detail: timelines, moments and distributions over long times", []string{"level", "node", "section"}},
	{"time by role of groups of locations", []string{"group"}},
	{"profiles, call trees and matrices of traces", []string{"digest"}},
	{"links", []string{"link", "link_block", "link_node", "link_sum", "untimed"}},
	{"instants", []string{"instant", "instant_fact"}},
	{"samples of counters", []string{"sample"}},
	{"attributes of intervals", []string{"interval_fact", "text"}},
	{"profiles as the source gives them", []string{"profile", "profile_total", "line", "atomic", "moment"}},
}

// Examine reads every file of a store and reports damage. Only the manifest must be intact.
func Examine(ctx context.Context, path string) (*Examination, error) {
	m, err := disk.ReadManifest(path)
	if err != nil {
		return nil, fmt.Errorf("examine store %s: %w", path, err)
	}
	x := &Examination{Sources: m.Info.Sources}
	found := make([]*DamagedFile, len(m.Files))
	err = parallel.For(ctx, len(m.Files), func(i int) { found[i] = examineFile(path, m.Files[i]) })
	if err != nil {
		return nil, err
	}
	tables := map[string]bool{}
	for i, e := range m.Files {
		if e.Size > 0 {
			x.Files++
			x.Bytes += e.Size
		}
		if found[i] != nil {
			x.Damaged = append(x.Damaged, *found[i])
			tables[tableOf(m, e.Name)] = true
		}
	}
	for _, q := range questions {
		if slices.ContainsFunc(q.tables, func(t string) bool { return tables[t] }) {
			x.Lost = append(x.Lost, q.what)
		} else {
			x.Usable = append(x.Usable, q.what)
		}
	}
	r, err := open(path)
	if much := new(memory.Exceeded); errors.As(err, &much) {
		return nil, err
	}
	if err != nil {
		x.Cannot, x.Lost, x.Usable = err.Error(), append(x.Lost, x.Usable...), nil
		return x, nil
	}
	defer r.Close()
	x.countLocations(r)
	return x, nil
}

func examineFile(path string, e disk.FileEntry) *DamagedFile {
	if e.Size == 0 {
		return nil
	}
	m, err := spool.MapFile(filepath.Join(path, e.Name), e.Size)
	if err != nil {
		return &DamagedFile{Name: e.Name, Why: err.Error()}
	}
	defer m.Close()
	c, err := disk.NewCheck(e, m.Bytes)
	if err != nil {
		return &DamagedFile{Name: e.Name, Why: err.Error()}
	}
	if bad := c.Bad(); bad != nil {
		return &DamagedFile{Name: e.Name, Why: "the checksum is another", Blocks: bad}
	}
	return nil
}

// tableOf returns the table or section that a file belongs to.
func tableOf(m *disk.Manifest, name string) string {
	for _, s := range m.Sections {
		if slices.Contains(s.Files(), name) {
			return "section"
		}
	}
	for _, s := range m.Digests {
		if slices.Contains(s.Files(), name) {
			return "digest"
		}
	}
	table, _, _ := strings.Cut(name, ".")
	return table
}

// countLocations finds whose intervals are in damaged blocks.
func (x *Examination) countLocations(r *Reader) {
	bad := map[trace.LocationID]bool{}
	c := &r.C
	for id := range c.LocationLast {
		if c.LocationLane[id] == c.LocationLane[id+1] {
			continue
		}
		x.Of++
		from, to := c.LaneRow[c.LocationLane[id]], c.LaneRow[c.LocationLane[id+1]]
		for _, d := range x.Damaged {
			if !strings.HasPrefix(d.Name, "interval.") || len(c.Begin) == 0 {
				continue
			}
			from, to, ok := r.Checks.BytesOf(d.Name, from, to)
			if !ok || d.Blocks == nil ||
				slices.ContainsFunc(d.Blocks, func(b [2]int64) bool { return b[0] < to && b[1] > from }) {
				bad[trace.LocationID(id)] = true
			}
		}
	}
	x.Locations = len(bad)
}
