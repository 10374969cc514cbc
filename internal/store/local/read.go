package local

import (
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Reader answers for one store. Its columns are mapped files: nothing is read
// before it is asked for.
type Reader struct {
	life   sync.RWMutex // read by queries, written by Close
	closed bool

	path     string
	manifest *manifest
	c        columns
	maps     []*mapping
	rowMaps  []*mapping // of table interval, while a store is finished
	rowNames []string   // of their files
	paced    atomic.Int64
	workers  int

	generation    uint64
	info          store.Info
	tree          *store.Tree
	lanes         []uint32
	holders       []uint32 // locations with intervals before each, n+1
	counting      []uint32 // those of them that are not aside
	aside         []trace.LocationID
	regions       []trace.Region
	roles         []trace.Role
	counters      []trace.Counter
	attributes    []string
	callPaths     []trace.CallPath
	communicators []trace.Communicator
	topologies    []trace.Topology
	sections      map[string]*openSection
	digests       map[string]*openSection
	sums          sync.Pool // of *timeSum
}

// Open opens the store at path. Summaries and digests that the store does not hold,
// or holds in another version, are built from its intervals, and saved with it
// where the directory can be written.
func Open(path string, summaries []trace.Summary, digests ...trace.Digest) (*Reader, error) {
	r, err := open(path)
	if err == nil {
		if err = r.openSections(summaries); err == nil {
			err = r.openDigests(digests)
		}
		if err != nil {
			r.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return r, nil
}

func open(path string) (*Reader, error) {
	if !littleEndian() {
		return nil, errors.New("this machine is big endian; stores are little endian")
	}
	m, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{path: path, manifest: m, workers: parallel.Workers()}
	err = checkLengths(func(name string) (int64, bool) {
		e, ok := m.file(name)
		return e.Size, ok
	})
	if err == nil {
		err = r.mapAll()
	}
	if err == nil {
		err = r.load()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// mapAll maps every file of the schema and verifies the checksums of small tables.
func (r *Reader) mapAll() error {
	targets := r.c.targets()
	for _, t := range schema {
		for i := range t.columns {
			name := t.columns[i].file()
			e, _ := r.manifest.file(name)
			if e.Size == 0 { // has no file
				continue
			}
			m, err := mapFile(filepath.Join(r.path, name), e.Size)
			if err != nil {
				return fmt.Errorf("%w: %w", err, ErrDamaged)
			}
			r.maps = append(r.maps, m)
			if t.core {
				if err := checkBytes(e, m.bytes); err != nil {
					return err
				}
			}
			targets[name](m.bytes)
		}
	}
	return nil
}

func checkBytes(e fileEntry, b []byte) error {
	if got := checksum(b); got != e.CRC32C {
		return fmt.Errorf("%s: checksum is %s, want %s: %w", e.Name, got, e.CRC32C, ErrDamaged)
	}
	return nil
}

// Verify reads every file and checks its checksum.
func (r *Reader) Verify() error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	var g errgroup.Group
	g.SetLimit(r.workers)
	for _, e := range r.manifest.Files {
		if e.Size == 0 {
			continue
		}
		g.Go(func() error {
			m, err := mapFile(filepath.Join(r.path, e.Name), e.Size)
			if err != nil {
				return fmt.Errorf("verify store %s: %w: %w", r.path, err, ErrDamaged)
			}
			defer m.close()
			if err := guard(func() error { return checkBytes(e, m.bytes) }); err != nil {
				return fmt.Errorf("verify store %s: %w", r.path, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// Close unmaps the files once no query is under way. Queries fail afterwards; what
// definitions hold (Info, Locations, Regions …) stays valid.
func (r *Reader) Close() error {
	r.life.Lock()
	defer r.life.Unlock()
	r.closed = true
	var err error
	for _, m := range r.maps {
		err = errors.Join(err, m.close())
	}
	r.maps, r.c = nil, columns{}
	for _, of := range []map[string]*openSection{r.sections, r.digests} {
		for _, s := range of {
			err = errors.Join(err, s.close())
		}
	}
	r.sections, r.digests = nil, nil
	return err
}

// Generation implements store.Reader: it is made of the files' checksums, so
// equal stores have equal ones.
func (r *Reader) Generation() uint64                  { return r.generation }
func (r *Reader) Info() *store.Info                   { return &r.info }
func (r *Reader) Locations() *store.Tree              { return r.tree }
func (r *Reader) Regions() []trace.Region             { return r.regions }
func (r *Reader) Counters() []trace.Counter           { return r.counters }
func (r *Reader) Attributes() []string                { return r.attributes }
func (r *Reader) Metrics() []trace.Metric             { return r.manifest.Metrics }
func (r *Reader) CallPaths() []trace.CallPath         { return r.callPaths }
func (r *Reader) Communicators() []trace.Communicator { return r.communicators }
func (r *Reader) Topologies() []trace.Topology        { return r.topologies }
func (r *Reader) Lanes() []uint32                     { return r.lanes }

// generationOf condenses the checksums of the tables; sections of summaries do
// not count, they follow from the rest.
func (m *manifest) generation() uint64 {
	lo, hi := crc32.New(castagnoli), crc32.NewIEEE()
	for _, t := range schema {
		for i := range t.columns {
			e, _ := m.file(t.columns[i].file())
			fmt.Fprintf(lo, "%s %s\n", e.Name, e.CRC32C)
			fmt.Fprintf(hi, "%d %s\n", e.Size, e.CRC32C)
		}
	}
	return uint64(hi.Sum32())<<32 | uint64(lo.Sum32())
}

// size of everything on disk.
func (m *manifest) size() int64 {
	n := int64(0)
	for _, e := range m.Files {
		n += e.Size
	}
	return n
}

func distinctRanks(ranks []int32) int {
	seen := slices.Clone(ranks)
	slices.Sort(seen)
	seen = slices.Compact(seen)
	if len(seen) > 0 && seen[0] == trace.NoRank {
		seen = seen[1:]
	}
	return len(seen)
}
