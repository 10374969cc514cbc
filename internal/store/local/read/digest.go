package read

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var _ store.Digester = (*Reader)(nil)

// openDigests opens the records of each digest; those that are missing or of
// another version are rebuilt.
func (r *sections) openDigests(digests []trace.Digest) error {
	r.digests = map[string]*openSection{}
	for _, d := range digests {
		i := slices.IndexFunc(r.manifest.Digests,
			func(x disk.Section) bool { return x.Name == d.Name() && x.Version == d.Version() })
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

func (r *sections) openDigest(dir string, x disk.Section, m *disk.Manifest, temp string) error {
	s := &openSection{temp: temp}
	r.digests[x.Name] = s
	var bytes [2][]byte
	for i, name := range x.Files() {
		e, ok := m.File(name)
		if !ok {
			return fmt.Errorf("%s is not in the manifest: %w", name, disk.ErrDamaged)
		}
		var err error
		if s.checks[i], bytes[i], err = r.mapFile(s, dir, e); err != nil {
			return err
		}
	}
	s.bytes, s.offsets = bytes[0], spool.ViewOf[uint64](bytes[1])
	lanes := len(r.C.LaneRow) - 1
	if err := disk.Guard(func() error {
		s.checks[1].Touch(int64(max(lanes, 0))*8,
			int64(max(lanes, 0)+1)*8)
		return nil
	}); err != nil {
		return err
	}
	if len(s.offsets) != max(lanes, 0)+1 || s.offsets[max(lanes, 0)] != uint64(len(s.bytes)) {
		return fmt.Errorf("%s does not fit the %d lanes: %w", x.Offsets, lanes, disk.ErrDamaged)
	}
	return nil
}

// rebuildDigest makes a digest from the rows. It becomes part of the store where
// its directory can be written; else it lives as long as the Reader.
func (r *sections) rebuildDigest(d trace.Digest) error {
	dir, err := r.rebuildDir()
	saved := err == nil
	if !saved {
		if dir, err = os.MkdirTemp("", "parallax-"); err != nil {
			return err
		}
	}
	x := &index.Indexer{R: r.Table, Dir: dir, Temp: dir, Workers: r.Workers, Memory: rebuildMemory,
		Digests: []trace.Digest{d}}
	made, err := x.Describe(context.Background())
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
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	give := disk.Shield(f)
	in := r.Window(w)
	records := r.digests[name]
	pass := r.Passing(in, rows.Pass{Short: rows.Short, Timeless: true}) // calls are counted by how long
	return r.EachLane(ctx, w.Locations, pass, func(id trace.LocationID, lane int, v *rows.Lane) error {
		if in.Begin >= in.Until || v.Last < in.Begin || !v.BeginsBefore(in.Until) {
			return nil
		}
		l := trace.DigestedLane{Location: id, Lane: lane, Lanes: int(r.C.LocationLane[id+1] - r.C.LocationLane[id]),
			Lo: v.FirstFrom(in.Begin), Hi: v.FirstFrom(in.Until), Callers: v.Callers}
		for _, x := range v.Open(nil, l.Lo, in.Begin) {
			if x.Begin < in.Begin && x.End > in.Begin {
				l.Open = append(l.Open, x)
			}
		}
		if in.End < r.End {
			for _, x := range v.Open(nil, l.Hi, in.End) {
				if x.End > in.End {
					l.Left = append(l.Left, x)
				}
			}
		}
		if records != nil {
			l.Record = records.record(int(r.C.LocationLane[id]) + lane)
		}
		l.OpenTime = func() ([]trace.Time, error) {
			return r.openTime(int(r.C.LocationLane[id])+lane, &l, in), nil
		}
		own := *v
		own.Timeless = true // calls are counted by how long they are
		l.Read = func(lo, hi int, f func(*trace.Columns) error) error {
			return own.Batches(ctx, id, lane, lo, hi, disk.Shield(f))
		}
		return give(&l)
	})
}

// record of a lane by its number; nil where none is kept.
func (s *openSection) record(lane int) []byte {
	s.checks[1].Touch(int64(lane)*8, int64(lane+2)*8)
	a, b := s.offsets[lane], s.offsets[lane+1]
	if a == b {
		return nil
	}
	s.checks[0].Touch(int64(a), int64(b))
	return s.bytes[a:b:b]
}
