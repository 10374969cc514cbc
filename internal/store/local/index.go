package local

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// index derives from the rows what answers queries without reading them.
func (f *finisher) index(ctx context.Context) error {
	if err := f.openRows(); err != nil {
		return err
	}
	n, l := len(f.rows.c.locationName), len(f.rows.c.laneEnd)
	return cmp.Or(
		writeColumn(f.dir, "location.group.u64", make([]uint64, n+1)),
		writeColumn(f.dir, "location.group_level.u8", make([]uint8, n)),
		writeColumn(f.dir, "location.group_roles.u16", make([]uint16, n)),
		writeColumn(f.dir, "group.time.i64", []int64(nil)),
		writeColumn(f.dir, "lane.series.u64", make([]uint64, l+1)),
		writeColumn(f.dir, "lane.forest.u64", make([]uint64, l+1)),
		writeColumn(f.dir, "series.region.u32", []uint32(nil)),
		writeColumn(f.dir, "series.posting.u64", []uint64{0}),
		writeColumn(f.dir, "posting.block.u32", []uint32(nil)),
		writeColumn(f.dir, "posting.exclusive.i64", []int64(nil)),
		writeColumn(f.dir, "posting.inclusive.i64", []int64(nil)),
		writeColumn(f.dir, "posting.calls.u32", []uint32(nil)),
		writeColumn(f.dir, "level.node.u64", []uint64{0}),
		writeColumn(f.dir, "node.index.i64", []int64(nil)),
		writeColumn(f.dir, "node.row.u32", []uint32(nil)),
	)
}

// openRows maps the columns that the rest is derived from.
func (f *finisher) openRows() error {
	r := &Reader{path: f.dir, workers: runtime.GOMAXPROCS(0)}
	f.rows = r
	r.info.End = f.end
	targets := r.c.targets()
	for _, name := range []string{
		"location.name.u32", "location.parent.u32", "location.last.u32", "location.lane.u32", "lane.row.u64", "lane.end.i64",
		"interval.begin.i64", "interval.duration.i64", "interval.exclusive.i64", "interval.region.u32", "interval.parent.i32", "interval.depth.u16",
	} {
		m, err := mapWhole(filepath.Join(f.dir, name))
		if err != nil {
			return err
		}
		r.maps = append(r.maps, m)
		targets[name](m.bytes)
	}
	r.regions = f.def.regions
	r.roles = make([]trace.Role, len(r.regions))
	for i := range r.regions {
		r.roles[i] = r.regions[i].Role
	}
	r.tree = &store.Tree{Name: make([]string, 0)}
	return nil
}

func (f *finisher) closeRows() {
	if f.rows != nil {
		_ = f.rows.Close()
		f.rows = nil
	}
}

// manifest describes what was written.
func (f *finisher) manifest() (*manifest, error) {
	m := &manifest{
		Format: formatName, Version: version,
		Info: manifestInfo{
			Sources: f.opt.Sources, Source: f.opt.Format, End: f.end, Origin: f.origin, Depth: f.depth, Properties: f.def.properties,
		},
		Metrics: f.def.metrics, Report: f.finishReport(), Sections: f.sections,
	}
	for _, t := range f.def.topologies {
		m.Topologies = append(m.Topologies, manifestTopology{t.Name, t.Dims, t.DimNames, t.Periodic})
	}
	var names []string
	for _, t := range schema {
		for i := range t.columns {
			names = append(names, t.columns[i].file())
		}
	}
	for _, s := range f.sections {
		names = append(names, s.files()...)
	}
	var err error
	m.Files, err = describe(f.dir, names, f.workers)
	return m, err
}

func (s *section) files() []string {
	if s.Offsets == "" {
		return []string{s.Blocks}
	}
	return []string{s.Blocks, s.Offsets}
}
