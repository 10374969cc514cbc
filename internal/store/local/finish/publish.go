package finish

import (
	"context"
	"os"
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
	m, err := f.manifest(nil)
	if err != nil {
		return err
	}
	if err := m.Write(f.Dir); err != nil {
		return err
	}
	return write.Replace(f.Dir, f.Path)
}

// finishReport adds the repairs to the reports of readers.
func (f *finisher) finishReport() []trace.ReportEntry {
	for _, e := range f.repairs.Entries() {
		f.Report(e.Kind, e.What, e.Count, e.Example)
	}
	return f.Told.Entries
}

// manifest describes the written files, without those that are left out.
func (f *finisher) manifest(without []string) (*disk.Manifest, error) {
	m := &disk.Manifest{
		Format: disk.FormatName, Version: disk.Version,
		Info: disk.ManifestInfo{
			Sources: f.Opt.Sources, Source: f.Opt.Format, End: f.end, Origin: f.origin, Core: f.core, Depth: f.depth,
			Inferred: f.inferredRows, Properties: f.Def.Properties,
		},
		Metrics: f.Def.Metrics, SourceFiles: f.Def.SourceFiles, Report: f.finishReport(), Sections: f.sections,
		Digests: f.digests,
	}
	for _, t := range f.Def.Topologies {
		m.Topologies = append(m.Topologies,
			disk.ManifestTopology{Name: t.Name, Dims: t.Dims, DimNames: t.DimNames, Periodic: t.Periodic})
	}
	names := slices.DeleteFunc(storeFiles(f.sections, f.digests),
		func(name string) bool { return slices.Contains(without, name) })
	var err error
	m.Files, err = f.described.all(f.Dir, names, f.workers)
	return m, err
}

// storeFiles names all files of a store in their order.
func storeFiles(sections, digests []disk.Section) (names []string) {
	for _, t := range disk.Schema {
		for i := range t.Columns {
			names = append(names, t.Columns[i].File())
		}
	}
	for _, s := range slices.Concat(sections, digests) {
		names = append(names, s.Files()...)
	}
	return names
}
