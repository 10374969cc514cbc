package finish

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
)

// described are the entries of files that are done while others are still made, so
// that the end has only the last of them to check and to wait for.
type described struct {
	mu      sync.Mutex
	entries map[string]disk.FileEntry
	passing bool // the files are removed soon: nobody waits for the disk
}

// file describes a file.
func (d *described) file(dir, name string) (disk.FileEntry, error) {
	if d.passing {
		return disk.DescribePassingFile(dir, name)
	}
	return disk.DescribeFile(dir, name)
}

// add describes files that will not change, one after the other: it runs beside work that wants the cores.
func (d *described) add(dir string, names []string) error {
	for _, name := range names {
		if d.known(name) {
			continue
		}
		e, err := disk.DescribeFile(dir, name)
		if err != nil {
			return fmt.Errorf("check %s: %w", name, err)
		}
		d.set(e)
	}
	return nil
}

// known reports whether a file is described.
func (d *described) known(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.entries[name]
	return ok
}

// list returns all entries in the order of their names.
func (d *described) list() (all []disk.FileEntry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(d.entries)) {
		all = append(all, d.entries[name])
	}
	return all
}

// addAll describes files on several cores: it comes when there is little else to do.
func (d *described) addAll(dir string, names []string, workers int) error {
	list, err := disk.Describe(dir, names, workers)
	for _, e := range list {
		d.set(e)
	}
	return err
}

func (d *described) set(e disk.FileEntry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.entries == nil {
		d.entries = map[string]disk.FileEntry{}
	}
	d.entries[e.Name] = e
}

// all returns the entries of files in the order of their names; those that are not
// known yet are read on several cores.
func (d *described) all(dir string, names []string, workers int) ([]disk.FileEntry, error) {
	var rest []string
	for _, name := range names {
		if _, ok := d.entries[name]; !ok {
			rest = append(rest, name)
		}
	}
	describe := disk.Describe
	if d.passing {
		describe = disk.DescribePassing
	}
	list, err := describe(dir, rest, workers)
	if err != nil {
		return nil, err
	}
	out := make([]disk.FileEntry, 0, len(names))
	for _, name := range names {
		e, ok := d.entries[name]
		if !ok {
			e, list = list[0], list[1:]
		}
		out = append(out, e)
	}
	return out, nil
}

// tableFiles names the files of tables.
func tableFiles(tables ...string) (names []string) {
	for _, t := range disk.Schema {
		for _, name := range tables {
			if t.Name != name {
				continue
			}
			for i := range t.Columns {
				names = append(names, t.Columns[i].File())
			}
		}
	}
	return names
}
