package finish

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Links whose ends are not named are looked for in rows. Where each part reads locations that follow each other and its
// links join only these, it makes the rows of the same locations, and finds the ends of its links as it does. A placed
// link has the numbers of the store, and the lanes and rows of its ends in place of their regions and numbers. Then
// each part packs a range of all links.

// readerEdges returns the location at which the locations of each reader begin, and the end; nil if they do not follow
// each other.
func (f *finisher) readerEdges() []int {
	edges, part := make([]int, f.Opt.Parts+1), 0
	for id := range f.order.old {
		s := f.stream(id)
		if s == nil || s.Tail < 0 {
			continue
		}
		if len(s.Before()) > 0 {
			return nil
		}
		for part+1 < f.Opt.Parts && !f.Owns(s, part) {
			part++
			edges[part] = id
		}
		if !f.Owns(s, part) {
			return nil
		}
	}
	for part++; part <= f.Opt.Parts; part++ {
		edges[part] = len(f.order.old)
	}
	return edges
}

// placeLinks finds the ends of the links of a part, if they are all in its own rows.
func (f *finisher) placeLinks(ctx context.Context, file string, st *madeState) error {
	if f.clocks != nil || f.linksLoaded || !f.LooseLinks || f.UntimedRows.Len() > 0 || len(f.kinship.placed) > 0 ||
		len(f.Kin) > 0 {
		return nil
	}
	l := linker{finisher: f}
	var err error
	if l.begins, err = l.indexBegins(ctx); err != nil {
		return err
	}
	defer l.begins.close()
	places, finders, groups := make([][2]linkPlace, linkBatch), l.newEndFinders(), groupWatch{}
	err = write.SaveRecords(filepath.Join(f.Dir, write.LinkFile), func(give func(*write.LinkRecord) error) error {
		ties := tieBreaker{take: func(batch []write.LinkRecord) error {
			for i := range batch {
				if !f.own.has(int(batch[i].FromLocation)) || !f.own.has(int(batch[i].ToLocation)) {
					return errNotNamed
				}
			}
			if err := l.resolveBatch(ctx, finders, batch, places); err != nil {
				return err
			}
			for i := range batch {
				place(&batch[i], places[i])
				if err := give(&batch[i]); err != nil {
					return err
				}
			}
			return nil
		}}
		err := write.LoadRecords(file, func(list []write.LinkRecord) error {
			n := len(list)
			if list = l.renumberAll(list); len(list) < n || groups.tooLarge(list) {
				return errNotNamed
			}
			return ties.add(list)
		})
		if err != nil {
			return err
		}
		return ties.finish()
	})
	if errors.Is(err, errNotNamed) {
		return os.Remove(filepath.Join(f.Dir, write.LinkFile))
	}
	st.Placed = err == nil
	return err
}

// has reports whether a location is one of the part's own.
func (o *ownRange) has(id int) bool { return id >= o.first && id < o.end }

// place notes where the ends of a link are.
func place(r *write.LinkRecord, at [2]linkPlace) {
	r.FromRegion, r.FromNumber = trace.RegionID(at[0].lane), uint32(at[0].row)
	r.ToRegion, r.ToNumber = trace.RegionID(at[1].lane), uint32(at[1].row)
}

func placesOf(r *write.LinkRecord) [2]linkPlace {
	return [2]linkPlace{{int32(r.FromRegion), int32(r.FromNumber)}, {int32(r.ToRegion), int32(r.ToNumber)}}
}

// A linkedState is what a part at stage Linked tells.
type linkedState struct {
	Links [][]store.LinkSum
	Left  bool // too many links start at once, so that they are packed when the parts are joined
}

// placed reports whether all parts have found the ends of their links.
func (r *sharedRun) placed() (bool, error) {
	made, err := r.manifests(disk.Made)
	return err == nil && hasAll(made, write.LinkFile), err
}

// link gets a part to stage Linked.
func (r *sharedRun) link(ctx context.Context, part int) error {
	o := r.opt
	o.Part = part + 1
	w, err := write.Create(r.at(disk.Linked, part), o)
	if err != nil {
		return err
	}
	f := &finisher{Writer: w, workers: w.Opt.Workers, memory: w.Opt.Memory}
	return f.endStage(f.linkPart(ctx, r, part))
}

func (f *finisher) linkPart(ctx context.Context, r *sharedRun, part int) error {
	f.described.passing = true
	var files []string
	for k := range r.parts {
		file := filepath.Join(r.at(disk.Made, k), write.LinkFile)
		if info, err := os.Stat(file); err == nil && info.Size() > 0 {
			files = append(files, file)
		} else if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	lists, done, err := mapLinks(files)
	defer done()
	if err != nil {
		return err
	}
	first, end := lists.shareOf(part, f.Opt.Parts)
	from := func(ctx context.Context, give func([]write.LinkRecord, [][2]linkPlace) error) error {
		return f.linksBetween(ctx, lists, first, end, true, give)
	}
	var st linkedState
	links := linker{finisher: f}
	err = links.packLinkRows(ctx, from, func(node []store.LinkSum) { st.Links = append(st.Links, node) })
	names := append(tableFiles("link", "link_block"), write.StateFile)
	if errors.Is(err, errNotNamed) {
		st, names, err = linkedState{Left: true}, []string{write.StateFile}, nil
	}
	if err != nil {
		return err
	}
	if err := write.SaveState(filepath.Join(f.Dir, write.StateFile), &st); err != nil {
		return err
	}
	f.CloseTemporary()
	if err := os.RemoveAll(f.Temp); err != nil {
		return err
	}
	if err := keepOnly(f.Dir, names); err != nil {
		return err
	}
	m := r.stageManifest(disk.Linked, part)
	if m.Files, err = f.described.all(f.Dir, names, f.workers); err != nil {
		return err
	}
	if err := m.Write(f.Dir); err != nil {
		return err
	}
	return write.ReplacePassing(f.Dir, f.Path)
}

// takeLinked takes what the parts tell at stage Linked.
func (j *sharedJoiner) takeLinked() error {
	j.linksPacked, j.nodes = true, nil
	for k := range j.run.parts {
		var st linkedState
		if err := write.LoadState(filepath.Join(j.run.at(disk.Linked, k), write.StateFile), &st); err != nil {
			return err
		}
		j.nodes = append(j.nodes, st.Links...)
		j.linksPacked = j.linksPacked && !st.Left
	}
	return nil
}
