package finish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
)

// Join makes a store of the parts in a directory, in their place. Frames of rows and results of the index follow each
// other; files that only one part has are taken as they are. Two processes may join at once: both write the same. It
// returns false if another has made the store.
func Join(ctx context.Context, dir string, o write.Options) (mine bool, err error) {
	mine, err = joinParts(ctx, dir, o)
	if err != nil {
		if joined(dir) {
			return false, nil // another was faster and has taken the parts away
		}
		return false, fmt.Errorf("join the parts of %s: %w", dir, err)
	}
	return mine, nil
}

func joinParts(ctx context.Context, dir string, o write.Options) (mine bool, err error) {
	parts, err := disk.ReadParts(dir)
	if err != nil {
		return false, err
	}
	if o = o.WithDefaults(); !slices.Equal(kernelsOf(&o), parts[0].Kernels) {
		return false, errors.New("they were written by another version of parallax; use that one, or import them again")
	}
	if parts[0].Stage != "" {
		return joinShared(ctx, dir, parts, o)
	}
	return true, joinRanges(ctx, dir, parts, o)
}

// joinRanges joins parts each of which has a range of rows.
func joinRanges(ctx context.Context, dir string, parts []*disk.PartManifest, o write.Options) error {
	partial.RemoveStale(dir)
	to, err := os.MkdirTemp(dir, ".joined"+partial.PartMark)
	if err != nil {
		return err
	}
	defer os.RemoveAll(to)
	temp := filepath.Join(to, partial.TempName)
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err
	}
	lock, err := partial.LockDir(temp)
	if err != nil {
		return err
	}
	defer lock.Close()
	rest := parts[0].Rest
	f := &finisher{Writer: &write.Writer{Opt: o, Dir: to, Temp: temp}, workers: o.Workers, memory: o.Memory,
		end: rest.Info.End}
	j := partJoiner{f, dir, parts, func(k int) string { return filepath.Join(dir, disk.PartName(k+1)) }}
	defer f.closeRows()
	for _, step := range []func(context.Context) error{j.takeOnce, j.index, f.packIndex, j.rows, f.packTree} {
		if err := step(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return j.publish()
}

// A partJoiner puts parts together.
type partJoiner struct {
	*finisher
	from  string
	parts []*disk.PartManifest
	dirOf func(part int) string // where its files are
}

func (j partJoiner) dir(part int) string { return j.dirOf(part) }

// takeOnce takes the files that part 1 alone has. They were checked when written, and are checked when read.
func (j partJoiner) takeOnce(context.Context) error {
	derived := derivedFiles()
	for _, e := range j.parts[0].Rest.Files {
		if slices.Contains(derived, e.Name) {
			continue
		}
		j.described.set(e)
		if e.Size == 0 {
			continue
		}
		take := linkOrCopy
		if slices.Contains(treeColumns, e.Name) {
			take = copyFile // it is packed here, and the part stays as it is until all is done
		}
		if err := take(filepath.Join(j.dir(0), e.Name), filepath.Join(j.Dir, e.Name)); err != nil {
			return err
		}
	}
	return nil
}

func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return copyFile(from, to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

func (j partJoiner) index(ctx context.Context) error {
	if err := j.mapRows(treeFiles); err != nil {
		return err
	}
	for file := range j.shareFiles() {
		sections, digests, err := j.joinIndex(ctx, file, j.finisher.rows)
		if err != nil {
			return err
		}
		j.sections, j.digests = append(j.sections, sections...), append(j.digests, digests...)
	}
	return nil
}

// joinIndex puts the files of one name of all shares of the index together; the first needs the tree of locations.
func (j partJoiner) joinIndex(ctx context.Context, file int, tree *rows.Table) (sections, digests []disk.Section,
	err error) {
	name := j.shareFiles()[file]
	var shares []io.Reader
	for i, p := range j.parts {
		if err := p.CheckFile(j.dir(i), name); err != nil {
			return nil, nil, err
		}
		from, err := os.Open(filepath.Join(j.dir(i), name))
		if errors.Is(err, os.ErrNotExist) {
			continue // nothing in it
		}
		if err != nil {
			return nil, nil, err
		}
		defer from.Close()
		shares = append(shares, from)
	}
	x := j.indexerOf(tree).Of(file)
	err = x.Join(ctx, shares)
	return x.Sections, x.Digested, err
}

// rows puts the frames of table interval one after the other, and their directories.
func (j partJoiner) rows(ctx context.Context) error {
	for _, name := range tableFiles("interval") {
		if err := j.column(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (j partJoiner) column(ctx context.Context, name string) error {
	w := disk.NewColumnWriter(j.Dir, name, "")
	values, err := j.appendParts(ctx, w, name)
	if err := w.Close(err); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	e, err := disk.DescribeFile(j.Dir, name)
	if err != nil {
		return err
	}
	e.Values = values
	j.described.set(e)
	return nil
}

// appendParts appends the frames of all parts to a column, and returns how many values they have.
func (j partJoiner) appendParts(ctx context.Context, w *disk.ColumnWriter, name string) (values int64, err error) {
	for i, p := range j.parts {
		k := slices.IndexFunc(p.Files, func(e disk.FileEntry) bool { return e.Name == name })
		if k < 0 {
			return 0, fmt.Errorf("%s: no file %s: %w", j.dir(i), name, disk.ErrDamaged)
		}
		if p.Files[k].Size == 0 {
			continue
		}
		if values%pack.Frame != 0 {
			return 0, fmt.Errorf("%s: %s does not begin with a frame: %w", j.dir(i), name, disk.ErrDamaged)
		}
		if err := p.CheckFile(j.dir(i), name); err != nil {
			return 0, err
		}
		if err := appendFrames(w, filepath.Join(j.dir(i), name), p.Files[k].Values); err != nil {
			return 0, err
		}
		values += p.Files[k].Values
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
	return values, nil
}

// appendFrames appends all frames of a packed file to a column.
func appendFrames(w *disk.ColumnWriter, file string, values int64) error {
	frames, err := disk.OpenFrames(file, values, 1)
	if err != nil {
		return err
	}
	defer frames.Close()
	return disk.Guard(func() error { return frames.CopyTo(w, 0, frames.Len()) })
}

// publish moves the store to where the parts are, the manifest last, and removes them.
func (j partJoiner) publish() error {
	m := *j.parts[0].Rest
	m.Sections, m.Digests = j.sections, j.digests
	var err error
	if m.Files, err = j.described.all(j.Dir, storeFiles(m.Sections, m.Digests), j.workers); err != nil {
		return err
	}
	if err := os.RemoveAll(j.Temp); err != nil {
		return err
	}
	entries, err := os.ReadDir(j.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(j.Dir, e.Name()), filepath.Join(j.from, e.Name())); err != nil {
			return err
		}
	}
	if err := m.Write(j.from); err != nil {
		return err
	}
	for i := range j.parts {
		_ = os.RemoveAll(j.dir(i)) // leftovers do no harm
	}
	return nil
}
