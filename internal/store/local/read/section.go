package read

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An openSection is the blocks of one summary, parallel to table node.
type openSection struct {
	size    uint64 // of each block; 0: see offsets
	bytes   []byte
	offsets []uint64
	tops    []byte // blocks of whole lanes; nil if there are none
	topAt   []uint64
	maps    []*spool.Mapping
	checks  [4]*disk.Check // of bytes, offsets, tops and their offsets
	temp    string         // a directory that goes away with it
}

// block returns the block of a node.
func (s *openSection) block(node uint64) trace.Block {
	if s.size > 0 {
		s.checks[0].Touch(int64(node*s.size), int64((node+1)*s.size))
		return trace.Block(s.bytes[node*s.size : (node+1)*s.size : (node+1)*s.size])
	}
	s.checks[1].Touch(int64(node)*8, int64(node+2)*8)
	a, b := s.offsets[node], s.offsets[node+1]
	s.checks[0].Touch(int64(a), int64(b))
	return trace.Block(s.bytes[a:b:b])
}

// top returns the block of a whole lane, which has a summary tree.
func (s *openSection) top(lane int) trace.Block {
	s.checks[3].Touch(int64(lane)*8, int64(lane+2)*8)
	a, b := s.topAt[lane], s.topAt[lane+1]
	s.checks[2].Touch(int64(a), int64(b))
	return trace.Block(s.tops[a:b:b])
}

// bringTops fetches the blocks of lanes [lo, hi) together, where they are not on this machine.
func (s *openSection) bringTops(lo, hi uint64) {
	if s.tops == nil || lo >= hi || !s.checks[2].IsRemote() {
		return
	}
	s.checks[3].Touch(int64(lo)*8, int64(hi+1)*8)
	s.checks[2].Touch(int64(s.topAt[lo]), int64(s.topAt[hi]))
}

// bring fetches the blocks of nodes [lo, hi) together, where they are not on this machine.
func (s *openSection) bring(lo, hi uint64) {
	if !s.checks[0].IsRemote() || lo >= hi {
		return
	}
	a, b := lo*s.size, hi*s.size
	if s.size == 0 {
		s.checks[1].Touch(int64(lo)*8, int64(hi+1)*8)
		a, b = s.offsets[lo], s.offsets[hi]
	}
	s.checks[0].Touch(int64(a), int64(b))
}

func (s *openSection) close() error {
	var err error
	for _, m := range s.maps {
		err = errors.Join(err, m.Close())
	}
	if s.temp != "" {
		err = errors.Join(err, os.RemoveAll(s.temp))
	}
	return err
}

// A sections holds the data of a store besides its tables: blocks of summaries, and records of digests. Sections that
// are missing or of another version are built from the rows.
type sections struct {
	*rows.Table
	path      string
	manifest  *disk.Manifest
	summaries map[string]*openSection
	digests   map[string]*openSection
}

func (r *sections) close() (err error) {
	for _, of := range []map[string]*openSection{r.summaries, r.digests} {
		for _, s := range of {
			err = errors.Join(err, s.close())
		}
	}
	r.summaries, r.digests = nil, nil
	return err
}

// openSections opens the blocks of each summary; those that are missing or of
// another version are rebuilt.
func (r *sections) openSections(summaries []trace.Summary) error {
	r.summaries = map[string]*openSection{}
	var missing []trace.Summary
	for _, s := range summaries {
		i := slices.IndexFunc(r.manifest.Sections,
			func(x disk.Section) bool { return x.Name == s.Name() && x.Version == s.Version() })
		if i < 0 {
			missing = append(missing, s)
			continue
		}
		if err := r.openSection(r.path, r.manifest.Sections[i], r.manifest, ""); err != nil {
			return fmt.Errorf("summary %q: %w", s.Name(), err)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := r.rebuild(missing); err != nil {
		return fmt.Errorf("rebuild summaries: %w", err)
	}
	return nil
}

// openSection maps the files of a section.
func (r *sections) openSection(dir string, x disk.Section, m *disk.Manifest, temp string) error {
	s := &openSection{size: uint64(x.Block), temp: temp}
	r.summaries[x.Name] = s
	var bytes [4][]byte
	for i, name := range []string{x.Blocks, x.Offsets, x.Tops, x.TopOffsets} {
		if name == "" {
			continue
		}
		e, ok := m.File(name)
		if !ok {
			return fmt.Errorf("%s is not in the manifest: %w", name, disk.ErrDamaged)
		}
		check, values, err := r.mapFile(s, dir, e)
		if err != nil {
			return err
		}
		s.checks[i], bytes[i] = check, values
	}
	s.bytes, s.offsets, s.tops, s.topAt = bytes[0], spool.ViewOf[uint64](bytes[1]), bytes[2],
		spool.ViewOf[uint64](bytes[3])
	nodes := uint64(len(r.C.NodeIndex))
	if s.size > 0 && uint64(len(s.bytes)) != nodes*s.size || s.size == 0 && uint64(len(s.offsets)) != nodes+1 {
		return fmt.Errorf("%s does not fit the %d nodes of the forest: %w", x.Blocks, nodes, disk.ErrDamaged)
	}
	if lanes := len(r.C.LaneForest) - 1; s.tops != nil && len(s.topAt) != lanes+1 {
		return fmt.Errorf("%s does not fit the %d lanes: %w", x.Tops, lanes, disk.ErrDamaged)
	}
	return nil
}

const rebuildMark = "rebuild-"

// rebuildMemory is the budget for buffers while a section is built anew.
const rebuildMemory = 256 << 20

// rebuild builds summaries from the intervals. They become part of the store
// where its directory can be written; else they live as long as the Reader.
func (r *sections) rebuild(summaries []trace.Summary) error {
	if r.Fetched == nil {
		partial.RemoveStaleIn(r.path, func(name string) bool { return strings.HasPrefix(name, rebuildMark) }, "")
	}
	dir, err := r.rebuildDir()
	saved := err == nil
	if !saved {
		if dir, err = os.MkdirTemp("", "parallax-"); err != nil {
			return err
		}
	} else if lock, err := partial.LockDir(dir); err == nil {
		defer lock.Close()
	}
	x := &index.Indexer{R: r.Table, Dir: dir, Temp: dir, Workers: r.Workers, Memory: rebuildMemory,
		Summaries: summaries}
	m, err := x.Describe(context.Background())
	if err != nil {
		os.RemoveAll(dir)
		return err
	}
	if saved {
		if err := r.adopt(dir, m); err != nil {
			return err
		}
	}
	for _, s := range m.Sections {
		from, temp := r.path, ""
		if !saved {
			from, temp = dir, dir
		}
		if err := r.openSection(from, s, m, temp); err != nil {
			return err
		}
	}
	return nil
}

// rebuildDir returns a directory in that of the store.
func (r *sections) rebuildDir() (string, error) {
	if r.Fetched != nil {
		return "", errRemote
	}
	return os.MkdirTemp(r.path, rebuildMark)
}

// mapFile maps a file of a section, or gives it the memory that it is fetched to, with its check. Files that were built
// just now are in a directory of their own, and their offsets are not packed.
func (r *sections) mapFile(s *openSection, dir string, e disk.FileEntry) (check *disk.Check, values []byte, err error) {
	if e.Size == 0 {
		check, err = disk.NewCheck(e, nil)
		return check, nil, err
	}
	fetched := r.Fetched != nil && dir == r.path
	var m *spool.Mapping
	if fetched {
		m, err = r.Fetched.Reserve(e)
	} else if m, err = spool.MapFile(filepath.Join(dir, e.Name), e.Size); err != nil {
		err = fmt.Errorf("%w: %w", err, disk.ErrDamaged)
	}
	if err != nil {
		return nil, nil, err
	}
	s.maps = append(s.maps, m)
	if values = m.Bytes; e.Values == 0 {
		check, err = disk.NewCheck(e, m.Bytes)
	} else if check, err = disk.NewPacked(e, m.Bytes, disk.SectionOffsets, &r.Held); err == nil {
		values = check.Packed().Values().Bytes
		s.maps = append(s.maps, check.Packed().Values())
		r.Checks.AddOffsets(check)
	}
	if err == nil && fetched {
		r.Fetched.Adopt(check, false)
	}
	return check, values, err
}

// adopt moves new sections into the store, with a new manifest, and removes the
// files of those they replace.
func (r *sections) adopt(dir string, made *disk.Manifest) error {
	defer os.RemoveAll(dir)
	m := *r.manifest
	m.Files = slices.Clone(m.Files)
	var old []string
	replace := func(list []disk.Section, s disk.Section) []disk.Section {
		return append(slices.DeleteFunc(slices.Clone(list), func(x disk.Section) bool {
			if x.Name == s.Name {
				old = append(old, x.Files()...)
			}
			return x.Name == s.Name
		}), s)
	}
	for _, s := range made.Sections {
		m.Sections = replace(m.Sections, s)
	}
	for _, s := range made.Digests {
		m.Digests = replace(m.Digests, s)
	}
	m.Files = slices.DeleteFunc(m.Files, func(e disk.FileEntry) bool { return slices.Contains(old, e.Name) })
	for _, e := range made.Files {
		if e.Size > 0 {
			if err := os.Rename(filepath.Join(dir, e.Name), filepath.Join(r.path, e.Name)); err != nil {
				return err
			}
		}
		m.Files = append(m.Files, e)
	}
	if err := m.Write(r.path); err != nil {
		return err
	}
	r.manifest = &m
	for _, name := range old {
		_ = os.Remove(filepath.Join(r.path, name))
	}
	return nil
}
