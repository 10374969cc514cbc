package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// MostTime bounds the end of a trace: sums of two times have 64 bits.
const MostTime trace.Time = 1 << 62

// A Manifest describes a store. It is the last file written.
type Manifest struct {
	Format  string         `json:"format"` // always formatName
	Version int            `json:"version"`
	Info    ManifestInfo   `json:"info"`
	Metrics []trace.Metric `json:"metrics"`
	// SourceFiles are those of table line.
	SourceFiles []string            `json:"sourceFiles,omitempty"`
	Topologies  []ManifestTopology  `json:"topologies"`
	Report      []trace.ReportEntry `json:"report"`
	Sections    []Section           `json:"sections"` // summaries
	Digests     []Section           `json:"digests,omitempty"`
	Files       []FileEntry         `json:"files"`
}

const FormatName = "parallax store"

type ManifestInfo struct {
	Sources    []string          `json:"sources"`
	Source     string            `json:"sourceFormat"`
	End        trace.Time        `json:"end"`
	Origin     trace.Time        `json:"origin"`
	Core       *[2]trace.Time    `json:"core,omitempty"`
	Depth      int               `json:"depth"`
	Inferred   int64             `json:"inferred,omitempty"` // intervals
	Properties map[string]string `json:"properties"`
}

type ManifestTopology struct {
	Name     string   `json:"name"`
	Dims     []int    `json:"dims"`
	DimNames []string `json:"dimNames"`
	Periodic []bool   `json:"periodic"`
}

// A Section is the blocks of one summary, parallel to table node.
type Section struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	// Block is the size of every block; 0: they differ, Offsets says where each lies.
	Block   int64  `json:"block"`
	Blocks  string `json:"blocks"`            // file
	Offsets string `json:"offsets,omitempty"` // file, one more than nodes
	// Tops holds the blocks of whole lanes once more, side by side: queries of whole runs read these alone. Empty
	// if few lanes have a summary tree.
	Tops       string `json:"tops,omitempty"`       // file
	TopOffsets string `json:"topOffsets,omitempty"` // file, one more than lanes
}

// A FileEntry holds the size and checksum of a file.
type FileEntry struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	CRC32C string `json:"crc32c"`
	// Blocks are the checksums of its blocks, see check.go; empty if there is one alone.
	Blocks string `json:"blocks,omitempty"`
	// Values is how many a packed column has; 0: it is not packed.
	Values int64 `json:"values,omitempty"`
}

// The manifest's own checksum is over the bytes of its inner value.
type manifestFile struct {
	CRC32C   string          `json:"crc32c"`
	Manifest json.RawMessage `json:"manifest"`
}

// Write puts the manifest into dir, in place of an older one.
func (m *Manifest) Write(dir string) error {
	inner, err := json.Marshal(m) // without spaces: it is a third of a small store
	if err != nil {
		return err
	}
	b := fmt.Appendf(nil, "{\"crc32c\": %q,\n\"manifest\": %s}\n", Checksum(inner), inner)
	f, err := os.CreateTemp(dir, ManifestName+".part-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	if err := os.Rename(f.Name(), ManifestPath(dir)); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return partial.SyncDir(dir)
}

// ErrDamaged is the cause where a store is not as it was written.
var ErrDamaged = errors.New("the store is damaged; import its source again")

func ReadManifest(dir string) (*Manifest, error) {
	info, err := os.Stat(ManifestPath(dir))
	if err == nil {
		err = memory.Fits(2 * info.Size())
	}
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(ManifestPath(dir))
	if err != nil {
		return nil, err
	}
	return ParseManifest(b)
}

// ParseManifest reads the bytes of a manifest.
func ParseManifest(b []byte) (*Manifest, error) {
	if err := memory.Fits(decodedSize(b)); err != nil {
		return nil, err
	}
	var outer manifestFile
	if err := json.Unmarshal(b, &outer); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", ManifestName, ErrDamaged, err)
	}
	if got := Checksum(outer.Manifest); got != outer.CRC32C {
		return nil, fmt.Errorf("%s: checksum is %s, want %s: %w", ManifestName, got, outer.CRC32C, ErrDamaged)
	}
	if err := checkVersion(outer.Manifest); err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(outer.Manifest, m); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", ManifestName, ErrDamaged, err)
	}
	return m, m.checkTables()
}

// decodedSize bounds the memory of a manifest's values: objects and lists, strings within them, and their bytes twice.
func decodedSize(b []byte) int64 {
	lists := bytes.Count(b, []byte("{")) + bytes.Count(b, []byte("["))
	return 2*int64(len(b)) + 96*int64(lists) + 32*int64(bytes.Count(b, []byte(",")))
}

// DefinitionBytes estimates the memory of definitions: small tables, unpacked, and as Go values.
func (m *Manifest) DefinitionBytes() (n int64) {
	for _, t := range Schema {
		if !t.Core {
			continue
		}
		for i := range t.Columns {
			e, _ := m.File(t.Columns[i].File())
			n += 2 * max(e.Size, e.Values*typeWidth[t.Columns[i].typ])
		}
	}
	return n
}

// Files of a section.
func (s *Section) Files() []string {
	files := []string{s.Blocks}
	for _, name := range []string{s.Offsets, s.Tops, s.TopOffsets} {
		if name != "" {
			files = append(files, name)
		}
	}
	return files
}

// File finds an entry by name.
func (m *Manifest) File(name string) (FileEntry, bool) {
	i := slices.IndexFunc(m.Files, func(e FileEntry) bool { return e.Name == name })
	if i < 0 {
		return FileEntry{}, false
	}
	return m.Files[i], true
}

// Describe reads the size and checksum of files on several cores, and makes sure
// that they are on the disk. Empty files are removed: their entry is enough.
func Describe(dir string, names []string, workers int) ([]FileEntry, error) {
	return describe(dir, names, workers, DescribeFile)
}

// DescribePassing does so for files that are soon used and removed: nobody waits for the disk.
func DescribePassing(dir string, names []string, workers int) ([]FileEntry, error) {
	return describe(dir, names, workers, DescribePassingFile)
}

func describe(dir string, names []string, workers int, one func(dir, name string) (FileEntry, error)) ([]FileEntry,
	error) {
	out := make([]FileEntry, len(names))
	var g errgroup.Group
	g.SetLimit(max(workers, 16)) // most of it is waiting for the disk
	for i, name := range names {
		g.Go(func() (err error) {
			out[i], err = one(dir, name)
			if err != nil {
				return fmt.Errorf("check %s: %w", name, err)
			}
			return nil
		})
	}
	return out, g.Wait()
}

// DescribeFile does for one.
func DescribeFile(dir, name string) (FileEntry, error) {
	return describeFile(dir, name, (*os.File).Sync)
}

// DescribePassingFile is DescribePassing of one.
func DescribePassingFile(dir, name string) (FileEntry, error) {
	return describeFile(dir, name, func(*os.File) error { return nil })
}

func describeFile(dir, name string, sync func(*os.File) error) (FileEntry, error) {
	path := filepath.Join(dir, name)
	e := FileEntry{Name: name, CRC32C: Checksum(nil)}
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
	sum, blocks, err := fileChecksum(f, e.Size)
	if err != nil {
		return e, err
	}
	e.CRC32C, e.Blocks = Word8(sum), blocks
	return e, sync(f)
}

// fileChecksum looks at a file where the system has it: reading would copy it first, which is less than to map it only
// where it is small.
func fileChecksum(f *os.File, size int64) (sum uint32, blocks string, err error) {
	if size <= smallFile {
		b := make([]byte, size)
		if _, err := f.ReadAt(b, 0); err != nil {
			return 0, "", err
		}
		return crc32.Checksum(b, Castagnoli), encodeSums(appendSums(nil, b, BlockSizeOf(size))), nil
	}
	m, err := spool.MapOpen(f, size, false)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	err = Guard(func() error {
		var sums []byte
		step := max(4<<20, BlockSizeOf(size)) // whole blocks, looked at twice while they are near
		for at := int64(0); at < size; at += step {
			end := min(at+step, size)
			m.Ahead(at, end)
			sum = crc32.Update(sum, Castagnoli, m.Bytes[at:end])
			sums = appendSums(sums, m.Bytes[at:end], BlockSizeOf(size))
			m.Release(at, end)
		}
		blocks = encodeSums(sums)
		return nil
	})
	return sum, blocks, err
}

// smallFile is the number of bytes that are read rather than mapped.
const smallFile = 64 << 10

// Generation condenses the checksums of the tables; sections of summaries do
// not count, they follow from the rest.
func (m *Manifest) Generation() uint64 {
	lo, hi := crc32.New(Castagnoli), crc32.NewIEEE()
	for _, t := range Schema {
		for i := range t.Columns {
			e, _ := m.File(t.Columns[i].File())
			fmt.Fprintf(lo, "%s %s\n", e.Name, e.CRC32C)
			fmt.Fprintf(hi, "%d %s\n", e.Size+e.Values, e.CRC32C)
		}
	}
	return uint64(hi.Sum32())<<32 | uint64(lo.Sum32())
}

// Size of everything on disk.
func (m *Manifest) Size() int64 {
	n := int64(0)
	for _, e := range m.Files {
		n += e.Size
	}
	return n
}

const ManifestName = "manifest.json"

func ManifestPath(dir string) string { return filepath.Join(dir, ManifestName) }
