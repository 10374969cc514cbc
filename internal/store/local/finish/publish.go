package finish

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// publish makes the store durable and gives it its name.
func (f *finisher) publish(context.Context) error {
	f.closeRows()
	f.CloseTemporary()
	if err := os.RemoveAll(f.Temp); err != nil {
		return err
	}
	m, err := f.manifest()
	if err != nil {
		return err
	}
	if err := m.Write(f.Dir); err != nil {
		return err
	}
	return replaceDir(f.Dir, f.Path)
}

// finishReport adds the repairs to what readers reported.
func (f *finisher) finishReport() []trace.ReportEntry {
	for _, e := range f.repairs.Entries() {
		f.Report(e.Kind, e.What, e.Count, e.Example)
	}
	return f.Told.Entries
}

// manifest describes what was written.
func (f *finisher) manifest() (*disk.Manifest, error) {
	m := &disk.Manifest{
		Format: disk.FormatName, Version: disk.Version,
		Info: disk.ManifestInfo{
			Sources: f.Opt.Sources, Source: f.Opt.Format, End: f.end, Origin: f.origin, Core: f.core, Depth: f.depth, Properties: f.Def.Properties,
		},
		Metrics: f.Def.Metrics, Report: f.finishReport(), Sections: f.sections, Digests: f.digests,
	}
	for _, t := range f.Def.Topologies {
		m.Topologies = append(m.Topologies, disk.ManifestTopology{Name: t.Name, Dims: t.Dims, DimNames: t.DimNames, Periodic: t.Periodic})
	}
	var names []string
	for _, t := range disk.Schema {
		for i := range t.Columns {
			names = append(names, t.Columns[i].File())
		}
	}
	for _, s := range slices.Concat(f.sections, f.digests) {
		names = append(names, s.Files()...)
	}
	var err error
	m.Files, err = f.described.all(f.Dir, names, f.workers)
	return m, err
}

// replaceDir renames dir to path. A store that is there is moved out of the way
// first and removed last, so that path holds a whole store at all times but one.
func replaceDir(dir, path string) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	old := ""
	if err := os.Rename(dir, path); err != nil {
		if err := write.Replaceable(path); err != nil {
			return err
		}
		old = dir + ".old"
		if err := os.Rename(path, old); err != nil {
			return err
		}
		if err := os.Rename(dir, path); err != nil {
			_ = os.Rename(old, path)
			return err
		}
	}
	if old != "" {
		_ = os.RemoveAll(old)
	}
	return disk.SyncDir(filepath.Dir(filepath.Clean(path)))
}
