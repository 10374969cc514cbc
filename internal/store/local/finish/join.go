package finish

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
)

// Join makes a store of the parts in a directory, in their place. Frames of rows and results of the index follow each other; what was made
// once is taken as it is. Two may do it at once: both write the same.
func Join(ctx context.Context, dir string, o write.Options) error {
	err := joinParts(ctx, dir, o)
	if err != nil {
		if _, there := os.Lstat(disk.ManifestPath(dir)); there == nil {
			return nil // somebody else was faster and has taken the parts away
		}
		return fmt.Errorf("join the parts of %s: %w", dir, err)
	}
	return nil
}

func joinParts(ctx context.Context, dir string, o write.Options) error {
	parts, err := disk.ReadParts(dir)
	if err != nil {
		return err
	}
	if o = o.WithDefaults(); !slices.Equal(kernelsOf(&o), parts[0].Kernels) {
		return errors.New("they were written by another version of parallax; use that one, or import them again")
	}
	disk.RemoveStale(dir)
	to, err := os.MkdirTemp(dir, ".joined"+disk.PartMark)
	if err != nil {
		return err
	}
	defer os.RemoveAll(to)
	temp := filepath.Join(to, disk.TempName)
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err
	}
	lock, err := disk.LockDir(temp)
	if err != nil {
		return err
	}
	defer lock.Close()
	rest := parts[0].Rest
	f := &finisher{Writer: &write.Writer{Opt: o, Dir: to, Temp: temp}, workers: o.Workers, memory: o.Memory, end: rest.Info.End}
	j := partJoiner{f, dir, parts}
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
}

func (j partJoiner) dir(part int) string { return filepath.Join(j.from, disk.PartName(part+1)) }

// takeOnce takes what part 1 alone has. It was checked when it was written, and is when it is read.
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
	var shares []io.Reader
	for i, p := range j.parts {
		if err := p.CheckFile(j.dir(i), disk.IndexFile); err != nil {
			return err
		}
		file, err := os.Open(filepath.Join(j.dir(i), disk.IndexFile))
		if errors.Is(err, os.ErrNotExist) {
			continue // nothing in it
		}
		if err != nil {
			return err
		}
		defer file.Close()
		shares = append(shares, file)
	}
	x := j.indexer()
	if err := x.Join(ctx, shares); err != nil {
		return err
	}
	j.sections, j.digests = x.Sections, x.Digested
	return nil
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
	out, err := os.Create(filepath.Join(j.Dir, name))
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	starts := []uint32{0}
	values := int64(0)
	for i, p := range j.parts {
		k := slices.IndexFunc(p.Files, func(e disk.FileEntry) bool { return e.Name == name })
		if k < 0 {
			return fmt.Errorf("%s: no file %s: %w", j.dir(i), name, disk.ErrDamaged)
		}
		if p.Files[k].Size == 0 {
			continue
		}
		if values%pack.Frame != 0 {
			return fmt.Errorf("%s: %s does not begin with a frame: %w", j.dir(i), name, disk.ErrDamaged)
		}
		if err := p.CheckFile(j.dir(i), name); err != nil {
			return err
		}
		if starts, err = appendFrames(w, starts, filepath.Join(j.dir(i), name), p.Files[k].Values); err != nil {
			return err
		}
		values += p.Files[k].Values
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if values > 0 {
		if len(starts)%2 == 1 {
			starts = append(starts, 0)
		}
		if _, err := w.Write(spool.BytesOf(starts)); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Flush(), out.Close()); err != nil {
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

// appendFrames appends the frames of a packed file with so many values to others, whose begins it continues.
func appendFrames(w io.Writer, starts []uint32, file string, values int64) ([]uint32, error) {
	m, err := spool.MapWhole(file)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	damaged := fmt.Errorf("%s: %w", file, disk.ErrDamaged)
	frames := (values + pack.Frame - 1) / pack.Frame
	at := int64(len(m.Bytes)) - (frames+2)/2*8
	if values <= 0 || at < 0 {
		return nil, damaged
	}
	dir := spool.ViewOf[uint32](m.Bytes[at:])[:frames+1]
	base := uint64(starts[len(starts)-1])
	if uint64(dir[frames])*8 != uint64(at) || base+uint64(dir[frames]) > math.MaxUint32 {
		return nil, damaged
	}
	for _, n := range dir[1:] {
		starts = append(starts, uint32(base)+n)
	}
	_, err = w.Write(m.Bytes[:at])
	return starts, err
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
		_ = os.RemoveAll(j.dir(i)) // what stays is in nobody's way
	}
	return nil
}
