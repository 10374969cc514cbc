package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A manifest says what a store holds. It is the last file written.
type manifest struct {
	Format     string              `json:"format"` // always formatName
	Version    int                 `json:"version"`
	Info       manifestInfo        `json:"info"`
	Metrics    []trace.Metric      `json:"metrics"`
	Topologies []manifestTopology  `json:"topologies"`
	Report     []trace.ReportEntry `json:"report"`
	Sections   []section           `json:"sections"` // summaries
	Digests    []section           `json:"digests,omitempty"`
	Files      []fileEntry         `json:"files"`
}

const formatName = "parallax store"

type manifestInfo struct {
	Sources    []string          `json:"sources"`
	Source     string            `json:"sourceFormat"`
	End        trace.Time        `json:"end"`
	Origin     trace.Time        `json:"origin"`
	Core       *[2]trace.Time    `json:"core,omitempty"`
	Depth      int               `json:"depth"`
	Properties map[string]string `json:"properties"`
}

type manifestTopology struct {
	Name     string   `json:"name"`
	Dims     []int    `json:"dims"`
	DimNames []string `json:"dimNames"`
	Periodic []bool   `json:"periodic"`
}

// A section is the blocks of one summary, parallel to table node.
type section struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	// Block is the size of every block; 0: they differ, Offsets says where each lies.
	Block   int64  `json:"block"`
	Blocks  string `json:"blocks"`            // file
	Offsets string `json:"offsets,omitempty"` // file, one more than nodes
}

// A fileEntry holds the size and checksum of a file.
type fileEntry struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	CRC32C string `json:"crc32c"`
}

// The manifest's own checksum is over the bytes of its inner value.
type manifestFile struct {
	CRC32C   string          `json:"crc32c"`
	Manifest json.RawMessage `json:"manifest"`
}

// write puts the manifest into dir, in place of an older one.
func (m *manifest) write(dir string) error {
	inner, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	b := fmt.Appendf(nil, "{\"crc32c\": %q,\n\"manifest\": %s}\n", checksum(inner), inner)
	f, err := os.CreateTemp(dir, manifestName+".part-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	if err := os.Rename(f.Name(), manifestPath(dir)); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return syncDir(dir)
}

// ErrDamaged is the cause where a store is not as it was written.
var ErrDamaged = errors.New("the store is damaged; import its source again")

func readManifest(dir string) (*manifest, error) {
	b, err := os.ReadFile(manifestPath(dir))
	if err != nil {
		return nil, err
	}
	var outer manifestFile
	if err := json.Unmarshal(b, &outer); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", manifestName, ErrDamaged, err)
	}
	if got := checksum(outer.Manifest); got != outer.CRC32C {
		return nil, fmt.Errorf("%s: checksum is %s, want %s: %w", manifestName, got, outer.CRC32C, ErrDamaged)
	}
	if err := checkVersion(outer.Manifest); err != nil {
		return nil, err
	}
	m := new(manifest)
	if err := json.Unmarshal(outer.Manifest, m); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", manifestName, ErrDamaged, err)
	}
	return m, m.checkTables()
}

// manifest describes what was written.
func (f *finisher) manifest() (*manifest, error) {
	m := &manifest{
		Format: formatName, Version: version,
		Info: manifestInfo{
			Sources: f.opt.Sources, Source: f.opt.Format, End: f.end, Origin: f.origin, Core: f.core, Depth: f.depth, Properties: f.def.properties,
		},
		Metrics: f.def.metrics, Report: f.finishReport(), Sections: f.sections, Digests: f.digests,
	}
	for _, t := range f.def.topologies {
		m.Topologies = append(m.Topologies, manifestTopology{t.Name, t.Dims, t.DimNames, t.Periodic})
	}
	var names []string
	for _, t := range schema {
		for i := range t.columns {
			names = append(names, t.columns[i].file())
		}
	}
	for _, s := range slices.Concat(f.sections, f.digests) {
		names = append(names, s.files()...)
	}
	var err error
	m.Files, err = f.described.all(f.dir, names, f.workers)
	return m, err
}

// files of a section.
func (s *section) files() []string {
	if s.Offsets == "" {
		return []string{s.Blocks}
	}
	return []string{s.Blocks, s.Offsets}
}

// file finds an entry by name.
func (m *manifest) file(name string) (fileEntry, bool) {
	i := slices.IndexFunc(m.Files, func(e fileEntry) bool { return e.Name == name })
	if i < 0 {
		return fileEntry{}, false
	}
	return m.Files[i], true
}

// describe reads the size and checksum of files on several cores, and makes sure
// that they are on the disk. Empty files are removed: their entry is enough.
func describe(dir string, names []string, workers int) ([]fileEntry, error) {
	out := make([]fileEntry, len(names))
	var g errgroup.Group
	g.SetLimit(max(workers, 16)) // most of it is waiting for the disk
	for i, name := range names {
		g.Go(func() (err error) {
			out[i], err = describeFile(dir, name)
			if err != nil {
				return fmt.Errorf("check %s: %w", name, err)
			}
			return nil
		})
	}
	return out, g.Wait()
}

func describeFile(dir, name string) (fileEntry, error) {
	path := filepath.Join(dir, name)
	e := fileEntry{Name: name, CRC32C: checksum(nil)}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return e, err
	}
	if e.Size = info.Size(); e.Size == 0 {
		return e, os.Remove(path)
	}
	sum, err := fileChecksum(f, e.Size)
	if err != nil {
		return e, err
	}
	e.CRC32C = word8(sum)
	return e, f.Sync()
}

// fileChecksum looks at a file where the system has it: reading would copy it first.
func fileChecksum(f *os.File, size int64) (sum uint32, err error) {
	m, err := mapOpen(f, size, false)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	err = guard(func() error {
		const step = 4 << 20
		for at := int64(0); at < size; at += step {
			end := min(at+step, size)
			m.ahead(at, end)
			sum = crc32.Update(sum, castagnoli, m.bytes[at:end])
			m.release(at, end)
		}
		return nil
	})
	return sum, err
}
