package finish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
)

// join makes the store, when all parts are at stage Made.
func (r *sharedRun) join(ctx context.Context) error {
	f, err := r.merged(filepath.Join(r.dir, "joined"), 0)
	if err != nil {
		return err
	}
	defer f.Abort() // its files are moved
	defer f.closeRows()
	j := &sharedJoiner{finisher: f, run: r}
	for _, step := range []func(context.Context) error{
		j.start, j.takeJoined, j.gather, f.define, f.writeKinship, j.openRows, j.derive,
		profiler{finisher: f}.writeProfiles, f.packTree,
	} {
		if err := step(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return j.publish()
}

// joinProfiles makes the store of parts that hold nothing with a time but moments.
func (r *sharedRun) joinProfiles(ctx context.Context) error {
	for k, p := range r.parts {
		if err := checkFiles(p, r.at(disk.Read, k)); err != nil {
			return err
		}
	}
	f, err := r.merged(filepath.Join(r.dir, "joined"), 0)
	if err != nil {
		return err
	}
	defer f.Abort() // its files are moved
	defer f.closeRows()
	j := &sharedJoiner{finisher: f, run: r}
	load := func(context.Context) error { return f.LoadProfiles() }
	for _, step := range []func(context.Context) error{load, f.collect, f.rowPass, f.orderTexts, f.forget, f.define,
		f.writeKinship, f.openRows, f.derive, profiler{finisher: f}.writeProfiles, f.packTree} {
		if err := step(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return j.publish()
}

// A sharedJoiner puts parts together that are at stage Made.
type sharedJoiner struct {
	*finisher
	run   *sharedRun
	parts []*disk.PartManifest
	total int64 // rows
	nodes [][]store.LinkSum

	mu     sync.Mutex
	joined joinedState
}

func (j *sharedJoiner) start(ctx context.Context) error {
	f := j.finisher
	if err := f.takeMatched(j.run); err != nil {
		return err
	}
	if err := f.collect(ctx); err != nil {
		return err
	}
	f.renumberOpen()
	if len(f.openRegions) > 0 {
		f.nameUnclosed(f.openRegions)
	}
	f.linksPacked = true
	placed := true
	var err error
	if j.parts, err = j.run.manifests(disk.Made); err != nil {
		return err
	}
	f.sampled = store.NewCore(f.end)
	for k := range j.run.parts {
		var st madeState
		if err := write.LoadState(filepath.Join(j.run.at(disk.Made, k), write.StateFile), &st); err != nil {
			return err
		}
		f.laneLists.append(&st.Lanes)
		f.repairs.Add(st.Repairs)
		f.depth = max(f.depth, st.Depth)
		f.facts += st.Facts
		f.linksPacked, placed = f.linksPacked && st.Linked, placed && st.Placed
		j.nodes = append(j.nodes, st.Links...)
		addSampled(f.sampled, st.Core)
	}
	if placed {
		if err := j.takeLinked(); err != nil {
			return err
		}
	}
	if len(f.laneLists.Lanes) != len(f.order.old) {
		return fmt.Errorf("%s: lanes of %d locations, want %d: %w", j.run.dir, len(f.laneLists.Lanes), len(f.order.old),
			disk.ErrDamaged)
	}
	for _, n := range f.laneLists.Rows {
		j.total += int64(n)
	}
	f.jobs = []*job{{lanes: f.laneLists.Lanes, laneRows: f.laneLists.Rows, laneEnd: f.laneLists.Ends}}
	return nil
}

// gather puts together what is not among the files of the parts: samples, and sums of links.
func (j *sharedJoiner) gather(ctx context.Context) error {
	if err := j.LoadProfiles(); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(j.workers, columnsAtOnce))
	joiner := j.joinerOf(j.parts, disk.Made)
	for _, name := range tableFiles("sample") {
		g.Go(func() error { return joiner.append(ctx, name) })
	}
	if j.linksPacked {
		g.Go(func() error {
			sums := newLinkSummer(j.Dir)
			for _, node := range j.nodes {
				sums.add(0, node, disk.LinkNode, false)
			}
			return sums.finish()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if j.total > 0 {
		j.packed = &packedRows{j.Dir, j.Temp, j.total}
	}
	return j.settleSamples()
}

// append puts a plain column of all parts together.
func (j partJoiner) append(ctx context.Context, name string) error {
	var out *os.File
	for k, p := range j.parts {
		i := slices.IndexFunc(p.Files, func(e disk.FileEntry) bool { return e.Name == name })
		if i < 0 {
			return fmt.Errorf("%s: no file %s: %w", j.dir(k), name, disk.ErrDamaged)
		}
		if p.Files[i].Size == 0 {
			continue
		}
		if err := p.CheckFile(j.dir(k), name); err != nil {
			return err
		}
		if out == nil {
			var err error
			if out, err = os.Create(filepath.Join(j.Dir, name)); err != nil {
				return err
			}
			defer out.Close()
		}
		if err := appendFile(out, filepath.Join(j.dir(k), name)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if out == nil {
		return nil
	}
	return out.Close()
}

func appendFile(to *os.File, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(to, in)
	return err
}

// gatherTexts puts the strings of all parts one after the other.
func (j *sharedJoiner) gatherTexts(context.Context) error {
	bytes, err := os.Create(filepath.Join(j.Dir, write.TextFile))
	if err != nil {
		return err
	}
	defer bytes.Close()
	offsets, at := []uint64{0}, uint64(0)
	for k := range j.Parts {
		dir := j.run.at(disk.Read, k)
		b, err := os.ReadFile(filepath.Join(dir, write.TextOffsets))
		if err != nil {
			return err
		}
		list := spool.ViewOf[uint64](b)
		if uint64(len(list)) != j.Parts[k].Texts+1 {
			return fmt.Errorf("%s: %d strings, want %d: %w", dir, len(list), j.Parts[k].Texts, disk.ErrDamaged)
		}
		for _, end := range list[1:] {
			offsets = append(offsets, at+end)
		}
		if list[len(list)-1] == 0 {
			continue
		}
		at += list[len(list)-1]
		if err := appendFile(bytes, filepath.Join(dir, write.TextFile)); err != nil {
			return err
		}
	}
	return errors.Join(bytes.Close(),
		os.WriteFile(filepath.Join(j.Dir, write.TextOffsets), spool.BytesOf(offsets), 0o644))
}

// orderTexts gives strings their final numbers; one that several parts have is one string.
func (j *sharedJoiner) orderTexts(context.Context) error {
	offsets, err := os.ReadFile(filepath.Join(j.Dir, write.TextOffsets))
	if err != nil {
		return err
	}
	at := spool.ViewOf[uint64](offsets)
	count := len(at) - 1
	for _, p := range j.Parts {
		if p.Forgot {
			return nil
		}
	}
	if count == 0 {
		return nil
	}
	m, err := spool.MapWhole(filepath.Join(j.Dir, write.TextFile))
	if err != nil {
		return err
	}
	same := make([]uint32, count) // the first string that is equal
	err = disk.Guard(func() error {
		known := make(map[string]uint32, count)
		for i := range same {
			s := m.Bytes[at[i]:at[i+1]]
			first, ok := known[string(s)]
			if !ok {
				first = uint32(i)
				known[string(s)] = first
			}
			same[i] = first
		}
		return nil
	})
	if err := errors.Join(err, m.Close()); err != nil {
		return err
	}
	number, used := make([]uint32, count), make([]uint32, 0, count)
	for _, table := range []string{"interval_fact", "instant_fact"} {
		if err := j.numberTexts(table, same, number, &used); err != nil {
			return err
		}
	}
	return j.moveTexts(used, count)
}

// settleSamples finds where the samples of counters lie, and how they grow.
func (j *sharedJoiner) settleSamples() error {
	m, err := spool.MapWhole(filepath.Join(j.Dir, "sample.value.f64"))
	if err != nil {
		return err
	}
	defer m.Close()
	return disk.Guard(func() error {
		values, at := spool.ViewOf[float64](m.Bytes), uint64(0)
		for _, s := range j.series {
			c := &j.counters[s.counter]
			c.first, c.count = at, uint64(s.count)
			if at += c.count; at > uint64(len(values)) {
				return fmt.Errorf("%d samples, want more: %w", len(values), disk.ErrDamaged)
			}
			for _, v := range values[c.first:at] {
				c.growth.Add(v)
			}
		}
		return nil
	})
}

// openRows maps the columns that the rest is derived from.
func (j *sharedJoiner) openRows(ctx context.Context) error { return j.finisher.openRows(ctx) }

// derive makes the tables that only need the rows and are not there yet.
func (j *sharedJoiner) derive(whole context.Context) error {
	points, err := j.pointTimes()
	if err != nil {
		return err
	}
	defer points.close()
	g, ctx := errgroup.WithContext(whole)
	j.deriveOnce(ctx, g, points)
	if err := g.Wait(); err != nil {
		return err
	}
	return j.packer().packTables(whole, "sample")
}

// publish moves the store to where the parts are, the manifest last, and removes them.
func (j *sharedJoiner) publish() error {
	j.closeRows()
	m, err := j.manifest(nil)
	if err != nil {
		return err
	}
	if err := keepOnly(j.Dir, storeFiles(m.Sections, m.Digests)); err != nil {
		return err
	}
	entries, err := os.ReadDir(j.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		if err := os.Rename(filepath.Join(j.Dir, e.Name()), filepath.Join(j.run.dir, e.Name())); err != nil {
			return err
		}
	}
	if err := m.Write(j.run.dir); err != nil {
		return err
	}
	j.run.clean()
	return nil
}
