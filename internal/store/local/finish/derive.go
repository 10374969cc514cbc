package finish

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
)

// derive makes the tables that only need the rows. Much of the time of links is one goroutine's work, so the rest goes
// on next to it; and so does waiting for the disk, file by file as they are done.
func (f *finisher) derive(whole context.Context) error {
	points, err := f.pointTimes() // before empty files go
	if err != nil {
		return err
	}
	defer points.close()
	g, ctx := errgroup.WithContext(whole)
	f.deriveOnce(ctx, g, points)
	g.Go(func() error {
		if err := f.index(ctx); err != nil {
			return err
		}
		return f.packIndex(ctx)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if err := f.packer().packTables(whole, "sample"); err != nil { // whose times are looked at until then
		return err
	}
	if f.packed != nil {
		return nil
	}
	return f.packer().packRows(whole, f.rows, 0, uint64(len(f.rows.C.Begin)))
}

// deriveOnce makes the tables that are not derived location by location.
func (f *finisher) deriveOnce(ctx context.Context, g *errgroup.Group, points *pointTimes) {
	g.Go(func() error {
		return f.described.add(f.Dir, tableFiles("instant", "instant_fact", "caller", "cover"))
	})
	g.Go(f.describeFacts)
	if f.packed != nil {
		g.Go(func() error { return f.packed.describe(ctx, &f.described) })
	}
	g.Go(func() error { return f.packer().packColumns(ctx, "location.level.u16", "location.rank.i32") })
	g.Go(func() error { return f.findCore(ctx, points) })
	g.Go(func() error {
		if f.LooseLinks {
			defer f.rows.PaceByTime()()
		}
		links := linker{finisher: f}
		if err := links.writeLinks(ctx); err != nil {
			return err
		}
		if f.Opt.Parts == 0 {
			f.LinkRows.Close() // others need its room
		}
		return f.packer().packTables(ctx, "link_block", "link_node", "link_sum", "untimed")
	})
}

// shapeTables and shapeColumns are written by the index, the latter to tables that were there before.
var (
	shapeTables = map[index.Shape][]string{index.Sums: {"checkpoint", "sum"}, index.Nodes: {"level", "node"},
		index.Groups: {"group"}}
	shapeColumns = map[index.Shape][]string{index.Sums: {"lane.checkpoint.u64"}, index.Nodes: {"lane.forest.u64"},
		index.Groups: {"location.group.u64", "location.group_level.u8", "location.group_roles.u16"}}
)

// packIndex packs the tables of the second pass.
func (f *finisher) packIndex(ctx context.Context) error {
	for _, s := range index.Shapes {
		if err := f.packShape(ctx, s); err != nil {
			return err
		}
	}
	return f.packSections(ctx, slices.Concat(f.sections, f.digests))
}

func (f *finisher) packShape(ctx context.Context, s index.Shape) error {
	return cmp.Or(f.packer().packTables(ctx, shapeTables[s]...), f.packer().packColumns(ctx, shapeColumns[s]...))
}

// packSections packs the offsets of summaries and digests and describes the rest.
func (f *finisher) packSections(ctx context.Context, sections []disk.Section) error {
	var names []string
	for _, s := range sections {
		for _, name := range s.Files() {
			if name != s.Offsets && name != s.TopOffsets {
				names = append(names, name)
			} else if err := f.packer().packFile(ctx, name, disk.SectionOffsets); err != nil {
				return err
			}
		}
	}
	return f.described.addAll(f.Dir, names, f.workers)
}

// treeColumns say how locations and lanes lie. All that is derived reads them, so that they are packed last.
var treeColumns = []string{
	"string.offset.u64", "location.name.u32", "location.kind.u32", "location.parent.u32", "location.last.u32",
	"location.lane.u32", "lane.row.u64", "lane.end.i64",
}

// packTree packs the tables that are not read any more.
func (f *finisher) packTree(ctx context.Context) error {
	f.closeRows()
	return f.packer().packColumns(ctx, treeColumns...)
}

// index runs the second pass of Finish.
func (f *finisher) index(ctx context.Context) error {
	x := f.indexer()
	if err := x.Run(ctx); err != nil {
		return err
	}
	f.sections, f.digests = x.Sections, x.Digested
	return nil
}

func (f *finisher) indexer() *index.Indexer { return f.indexerOf(f.rows) }

func (f *finisher) indexerOf(r *rows.Table) *index.Indexer {
	return &index.Indexer{R: r, Dir: f.Dir, Temp: f.Temp, Workers: f.workers, Memory: f.memory, Shape: true,
		Summaries: f.Opt.Summaries, Digests: f.Opt.Digests}
}

// treeFiles say which rows a location has; rowFileNames are the files of the rows.
var (
	treeFiles = []string{"location.name.u32", "location.parent.u32", "location.last.u32", "location.lane.u32",
		"lane.row.u64", "lane.end.i64"}
	rowFileNames = []string{
		"interval.begin.i64", "interval.duration.i64", "interval.exclusive.i64", "interval.region.u32",
		"interval.parent.i32", "interval.depth.u16",
		"caller.row.u64", "caller.caller.u64",
	}
)

// openRows maps the columns that the rest is derived from.
func (f *finisher) openRows(context.Context) error {
	if f.packed != nil {
		return f.mapRows(slices.Concat(treeFiles, []string{"region.name.u32"}, rowFileNames[intervalColumns:]))
	}
	return f.mapRows(slices.Concat(treeFiles, rowFileNames))
}

func (f *finisher) mapRows(names []string) error {
	r := &rows.Table{Workers: f.workers, End: f.end, Regions: f.Def.Regions, Aside: f.aside}
	f.rows = r
	targets := r.C.Targets()
	for _, name := range names {
		m, err := spool.MapWhole(filepath.Join(f.Dir, name))
		if err != nil {
			return err
		}
		r.Maps = append(r.Maps, m)
		targets[name](m.Bytes)
		if len(name) > 9 && name[:9] == "interval." {
			r.RowMaps = append(r.RowMaps, m)
		}
	}
	r.Roles = rows.RolesOf(r.Regions)
	if f.packed != nil {
		return f.packed.mapRows(r)
	}
	return nil
}

func (f *finisher) closeRows() {
	if f.rows != nil {
		_ = f.rows.Close(nil)
		f.rows = nil
	}
}
