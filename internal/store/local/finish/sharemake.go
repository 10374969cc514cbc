package finish

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A madeState is what a part at stage Made tells, beside its files.
type madeState struct {
	Lanes    laneLists // of its own locations
	Repairs  trace.Repairs
	Depth    int
	Facts    int64 // of intervals
	Inferred int64
	Links    [][]store.LinkSum // sums of the nodes of the part's links
	Linked   bool              // the part has packed its links
	Placed   bool              // it has found the ends of its links
	Core     []byte            // of some of its rows, see findCore
}

// laneLists are the lanes of locations that follow each other.
type laneLists struct {
	Lanes []uint32 // of each location
	Rows  []uint32 // of each lane
	Ends  []trace.Time
}

// placedTables are tables of which a part has plain rows, those of its own locations.
var placedTables = []string{"instant", "sample", "interval_fact", "instant_fact"}

// make gets a part to stage Made.
func (r *sharedRun) make(ctx context.Context, part int) error {
	f, err := r.merged(r.at(disk.Made, part), part)
	if err != nil {
		return err
	}
	err = f.makePart(ctx, r, part)
	f.closeRows()
	return f.endStage(err)
}

func (f *finisher) makePart(ctx context.Context, r *sharedRun, part int) error {
	if err := f.takeMatched(r); err != nil {
		return err
	}
	if err := f.collect(ctx); err != nil {
		return err
	}
	f.described.passing = true
	before := f.countsBefore()
	f.chooseOwn(before, part)
	f.renumberOpen()
	if err := f.rowPass(ctx); err != nil {
		return err
	}
	st := madeState{Lanes: f.ownLanes(f.own.first, f.own.end), Repairs: f.repairs, Depth: f.depth,
		Facts: f.own.after.facts - f.own.base.facts, Inferred: f.inferredRows}
	if err := f.cutPlaced(); err != nil {
		return err
	}
	d := definer{dir: f.Dir, def: &f.Def, order: f.order, strings: newStringTable()}
	aside, err := d.writeLocations()
	f.aside = aside
	if err := cmp.Or(err, f.writeMadeLanes()); err != nil {
		return err
	}
	if err := f.mapRows(append(append([]string{}, treeFiles...), rowFileNames...)); err != nil {
		return err
	}
	from, to := uint64(f.own.base.rows), uint64(f.own.after.rows)
	st.Core = f.sampleCore(from, to)
	if err := f.indexPart(ctx, from, to); err != nil {
		return err
	}
	last := uint64(before[len(before)-1].rows)
	if err := f.placeLinks(ctx, filepath.Join(r.at(disk.Matched, part), write.LinkFile), &st); err != nil {
		return err
	}
	if err := f.packer().packRows(ctx, f.rows, wholeFrames(from, last), wholeFrames(to, last)); err != nil {
		return err
	}
	f.closeRows()
	if err := f.shareLinks(ctx, part, &st); err != nil {
		return err
	}
	if err := write.SaveState(filepath.Join(f.Dir, write.StateFile), &st); err != nil {
		return err
	}
	names := append(tableFiles(append([]string{"interval"}, placedTables...)...), f.shareFiles()...)
	names = append(names, write.StateFile)
	if st.Linked {
		names = append(names, tableFiles("link", "link_block")...)
	}
	if st.Placed {
		names = append(names, write.LinkFile)
	}
	m := r.stageManifest(disk.Made, part)
	if err := keepOnly(f.Dir, names); err != nil {
		return err
	}
	f.CloseTemporary()
	if err := os.RemoveAll(f.Temp); err != nil {
		return err
	}
	if m.Files, err = f.described.all(f.Dir, names, f.workers); err != nil {
		return err
	}
	if err := m.Write(f.Dir); err != nil {
		return err
	}
	return write.ReplacePassing(f.Dir, f.Path)
}

// wholeFrames returns the first row from one on that begins a frame, or the end of all.
func wholeFrames(row, last uint64) uint64 {
	return min((row+pack.Frame-1)/pack.Frame*pack.Frame, last)
}

// countsBefore returns what is before each location, and behind the last.
func (f *finisher) countsBefore() []counts {
	all := make([]counts, len(f.order.old)+1)
	for id := range f.order.old {
		all[id+1] = all[id]
		if s := f.stream(id); s != nil {
			all[id+1].add(s)
		}
	}
	return all
}

// chooseOwn finds the locations whose rows a part makes: each part has about as many records.
func (f *finisher) chooseOwn(before []counts, part int) {
	n := len(before) - 1
	weight := func(id int) float64 {
		c := &before[id]
		return float64(c.rows) + float64(c.instants+c.samples+c.facts)/4 + float64(id)
	}
	edge := func(k int) int {
		if k == f.Opt.Parts {
			return n
		}
		id, most := 0, weight(n)*float64(k)/float64(f.Opt.Parts)
		for id < n && (weight(id)+weight(id+1))/2 <= most {
			id++
		}
		return id
	}
	o := &ownRange{first: edge(part), end: edge(part + 1)}
	if edges := f.readerEdges(); f.LooseLinks && edges != nil {
		o.first, o.end = edges[part], edges[part+1]
	}
	o.base, o.after = before[o.first], before[o.end]
	o.made = o.end
	need := int64(wholeFrames(uint64(o.after.rows), uint64(before[n].rows)))
	t := &rows.Table{}
	for id := range before {
		t.C.LocationLane = append(t.C.LocationLane, uint32(id))
		t.C.LaneRow = append(t.C.LaneRow, uint64(before[id].rows))
	}
	for _, j := range index.Jobs(t) {
		if at := before[j[0]].rows; at >= o.base.rows && at < o.after.rows {
			need = max(need, before[j[1]].rows)
		}
	}
	for o.made < n && before[o.made].rows < need {
		o.made++
	}
	f.own = o
}

// renumberOpen gives the regions of calls that are never left the store's numbers.
func (f *finisher) renumberOpen() {
	for i, id := range f.openRegions {
		f.openRegions[i] = renumbered(f.regionNumber, id)
	}
}

// ownLanes returns the lanes of locations that were made.
func (f *finisher) ownLanes(first, end int) (out laneLists) {
	for _, j := range f.jobs {
		lane := 0
		for i, n := range j.lanes {
			if id := j.first + i; id >= first && id < end {
				out.Lanes = append(out.Lanes, n)
				out.Rows = append(out.Rows, j.laneRows[lane:lane+int(n)]...)
				out.Ends = append(out.Ends, j.laneEnd[lane:lane+int(n)]...)
			}
			lane += int(n)
		}
	}
	return out
}

// writeMadeLanes writes the lanes of the locations that were made; others have one, as far as anyone looks here.
func (f *finisher) writeMadeLanes() error {
	made := f.ownLanes(f.own.first, f.own.made)
	var all laneLists
	add := func(first, end int) {
		for id := first; id < end; id++ {
			n := uint32(0)
			if s := f.stream(id); s != nil && s.Rows > 0 {
				n = 1
				all.Rows, all.Ends = append(all.Rows, s.Rows), append(all.Ends, 0)
			}
			all.Lanes = append(all.Lanes, n)
		}
	}
	add(0, f.own.first)
	all.append(&made)
	add(f.own.made, len(f.order.old))
	return writeLaneLists(f.Dir, &all)
}

func (l *laneLists) append(x *laneLists) {
	l.Lanes, l.Rows, l.Ends = append(l.Lanes, x.Lanes...), append(l.Rows, x.Rows...), append(l.Ends, x.Ends...)
}

func writeLaneLists(dir string, l *laneLists) error {
	return writeLanes(dir, []*job{{lanes: l.Lanes, laneRows: l.Rows, laneEnd: l.Ends}})
}

// cutPlaced leaves the own rows of tables that are plain.
func (f *finisher) cutPlaced() error {
	o := f.own
	n := o.after.minus(&o.base)
	for table, count := range map[string]int64{"instant": n.instants, "sample": n.samples, "interval_fact": n.facts,
		"instant_fact": n.instantFacts} {
		for i := range disk.Schema[tableAt(table)].Columns {
			c := &disk.Schema[tableAt(table)].Columns[i]
			path := filepath.Join(f.Dir, c.File())
			info, err := os.Stat(path)
			if os.IsNotExist(err) {
				continue
			}
			if err != nil {
				return err
			}
			if size := count * c.Width(); info.Size() > size {
				if err := os.Truncate(path, size); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// keepOnly removes all other files of a directory.
func keepOnly(dir string, names []string) error {
	keep := map[string]bool{}
	for _, name := range names {
		keep[name] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !keep[e.Name()] && !e.IsDir() {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// repairAt counts the repairs of a location, unless another part does.
func (f *finisher) repairAt(id trace.LocationID, r trace.Repairs) {
	if f.own == nil || int(id) >= f.own.first && int(id) < f.own.end {
		f.repair(r)
	}
}
