package finish

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
)

// Most files of the store are those of the parts put together, column by column. Each part at stage Joined has some of
// them, as they are in the store and safe on the disk: about as many bytes as any other.

// A gathering says which files are put together of which parts.
type gathering struct {
	run   *sharedRun
	made  []*disk.PartManifest
	links []*disk.PartManifest // of the parts' links; nil: they are packed when all is there
	// linksIn is the stage that has them.
	linksIn disk.Stage
	tasks   []gatherTask
}

// A gatherTask puts some files together.
type gatherTask struct {
	bytes int64
	// whole tasks need the definitions of the run.
	whole bool
	do    func(context.Context, *sharedJoiner) error
}

// A joinedState is what a part at stage Joined tells, beside its files.
type joinedState struct {
	Index []joinedIndex
}

// A joinedIndex is the sections that were made of one of the files of all shares of the index.
type joinedIndex struct {
	File              int
	Sections, Digests []disk.Section
}

// wholeBytes is how many bytes could be put together in the time that the definitions of a run take.
const wholeBytes = 4 << 20

// gathering reads which files there are: the same for all parts.
func (r *sharedRun) gathering() (*gathering, error) {
	g := &gathering{run: r, linksIn: disk.Made}
	var err error
	if g.made, err = r.manifests(disk.Made); err != nil {
		return nil, err
	}
	g.links = g.made
	if hasAll(g.made, write.LinkFile) {
		g.linksIn = disk.Linked
		if g.links, err = r.manifests(disk.Linked); err != nil {
			return nil, err
		}
	}
	if !hasAll(g.links, tableFiles("link")[0]) {
		g.links = nil
	}
	g.addColumns()
	g.addIndex()
	return g, nil
}

// manifests reads those of all parts.
func (r *sharedRun) manifests(s disk.Stage) (all []*disk.PartManifest, err error) {
	if all, ok := r.known[s]; ok {
		return all, nil
	}
	for k := range r.parts {
		m, err := r.manifest(s, k)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	r.known[s] = all
	return all, nil
}

// mostGatherers is more than there are files worth a part of their own.
const mostGatherers = 32

// gatherers returns how many parts are brought to stage Joined.
func (r *sharedRun) gatherers() int { return min(len(r.parts), mostGatherers) }

func hasAll(parts []*disk.PartManifest, name string) bool {
	return !slices.ContainsFunc(parts, func(m *disk.PartManifest) bool { return !m.Has(name) })
}

func sizeOf(parts []*disk.PartManifest, names ...string) (n int64) {
	for _, m := range parts {
		for _, name := range names {
			n += m.SizeOf(name)
		}
	}
	return n
}

// textColumns may refer to texts, which are numbered in the order of all facts.
var textColumns = []string{"interval_fact.kind.u8", "interval_fact.bits.u64", "instant_fact.kind.u8",
	"instant_fact.bits.u64"}

func (g *gathering) addColumns() {
	packed := func(parts []*disk.PartManifest, stage disk.Stage, name string) {
		g.add(sizeOf(parts, name), func(ctx context.Context, j *sharedJoiner) error {
			return j.joinerOf(parts, stage).column(ctx, name)
		})
	}
	plain := func(parts []*disk.PartManifest, stage disk.Stage, name string) {
		g.add(sizeOf(parts, name), func(ctx context.Context, j *sharedJoiner) error {
			return cmp.Or(j.joinerOf(parts, stage).append(ctx, name), j.packer().packColumns(ctx, name))
		})
	}
	for _, name := range tableFiles("interval") {
		packed(g.made, disk.Made, name)
	}
	for _, name := range tableFiles("instant", "interval_fact", "instant_fact") {
		if !slices.Contains(textColumns, name) {
			plain(g.made, disk.Made, name)
		}
	}
	if g.links != nil {
		for _, name := range tableFiles("link") {
			packed(g.links, g.linksIn, name)
		}
		for _, name := range tableFiles("link_block") {
			plain(g.links, g.linksIn, name)
		}
	}
	g.tasks = append(g.tasks, gatherTask{sizeOf(g.made, textColumns...) + wholeBytes, true,
		func(ctx context.Context, j *sharedJoiner) error { return j.texts(ctx) }})
}

func (g *gathering) addIndex() {
	for file, name := range index.ShareFiles(len(g.run.opt.Summaries), len(g.run.opt.Digests)) {
		n := 2 * sizeOf(g.made, name) // they are read and written again
		switch {
		case file >= len(index.Shapes):
			g.add(n, func(ctx context.Context, j *sharedJoiner) error { return j.section(ctx, file) })
		case index.Shapes[file] == index.Groups:
			g.tasks = append(g.tasks, gatherTask{n + wholeBytes, true,
				func(ctx context.Context, j *sharedJoiner) error { return j.groups(ctx, file) }})
		default:
			g.add(n, func(ctx context.Context, j *sharedJoiner) error { return j.shape(ctx, file) })
		}
	}
}

func (g *gathering) add(bytes int64, do func(context.Context, *sharedJoiner) error) {
	g.tasks = append(g.tasks, gatherTask{bytes: bytes, do: do})
}

// of returns the tasks of a part: the largest first, each for the part that has least.
func (g *gathering) of(part int) (own []gatherTask) {
	slices.SortStableFunc(g.tasks, func(a, b gatherTask) int { return cmp.Compare(b.bytes, a.bytes) })
	have := make([]int64, g.run.gatherers())
	for _, t := range g.tasks {
		k := 0
		for i := range have {
			if have[i] < have[k] {
				k = i
			}
		}
		if have[k] += t.bytes + 1; k == part {
			own = append(own, t)
		}
	}
	return own
}

// gather gets a part to stage Joined.
func (r *sharedRun) gather(ctx context.Context, part int) error {
	g, err := r.gathering()
	if err != nil {
		return err
	}
	tasks := g.of(part)
	var f *finisher
	if slices.ContainsFunc(tasks, func(t gatherTask) bool { return t.whole }) {
		f, err = r.merged(r.at(disk.Joined, part), part)
	} else {
		f, err = r.plain(r.at(disk.Joined, part), part)
	}
	if err != nil {
		return err
	}
	err = (&sharedJoiner{finisher: f, run: r, parts: g.made}).gatherPart(ctx, part, tasks)
	f.closeRows()
	return f.endStage(err)
}

// plain makes a finisher without the records of the parts.
func (r *sharedRun) plain(path string, part int) (*finisher, error) {
	o := r.opt
	o.Part = part + 1
	w, err := write.Create(path, o)
	if err != nil {
		return nil, err
	}
	return &finisher{Writer: w, workers: w.Opt.Workers, memory: w.Opt.Memory}, nil
}

func (j *sharedJoiner) gatherPart(ctx context.Context, part int, tasks []gatherTask) error {
	if len(j.Parts) > 0 {
		if err := j.start(ctx); err != nil {
			return err
		}
	}
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(max(j.workers, columnsAtOnce))
	for _, t := range tasks {
		g.Go(func() error { return t.do(within, j) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := write.SaveState(filepath.Join(j.Dir, write.StateFile), &j.joined); err != nil {
		return err
	}
	if err := j.described.add(j.Dir, []string{write.StateFile}); err != nil {
		return err
	}
	m := j.run.stageManifest(disk.Joined, part)
	m.Files = j.described.list()
	var names []string
	for _, e := range m.Files {
		names = append(names, e.Name)
	}
	j.closeRows()
	j.CloseTemporary()
	if err := cmp.Or(os.RemoveAll(j.Temp), keepOnly(j.Dir, names), m.Write(j.Dir)); err != nil {
		return err
	}
	return write.ReplacePassing(j.Dir, j.Path)
}

// joinerOf puts columns of parts together.
func (j *sharedJoiner) joinerOf(parts []*disk.PartManifest, stage disk.Stage) partJoiner {
	return partJoiner{finisher: j.finisher, parts: parts, dirOf: func(k int) string { return j.run.at(stage, k) }}
}

// texts puts texts together, and the columns that refer to them.
func (j *sharedJoiner) texts(ctx context.Context) error {
	joiner := j.joinerOf(j.parts, disk.Made)
	for _, name := range textColumns {
		if err := joiner.append(ctx, name); err != nil {
			return err
		}
	}
	if err := cmp.Or(j.gatherTexts(ctx), j.orderTexts(ctx)); err != nil {
		return err
	}
	return j.described.add(j.Dir, append(tableFiles("text"), textColumns...))
}

// shape puts a part of the index together that is neither a summary nor a digest.
func (j *sharedJoiner) shape(ctx context.Context, file int) error {
	if _, _, err := j.joinerOf(j.parts, disk.Made).joinIndex(ctx, file, nil); err != nil {
		return err
	}
	return j.packShape(ctx, index.Shapes[file])
}

// groups does for the part that follows the tree of locations.
func (j *sharedJoiner) groups(ctx context.Context, file int) error {
	d := definer{dir: j.Dir, def: &j.Def, order: j.order, strings: newStringTable()}
	aside, err := d.writeLocations()
	j.aside = aside
	if err := cmp.Or(err, writeLaneLists(j.Dir, &j.laneLists), j.mapRows(treeFiles)); err != nil {
		return err
	}
	if _, _, err := j.joinerOf(j.parts, disk.Made).joinIndex(ctx, file, j.rows); err != nil {
		return err
	}
	return j.packShape(ctx, index.Groups)
}

// section puts a summary or a digest together.
func (j *sharedJoiner) section(ctx context.Context, file int) error {
	sections, digests, err := j.joinerOf(j.parts, disk.Made).joinIndex(ctx, file, nil)
	if err != nil {
		return err
	}
	j.mu.Lock()
	j.joined.Index = append(j.joined.Index, joinedIndex{file, sections, digests})
	j.mu.Unlock()
	return j.packSections(ctx, slices.Concat(sections, digests))
}

// takeJoined takes the files that the parts have put together. They stay with the parts too, until the store is there.
func (j *sharedJoiner) takeJoined(context.Context) error {
	var list []joinedIndex
	for k := range j.run.gatherers() {
		m, err := j.run.manifest(disk.Joined, k)
		if err != nil {
			return err
		}
		dir := j.run.at(disk.Joined, k)
		var st joinedState
		if err := write.LoadState(filepath.Join(dir, write.StateFile), &st); err != nil {
			return err
		}
		list = append(list, st.Index...)
		for _, e := range m.Files {
			if e.Name == write.StateFile {
				continue
			}
			j.described.set(e)
			to := filepath.Join(j.Dir, e.Name)
			if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			if e.Size == 0 {
				continue
			}
			if err := linkOrCopy(filepath.Join(dir, e.Name), to); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(list, func(a, b joinedIndex) int { return cmp.Compare(a.File, b.File) })
	for _, x := range list {
		j.sections, j.digests = append(j.sections, x.Sections...), append(j.digests, x.Digests...)
	}
	return nil
}
