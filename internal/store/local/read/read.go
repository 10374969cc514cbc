// Package read opens a store and answers for it.
//
// A Reader is made of one type for each kind of question, all over the same mapped
// rows: intervals, times, roles, links, records, profiles, sections.
package read

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Reader answers for one store. Its columns are mapped files: nothing is read before it is asked for. Its queries
// are methods of the types that it embeds.
type Reader struct {
	*rows.Table
	*definitionsOf
	*sections
	intervals
	times
	roleTimes
	links
	records
	profiles
	whole  atomic.Pointer[store.TotalTable] // the time of all lanes by region, once it was asked for
	making sync.Mutex                       // held while the time of each location by region is made
}

// Each kind of query is a type over the rows.
type (
	intervals struct{ *rows.Table }
	links     struct{ *rows.Table }
	records   struct { // instants, samples, attributes
		*rows.Table
		def *definitionsOf
	}
	profiles struct {
		*rows.Table
		def *definitionsOf
	}
	roleTimes struct{ *rows.Table }
	times     struct {
		*rows.Table
		sums *sync.Pool // of *timeSum
	}
)

func newReader(path string, m *disk.Manifest) *Reader {
	rows := &rows.Table{Workers: parallel.Workers(), End: m.Info.End}
	s := &sections{Table: rows, path: path, manifest: m}
	d := &definitionsOf{Table: rows, sections: s}
	return &Reader{
		Table: rows, definitionsOf: d, sections: s,
		intervals: intervals{rows}, links: links{rows}, records: records{rows, d}, profiles: profiles{rows, d},
		roleTimes: roleTimes{rows},
		times:     times{rows, new(sync.Pool)},
	}
}

// Open opens the store at path. Summaries and digests that the store does not hold,
// or holds in another version, are built from its intervals, and saved with it
// where the directory can be written.
func Open(path string, summaries []trace.Summary, digests ...trace.Digest) (*Reader, error) {
	r, err := open(path)
	if err == nil {
		err = r.openDerived(summaries, digests)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return r, nil
}

func (r *Reader) openDerived(summaries []trace.Summary, digests []trace.Digest) error {
	err := r.openSections(summaries)
	if err == nil {
		err = r.openDigests(digests)
	}
	if err != nil {
		return errors.Join(err, r.Close())
	}
	r.info.SizeBytes = r.manifest.Size() // with sections built just now
	return nil
}

// Place returns the directory of the store; "" of a remote one.
func (r *Reader) Place() string { return r.path }

func open(path string) (*Reader, error) {
	if !spool.LittleEndian() {
		return nil, errors.New("this machine is big endian; stores are little endian")
	}
	m, err := disk.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	r := newReader(path, m)
	if err := r.openTables(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Reader) openTables() error {
	err := disk.CheckLengths(r.manifest.File)
	if err == nil {
		err = memory.Fits(r.manifest.DefinitionBytes())
	}
	if err == nil {
		err = r.mapAll()
	}
	if err == nil {
		err = r.load()
	}
	if err != nil {
		r.Close()
	}
	return err
}

// mapAll maps every file of the schema and verifies the checksums of small tables.
func (r *Reader) mapAll() error {
	targets := r.C.Targets()
	r.Checks = disk.Checks{}
	var core []*disk.Check
	var unpack []func()
	for k := range disk.Schema {
		t := &disk.Schema[k]
		for i := range t.Columns {
			name := t.Columns[i].File()
			e, _ := r.manifest.File(name)
			if e.Size == 0 { // has no file
				continue
			}
			values, check, err := r.mapColumn(k, i, e)
			if err != nil {
				return err
			}
			if t.Core {
				core = append(core, check.File())
			}
			if p := check.Packed(); p != nil && t.Core {
				unpack = append(unpack, func() { targets[name](p.All()) })
				continue
			}
			r.Checks.Add(t, i, check)
			targets[name](values.Bytes)
		}
	}
	if err := r.checkCore(core); err != nil {
		return err
	}
	err := disk.Guard(func() error {
		for _, f := range unpack {
			f()
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.OfSum, r.OfCheckpoint, r.OfLevel, r.OfNode, r.OfGroup = r.Checks.Of("sum"), r.Checks.Of("checkpoint"),
		r.Checks.Of("level"), r.Checks.Of("node"), r.Checks.Of("group.time")
	r.Sure = disk.NewRowCheck(r.Checks.Of("interval"), &r.C, &r.RowHeld)
	return nil
}

// mapColumn maps a file of the schema, or gives it the memory that it is fetched to.
func (r *Reader) mapColumn(k, i int, e disk.FileEntry) (*spool.Mapping, *disk.Check, error) {
	t := &disk.Schema[k]
	c := &t.Columns[i]
	var m *spool.Mapping
	var err error
	if r.Fetched != nil {
		m, err = r.Fetched.Reserve(e)
	} else if m, err = spool.MapFile(filepath.Join(r.path, e.Name), e.Size); err != nil {
		err = fmt.Errorf("%w: %w", err, disk.ErrDamaged)
	}
	if err != nil {
		return nil, nil, err
	}
	r.Maps = append(r.Maps, m)
	var check *disk.Check
	values := m
	if e.Values > 0 {
		held := &r.Held
		if t.Name == "interval" {
			held = &r.RowHeld
		}
		if check, err = disk.NewPacked(e, m.Bytes, c, held); err == nil {
			values = check.Packed().Values()
			r.Maps = append(r.Maps, values)
		}
	} else {
		check, err = disk.NewCheck(e, m.Bytes)
	}
	if err == nil && r.Fetched != nil {
		r.Fetched.Adopt(check, t.Core || t.Name == callers)
	}
	return values, check, err
}

// callers is a table that is used when queries are over.
const callers = "caller"

// checkCore looks at all bytes of small tables.
func (r *Reader) checkCore(core []*disk.Check) error {
	return disk.Guard(func() error {
		if r.Fetched != nil {
			r.Fetched.BringAll(core)
			return nil // fetched blocks are verified already
		}
		for _, c := range core {
			e, _ := r.manifest.File(c.Name())
			if err := checkBytes(e, c.Bytes()); err != nil {
				return err
			}
		}
		return nil
	})
}

func checkBytes(e disk.FileEntry, b []byte) error {
	if got := disk.Checksum(b); got != e.CRC32C {
		return fmt.Errorf("%s: checksum is %s, want %s: %w", e.Name, got, e.CRC32C, disk.ErrDamaged)
	}
	return nil
}

// OpenFrom opens a remote store, by its manifest. Blocks of its files are fetched when they are used; a
// request has as long as timeout says.
func OpenFrom(from disk.Remote, manifest []byte, timeout time.Duration, summaries []trace.Summary,
	digests ...trace.Digest) (*Reader, error) {
	if !spool.LittleEndian() {
		return nil, errors.New("this machine is big endian; stores are little endian")
	}
	m, err := disk.ParseManifest(manifest)
	if err != nil {
		return nil, err
	}
	r := newReader("", m)
	r.Fetched = &disk.Fetcher{From: from, Timeout: timeout}
	r.Workers = max(r.Workers, remoteWorkers)
	if err := r.openTables(); err != nil {
		return nil, err
	}
	if err := r.openDerived(summaries, digests); err != nil {
		return nil, err
	}
	return r, nil
}

// remoteWorkers is the number of lanes that are asked at once of a remote store: most of the time they wait, and
// those that wait are answered together.
const remoteWorkers = 1024

var errRemote = errors.New("the store is remote; nothing is written to it")

// verifyFetched fetches every block.
func (r *Reader) verifyFetched() error {
	for _, e := range r.manifest.Files {
		if e.Size == 0 {
			continue
		}
		m, err := r.Fetched.Reserve(e)
		if err != nil {
			return err
		}
		check, err := disk.NewCheck(e, m.Bytes)
		if err == nil {
			r.Fetched.Adopt(check, true)
			err = disk.Guard(func() error {
				const step = 4 << 20
				for at := int64(0); at < e.Size; at += step {
					check.Touch(at, at+step)
				}
				return nil
			})
		}
		if err = errors.Join(err, m.Close()); err != nil {
			return fmt.Errorf("verify store: %w", err)
		}
	}
	return nil
}

// Verify reads every file and checks its checksum.
func (r *Reader) Verify() error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	if r.Fetched != nil {
		defer r.Fetched.While(context.Background())()
		return r.verifyFetched()
	}
	var g errgroup.Group
	g.SetLimit(r.Workers)
	for _, e := range r.manifest.Files {
		if e.Size == 0 {
			continue
		}
		g.Go(func() error {
			m, err := spool.MapFile(filepath.Join(r.path, e.Name), e.Size)
			if err != nil {
				return fmt.Errorf("verify store %s: %w: %w", r.path, err, disk.ErrDamaged)
			}
			defer m.Close()
			if err := disk.Guard(func() error { return checkBytes(e, m.Bytes) }); err != nil {
				return fmt.Errorf("verify store %s: %w", r.path, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// Close unmaps the files once no query is under way. Queries fail afterwards; definitions (Info, Locations, Regions …)
// stay valid.
func (r *Reader) Close() error { return r.Table.Close(r.sections.close) }

// Generation implements store.Reader: it is made of the files' checksums, so
// equal stores have equal ones.
func (r *definitionsOf) Generation() uint64                  { return r.generation }
func (r *definitionsOf) Info() *store.Info                   { return &r.info }
func (r *definitionsOf) Locations() *store.Tree              { return r.tree }
func (r *Reader) Regions() []trace.Region                    { return r.Table.Regions }
func (r *definitionsOf) Counters() []trace.Counter           { return r.counters }
func (r *definitionsOf) Attributes() []string                { return r.attributes }
func (r *definitionsOf) Metrics() []trace.Metric             { return r.manifest.Metrics }
func (r *definitionsOf) SourceFiles() []string               { return r.manifest.SourceFiles }
func (r *definitionsOf) CallPaths() []trace.CallPath         { return r.callPaths }
func (r *definitionsOf) Communicators() []trace.Communicator { return r.communicators }
func (r *definitionsOf) Topologies() []trace.Topology        { return r.topologies }
func (r *definitionsOf) Lanes() []uint32                     { return r.lanes }

func distinctRanks(ranks []int32) int {
	seen := slices.Clone(ranks)
	slices.Sort(seen)
	seen = slices.Compact(seen)
	if len(seen) > 0 && seen[0] == trace.NoRank {
		seen = seen[1:]
	}
	return len(seen)
}

// RowsBefore returns the number of intervals the locations before one have.
func (r *definitionsOf) RowsBefore(id trace.LocationID) int64 {
	if len(r.C.LaneRow) == 0 {
		return 0
	}
	return int64(r.C.LaneRow[r.lanes[id]])
}
