package finish

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
)

// A run can be imported in parts, on several machines. Each reads all of the source and makes all rows, so that
// definitions, numbers of regions and the ends of links are the same for all. The rest, most of the work, is divided:
// part K indexes and packs its range of rows. Part 1 also has the undivided tables: definitions, links, facts,
// profiles. The last importer, or the first to open the run, joins them (join.go): the same bytes as those of a whole
// import.

// partEdge returns the first row of the part after the first k. A link is as much work as a row, and all of them are in
// part 1.
func (f *finisher) partEdge(k int) uint64 {
	rows, links, parts := int64(len(f.rows.C.Begin)), f.LinkRows.Len(), int64(f.Opt.Parts)
	if int64(k) == parts {
		return uint64(rows)
	}
	return uint64(max(0, (rows+links)*int64(k)/parts-links)) / pack.Frame * pack.Frame
}

func (f *finisher) firstPart() bool { return f.Opt.Part == 1 }

// derivePart makes the tables of the part.
func (f *finisher) derivePart(whole context.Context) error {
	points, err := f.pointTimes() // before empty files go
	if err != nil {
		return err
	}
	defer points.close()
	from, to := f.partEdge(f.Opt.Part-1), f.partEdge(f.Opt.Part)
	g, ctx := errgroup.WithContext(whole)
	if f.firstPart() {
		f.deriveOnce(ctx, g, points)
	}
	g.Go(func() error { return f.indexPart(ctx, from, to) })
	if err := g.Wait(); err != nil {
		return err
	}
	if err := f.stampPart(); err != nil {
		return err
	}
	if f.firstPart() {
		if err := f.packer().packTables(whole, "sample"); err != nil {
			return err
		}
		if err := (profiler{finisher: f}).writeProfiles(whole); err != nil {
			return err
		}
	}
	return f.packer().packRows(whole, f.rows, from, to)
}

// indexPart writes the part's share of the second pass.
func (f *finisher) indexPart(ctx context.Context, from, to uint64) error {
	var files []*os.File
	var out []io.Writer
	defer func() {
		for _, file := range files {
			file.Close()
		}
	}()
	for _, name := range f.shareFiles() {
		file, err := os.Create(filepath.Join(f.Dir, name))
		if err != nil {
			return err
		}
		files, out = append(files, file), append(out, file)
	}
	if f.Opt.Part == f.Opt.Parts {
		to = math.MaxUint64 // locations without rows at the end too
	}
	err := f.indexer().Share(ctx, out, from, to)
	for _, file := range files {
		err = cmp.Or(err, file.Close())
	}
	return err
}

// shareFiles are those of a share of the index.
func (f *finisher) shareFiles() []string {
	return index.ShareFiles(len(f.Opt.Summaries), len(f.Opt.Digests))
}

// stampPart returns the identity of the run: its definitions, and when its lanes end.
func (f *finisher) stampPart() error {
	h := crc32.New(disk.Castagnoli)
	fmt.Fprintln(h, f.origin, f.end, len(f.rows.C.Begin), f.LinkRows.Len(), f.UntimedRows.Len(), f.ProfileRows.Len(),
		f.LineRows.Len())
	list, err := disk.Describe(f.Dir, slices.Concat(treeFiles, tableFiles("region", "string")), f.workers)
	if err != nil {
		return err
	}
	for _, e := range list {
		fmt.Fprintln(h, e.Name, e.CRC32C)
	}
	f.part.Stamp = disk.Word8(h.Sum32())
	return nil
}

// publishPart keeps only the files of the part, and gives it its name.
func (f *finisher) publishPart(context.Context) error {
	f.closeRows()
	f.CloseTemporary()
	if err := os.RemoveAll(f.Temp); err != nil {
		return err
	}
	m := &f.part
	m.Part, m.Parts, m.Sources, m.Kernels = f.Opt.Part, f.Opt.Parts, f.Opt.Sources, kernelsOf(&f.Opt)
	names := append(tableFiles("interval"), f.shareFiles()...)
	if f.firstPart() {
		rest, err := f.manifest(derivedFiles())
		if err != nil {
			return err
		}
		m.Rest = rest
	}
	var err error
	if m.Files, err = f.described.all(f.Dir, names, f.workers); err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, name := range names {
		keep[name] = true
	}
	if m.Rest != nil {
		for _, e := range m.Rest.Files {
			keep[e.Name] = true
		}
	}
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !keep[e.Name()] {
			if err := os.RemoveAll(filepath.Join(f.Dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := m.Write(f.Dir); err != nil {
		return err
	}
	return write.Replace(f.Dir, f.Path)
}

// derivedFiles returns the files that are made when parts are joined.
func derivedFiles() []string {
	names := tableFiles("interval")
	for _, s := range index.Shapes {
		names = append(append(names, tableFiles(shapeTables[s]...)...), shapeColumns[s]...)
	}
	return names
}

func kernelsOf(o *write.Options) (out []string) {
	for _, s := range o.Summaries {
		out = append(out, fmt.Sprint("summary ", s.Name(), " ", s.Version()))
	}
	for _, d := range o.Digests {
		out = append(out, fmt.Sprint("digest ", d.Name(), " ", d.Version()))
	}
	return out
}
