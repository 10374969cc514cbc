package finish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
)

// Formats whose locations lie in files of their own are imported in parts that read only their own files. What a part
// needs of the others it finds in the directory of the run, in three steps:
//
//  1. Read: records are kept as they came, with the halves of links for each part (write/record.go).
//  2. Matched, when all parts are read: part K joins the halves that are for it, and tells which regions have calls
//     that are never left (sharematch.go).
//  3. Made, when all parts are matched: part K makes the rows of a range of locations, whoever read them, their index
//     and their frames (sharemake.go).
//
//  4. Linked, when all are made and ends of links had to be looked for: part K packs a range of the links. Where each
//     link joins locations of one reader, their ends are found as the rows are made (shareplace.go).
//
//  5. Joined: part K puts some files of the store together (sharegather.go).
//
// Then all is put together (sharejoin.go): the same bytes as those of a whole import. Each step of each part is done by
// one process, which holds a lock on it, and any process can do it.

// Record ends the input of a part that reads only its own files, and puts it at its path.
func Record(_ context.Context, w *write.Writer) error {
	if w.Done {
		return errors.New("write part: already finished")
	}
	err := record(w)
	if err != nil {
		w.Abort()
		return fmt.Errorf("write part: %w", err)
	}
	w.Done = true
	return nil
}

func record(w *write.Writer) error {
	sum, names, err := w.Save()
	if err != nil {
		return err
	}
	list, err := json.Marshal(w.Opt.Listing)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.Dir, disk.ListingFile), list, 0o644); err != nil {
		return err
	}
	h := crc32.Checksum(list, disk.Castagnoli)
	m := &disk.PartManifest{Part: w.Opt.Part, Parts: w.Opt.Parts, Stamp: disk.Word8(sum) + disk.Word8(h),
		Stage: disk.Read, Sources: w.Opt.Sources, Kernels: kernelsOf(&w.Opt), Align: w.Opt.Align, Infer: w.Opt.Infer}
	run := filepath.Dir(filepath.Clean(w.Path))
	for k := range w.Opt.Parts { // steps that were made of an earlier import of this part
		for _, s := range disk.Stages[1:] {
			_ = os.RemoveAll(filepath.Join(run, s.DirName(k+1)))
		}
	}
	return publishStage(w, m, names)
}

// publishStage puts the directory of a part at a stage in its place.
func publishStage(w *write.Writer, m *disk.PartManifest, names []string) (err error) {
	w.CloseTemporary()
	if err := os.RemoveAll(w.Temp); err != nil {
		return err
	}
	if m.Files, err = disk.DescribePassing(w.Dir, names, w.Opt.Workers); err != nil {
		return err
	}
	if err := m.Write(w.Dir); err != nil {
		return err
	}
	return write.ReplacePassing(w.Dir, w.Path)
}

// A sharedRun is a run whose parts are all read.
type sharedRun struct {
	dir   string
	opt   write.Options
	parts []*disk.PartManifest
	known map[disk.Stage][]*disk.PartManifest // of stages that all parts are at
}

// step says what is done for a part to get to a stage.
type step struct {
	stage disk.Stage
	do    func(ctx context.Context, part int) error
	parts int // how many there are
}

// joinShared goes on with parts that are read until they are a store. Other processes may do the same.
func joinShared(ctx context.Context, dir string, parts []*disk.PartManifest, o write.Options) (mine bool, err error) {
	r := &sharedRun{dir: dir, opt: o, parts: parts, known: map[disk.Stage][]*disk.PartManifest{}}
	r.opt.Align, r.opt.Infer = parts[0].Align, parts[0].Infer
	r.opt.Sources, r.opt.Parts = parts[0].Sources, len(parts)
	r.opt.Shared = false
	partial.RemoveStale(dir)
	join := r.join
	if timed, err := r.timed(); err != nil {
		return r.unlessJoined(err)
	} else if !timed {
		join = r.joinProfiles
	} else {
		for _, s := range []step{{disk.Matched, r.match, len(parts)}, {disk.Made, r.make, len(parts)}} {
			if err := r.all(ctx, s); err != nil {
				return false, err
			}
		}
		if placed, err := r.placed(); err != nil {
			return r.unlessJoined(err)
		} else if placed {
			if err := r.all(ctx, step{disk.Linked, r.link, len(parts)}); err != nil {
				return false, err
			}
		}
		if err := r.all(ctx, step{disk.Joined, r.gather, r.gatherers()}); err != nil {
			return false, err
		}
	}
	for !joined(dir) {
		took, err := r.locked("joined", func() error {
			if joined(dir) {
				return nil
			}
			mine = true
			return join(ctx)
		})
		if err == nil && !took {
			err = pause(ctx)
		}
		if err != nil {
			return false, err
		}
	}
	if !mine && o.Part > 0 {
		r.cleanPart(o.Part - 1) // so that one process need not do it for all
	}
	return mine, nil
}

// unlessJoined is for errors that come if another process has joined the run and taken the parts away.
func (r *sharedRun) unlessJoined(err error) (mine bool, _ error) {
	if joined(r.dir) {
		return false, nil
	}
	return false, err
}

// timed reports whether a part has intervals, samples or links with a time.
func (r *sharedRun) timed() (bool, error) {
	for k := range r.parts {
		var st write.State
		if err := write.LoadState(filepath.Join(r.at(disk.Read, k), write.StateFile), &st); err != nil {
			return false, err
		}
		if len(st.Streams) > 0 || st.Links > 0 || len(st.Causes)+len(st.Effects)+len(st.Attended) > 0 {
			return true, nil
		}
	}
	return false, nil
}

func joined(dir string) bool {
	_, err := os.Lstat(disk.ManifestPath(dir))
	return err == nil
}

// waitingTime is how long a process waits before it looks again for what others do.
const waitingTime = 10 * time.Millisecond

// all gets all parts to a stage.
func (r *sharedRun) all(ctx context.Context, s step) error {
	own := max(r.opt.Part-1, 0)
	reached := make([]bool, s.parts)
	for {
		left := false
		for i := range reached {
			k := (own + i) % len(reached)
			// Whoever joins the run removes its parts afterwards, so that is looked for after them.
			done := func() bool {
				reached[k] = reached[k] || r.reached(s.stage, k) || joined(r.dir)
				return reached[k]
			}
			if done() {
				continue
			}
			took, err := r.locked(s.stage.DirName(k+1), func() error {
				if done() {
					return nil
				}
				return s.do(ctx, k)
			})
			if err != nil {
				return fmt.Errorf("part %d of %d: %w", k+1, len(r.parts), err)
			}
			left = left || !took
		}
		if !left {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(waitingTime):
		return nil
	}
}

// locked does something while it holds a lock; false if another has it.
func (r *sharedRun) locked(name string, do func() error) (took bool, err error) {
	f, err := os.OpenFile(filepath.Join(r.dir, ".lock-"+name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := partial.TryLock(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return false, nil
	}
	return true, do()
}

// reached reports whether a part is at a stage.
func (r *sharedRun) reached(s disk.Stage, part int) bool {
	m, err := r.manifest(s, part)
	return err == nil && m.Stamp == r.parts[0].Stamp && m.Parts == len(r.parts)
}

func (r *sharedRun) at(s disk.Stage, part int) string { return filepath.Join(r.dir, s.DirName(part+1)) }

func (r *sharedRun) manifest(s disk.Stage, part int) (*disk.PartManifest, error) {
	return disk.ReadPart(disk.PartManifestOf(r.at(s, part)))
}

// checkFiles makes sure that the files of a part are as they were written.
func checkFiles(m *disk.PartManifest, dir string) error {
	for _, e := range m.Files {
		if err := m.CheckFile(dir, e.Name); err != nil {
			return fmt.Errorf("%w; remove %s and import that part again", err, dir)
		}
	}
	return nil
}

// merged makes a finisher with the records of all parts, for a directory at path.
func (r *sharedRun) merged(path string, part int) (*finisher, error) {
	o := r.opt
	o.Part = part + 1
	dirs := make([]string, len(r.parts))
	for k := range dirs {
		dirs[k] = r.at(disk.Read, k)
	}
	w, err := write.Merge(path, o, dirs)
	if err != nil {
		return nil, err
	}
	return &finisher{Writer: w, workers: w.Opt.Workers, memory: w.Opt.Memory}, nil
}

// stageManifest describes a part at a stage.
func (r *sharedRun) stageManifest(s disk.Stage, part int) *disk.PartManifest {
	first := r.parts[0]
	return &disk.PartManifest{Part: part + 1, Parts: len(r.parts), Stamp: first.Stamp, Stage: s,
		Sources: first.Sources, Kernels: first.Kernels, Align: first.Align, Infer: first.Infer}
}

// clean takes everything away but the store.
func (r *sharedRun) clean() {
	for k := range r.parts {
		r.cleanPart(k)
	}
	_ = os.Remove(filepath.Join(r.dir, ".lock-joined"))
}

func (r *sharedRun) cleanPart(part int) {
	for _, s := range disk.Stages {
		_ = os.RemoveAll(r.at(s, part)) // leftovers do no harm
		_ = os.Remove(filepath.Join(r.dir, ".lock-"+s.DirName(part+1)))
	}
}

// An ownRange is locations whose rows a part makes: those from first to end are its own, those up to made are needed
// for frames of rows and jobs of the index that begin in the own ones.
type ownRange struct {
	first, end, made int
	base             counts // before the first
	after            counts // before the end
}

func (o *ownRange) edge(id int) bool {
	return o != nil && (id == o.first || id == o.end || id == o.made)
}

// jobs returns those of a plan that are done.
func (o *ownRange) jobs(all []*job) []*job {
	if o == nil {
		return all
	}
	return slices.DeleteFunc(all, func(j *job) bool { return j.first < o.first || j.first >= o.made })
}

func (c counts) minus(o *counts) counts {
	c.instants -= o.instants
	c.samples -= o.samples
	c.facts -= o.facts
	c.instantFacts -= o.instantFacts
	return c
}
