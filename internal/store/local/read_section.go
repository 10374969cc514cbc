package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An openSection is the blocks of one summary, parallel to table node.
type openSection struct {
	size    uint64 // of each block; 0: see offsets
	bytes   []byte
	offsets []uint64
	maps    []*mapping
	temp    string // a directory that goes away with it
}

// block gives the block of a node.
func (s *openSection) block(node uint64) trace.Block {
	if s.size > 0 {
		return trace.Block(s.bytes[node*s.size : (node+1)*s.size : (node+1)*s.size])
	}
	a, b := s.offsets[node], s.offsets[node+1]
	return trace.Block(s.bytes[a:b:b])
}

func (s *openSection) close() error {
	var err error
	for _, m := range s.maps {
		err = errors.Join(err, m.close())
	}
	if s.temp != "" {
		err = errors.Join(err, os.RemoveAll(s.temp))
	}
	return err
}

// openSections opens the blocks of each summary; those that are missing or of
// another version are rebuilt.
func (r *Reader) openSections(summaries []trace.Summary) error {
	r.sections = map[string]*openSection{}
	var missing []trace.Summary
	for _, s := range summaries {
		i := slices.IndexFunc(r.manifest.Sections, func(x section) bool { return x.Name == s.Name() && x.Version == s.Version() })
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
func (r *Reader) openSection(dir string, x section, m *manifest, temp string) error {
	s := &openSection{size: uint64(x.Block), temp: temp}
	r.sections[x.Name] = s
	for _, name := range x.files() {
		e, ok := m.file(name)
		if !ok {
			return fmt.Errorf("%s is not in the manifest: %w", name, ErrDamaged)
		}
		file, err := mapFile(filepath.Join(dir, name), e.Size)
		if e.Size == 0 {
			file, err = &mapping{}, nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", err, ErrDamaged)
		}
		s.maps = append(s.maps, file)
	}
	s.bytes = s.maps[0].bytes
	if x.Offsets != "" {
		s.offsets = viewOf[uint64](s.maps[1].bytes)
	}
	nodes := uint64(len(r.c.nodeIndex))
	if s.size > 0 && uint64(len(s.bytes)) != nodes*s.size || s.size == 0 && uint64(len(s.offsets)) != nodes+1 {
		return fmt.Errorf("%s does not fit the %d nodes of the forest: %w", x.Blocks, nodes, ErrDamaged)
	}
	return nil
}

const rebuildMark = "rebuild-"

// rebuild builds summaries from the intervals. They become part of the store
// where its directory can be written; else they live as long as the Reader.
func (r *Reader) rebuild(summaries []trace.Summary) error {
	removeStale(r.path, func(name string) bool { return strings.HasPrefix(name, rebuildMark) }, "")
	dir, err := os.MkdirTemp(r.path, rebuildMark)
	saved := err == nil
	if !saved {
		if dir, err = os.MkdirTemp("", "parallax-"); err != nil {
			return err
		}
	} else if lock, err := lockDir(dir); err == nil {
		defer lock.Close()
	}
	x := &indexer{r: r, dir: dir, temp: dir, workers: r.workers, memory: defaultMemory, summaries: summaries}
	m, err := x.describe(context.Background())
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

// describe runs the indexer and says what it made, as a manifest of that alone.
func (x *indexer) describe(ctx context.Context) (*manifest, error) {
	if err := x.run(ctx); err != nil {
		return nil, err
	}
	m := &manifest{Sections: x.sections, Digests: x.digested}
	var names []string
	for _, s := range slices.Concat(x.sections, x.digested) {
		names = append(names, s.files()...)
	}
	var err error
	m.Files, err = describe(x.dir, names, x.workers)
	return m, err
}

// adopt moves new sections into the store, with a new manifest, and removes the
// files of those they replace.
func (r *Reader) adopt(dir string, made *manifest) error {
	defer os.RemoveAll(dir)
	m := *r.manifest
	m.Files = slices.Clone(m.Files)
	var old []string
	replace := func(list []section, s section) []section {
		return append(slices.DeleteFunc(slices.Clone(list), func(x section) bool {
			if x.Name == s.Name {
				old = append(old, x.files()...)
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
	m.Files = slices.DeleteFunc(m.Files, func(e fileEntry) bool { return slices.Contains(old, e.Name) })
	for _, e := range made.Files {
		if e.Size > 0 {
			if err := os.Rename(filepath.Join(dir, e.Name), filepath.Join(r.path, e.Name)); err != nil {
				return err
			}
		}
		m.Files = append(m.Files, e)
	}
	if err := m.write(r.path); err != nil {
		return err
	}
	r.manifest = &m
	r.info.SizeBytes = m.size()
	for _, name := range old {
		_ = os.Remove(filepath.Join(r.path, name))
	}
	return nil
}
