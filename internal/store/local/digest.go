package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Digests: one record for each lane, made by the second pass of Finish while the rows
// are at hand; one of another version is rebuilt alone. Lanes are independent of each
// other; records are written in their order. Memory is a few records and what
// builders hold.
//
//	digest.NAME.VERSION.records   the records, lane after lane
//	digest.NAME.VERSION.offsets   where each begins, one more than lanes

var _ store.Digester = (*Reader)(nil)

func digestFiles(d trace.Digest) (records, offsets string) {
	return fmt.Sprintf("digest.%s.%d.records", d.Name(), d.Version()), fmt.Sprintf("digest.%s.%d.offsets", d.Name(), d.Version())
}

// A digestPart is the records of some lanes.
type digestPart struct {
	records []byte
	sizes   []int
}

// add appends the record of a lane.
func (p *digestPart) add(b trace.DigestBuilder, c trace.Columns) {
	defer passOn()
	from := len(p.records)
	p.records = b.Build(p.records, &c)
	p.sizes = append(p.sizes, len(p.records)-from)
}

// A digestOutput writes the two files of a digest.
type digestOutput struct {
	section
	dir     string
	file    *os.File
	offsets []uint64
}

func (o *digestOutput) create(d trace.Digest, dir string) (err error) {
	o.section, o.dir, o.offsets = section{Name: d.Name(), Version: d.Version()}, dir, []uint64{0}
	o.Blocks, o.Offsets = digestFiles(d)
	o.file, err = os.Create(filepath.Join(dir, o.Blocks))
	return err
}

// consume appends a part and empties it.
func (o *digestOutput) consume(p *digestPart) error {
	at := o.offsets[len(o.offsets)-1]
	_, err := o.file.WriteAt(p.records, int64(at))
	for _, n := range p.sizes {
		at += uint64(n)
		o.offsets = append(o.offsets, at)
	}
	p.records, p.sizes = p.records[:0], p.sizes[:0]
	return err
}

func (o *digestOutput) finish() error {
	return cmp.Or(o.file.Close(), writeColumn(o.dir, o.Offsets, o.offsets))
}

// openDigests opens the records of each digest; those that are missing or of
// another version are rebuilt.
func (r *Reader) openDigests(digests []trace.Digest) error {
	r.digests = map[string]*openSection{}
	for _, d := range digests {
		i := slices.IndexFunc(r.manifest.Digests, func(x section) bool { return x.Name == d.Name() && x.Version == d.Version() })
		err := error(nil)
		if i >= 0 {
			err = r.openDigest(r.path, r.manifest.Digests[i], r.manifest, "")
		} else {
			err = r.rebuildDigest(d)
		}
		if err != nil {
			return fmt.Errorf("digest %q: %w", d.Name(), err)
		}
	}
	return nil
}

func (r *Reader) openDigest(dir string, x section, m *manifest, temp string) error {
	s := &openSection{temp: temp}
	r.digests[x.Name] = s
	for _, name := range x.files() {
		e, ok := m.file(name)
		if !ok {
			return fmt.Errorf("%s is not in the manifest: %w", name, ErrDamaged)
		}
		file := &mapping{}
		if e.Size > 0 {
			var err error
			if file, err = mapFile(filepath.Join(dir, name), e.Size); err != nil {
				return fmt.Errorf("%w: %w", err, ErrDamaged)
			}
		}
		s.maps = append(s.maps, file)
	}
	s.bytes, s.offsets = s.maps[0].bytes, viewOf[uint64](s.maps[1].bytes)
	lanes := len(r.c.laneRow) - 1
	if len(s.offsets) != max(lanes, 0)+1 || s.offsets[max(lanes, 0)] != uint64(len(s.bytes)) {
		return fmt.Errorf("%s does not fit the %d lanes: %w", x.Offsets, lanes, ErrDamaged)
	}
	return nil
}

// rebuildDigest makes a digest from the rows. It becomes part of the store where
// its directory can be written; else it lives as long as the Reader.
func (r *Reader) rebuildDigest(d trace.Digest) error {
	dir, err := os.MkdirTemp(r.path, "rebuild-")
	saved := err == nil
	if !saved {
		if dir, err = os.MkdirTemp("", "parallax-"); err != nil {
			return err
		}
	}
	x := &indexer{r: r, dir: dir, temp: dir, workers: r.workers, memory: defaultMemory, digests: []trace.Digest{d}}
	made, err := x.describe(context.Background())
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	s := made.Digests[0]
	if !saved {
		return r.openDigest(dir, s, made, dir)
	}
	if err := r.adopt(dir, made); err != nil {
		return err
	}
	return r.openDigest(r.path, s, made, "")
}

// Digests implements store.Digester.
func (r *Reader) Digests(ctx context.Context, name string, w store.Window, f func(*trace.DigestedLane) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	give := shield(f)
	in := r.window(w)
	records := r.digests[name]
	return r.eachLane(ctx, w.Locations, func(id trace.LocationID, lane int, v *laneView) error {
		if in.begin >= in.until || v.begin[0] >= in.until || v.last < in.begin {
			return nil
		}
		l := trace.DigestedLane{Location: id, Lane: lane, Lanes: int(r.c.locationLane[id+1] - r.c.locationLane[id]), Lo: v.firstFrom(in.begin), Hi: v.firstFrom(in.until), Callers: v.callers}
		for _, x := range v.open(nil, l.Lo, in.begin) {
			if x.Begin < in.begin && x.End > in.begin {
				l.Open = append(l.Open, x)
			}
		}
		if in.end < r.info.End {
			for _, x := range v.open(nil, l.Hi, in.end) {
				if x.End > in.end {
					l.Left = append(l.Left, x)
				}
			}
		}
		if records != nil {
			l.Record = records.record(int(r.c.locationLane[id]) + lane)
		}
		l.Read = func(lo, hi int, f func(*trace.Columns) error) error {
			return v.batches(ctx, id, lane, lo, hi, shield(f))
		}
		return give(&l)
	})
}

// record of a lane by its number; nil where none is kept.
func (s *openSection) record(lane int) []byte {
	a, b := s.offsets[lane], s.offsets[lane+1]
	if a == b {
		return nil
	}
	return s.bytes[a:b:b]
}

// batches hands out rows [lo, hi).
func (v *laneView) batches(ctx context.Context, id trace.LocationID, lane, lo, hi int, f func(*trace.Columns) error) error {
	var open []trace.OpenInterval
	for lo < hi {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c := v.columns(id, lane, lo, min(lo+batchRows, hi))
		open = v.chain(open[:0], lo)
		c.Open = open
		if err := f(&c); err != nil {
			return err
		}
		lo += c.Len()
	}
	return nil
}
