package otf2

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// importRun reads an archive.
//
//  1. The anchor says how the other files are kept.
//  2. The global definitions are read whole and given to the trace.
//  3. Locations are read several at a time: local definitions, then events.
//  4. Ends of links that are in different files find each other.
func importRun(ctx context.Context, run importer.Run, w trace.Writer) error {
	return (&archive{run: run, w: w, mostChannels: match.MostChannels}).read(ctx)
}

// read does the work of importRun.
func (a *archive) read(ctx context.Context) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	a.define()
	trace.SortRegions(a.w) // regions that events define besides
	share := match.ShareOf(a.w)
	if share != nil {
		a.mostChannels = 0 // sends and receives of a channel are in several parts
	}
	a.matcher = match.New(a.matchMemory(), a.mostChannels, len(a.tree.processes))
	a.matcher.Sharer = share
	defer func() { a.matcher.Close() }()
	if err := a.readLocations(ctx, (*row).convert); err != nil {
		return err
	}
	if lastOf(share) {
		if err := a.readMarkers(ctx); err != nil {
			return err
		}
	}
	if err := a.closeShared(); err != nil {
		return err
	}
	if share != nil {
		a.tell(share)
		a.finish()
		return nil
	}
	if err := a.link(ctx); err != nil {
		return err
	}
	a.finish()
	return nil
}

// open reads anchor and global definitions.
func (a *archive) open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.readAnchor(); err != nil {
		return err
	}
	return a.readGlobal(ctx)
}

// readAnchor finds the anchor. An archive whose anchor is missing or damaged is
// found by how its other files are called.
func (a *archive) readAnchor() error {
	i := slices.IndexFunc(a.run.Files, func(f string) bool { return isAnchor(a.run.Source.Head(f)) })
	if i < 0 {
		root := rootOf(a.run.Files)
		if root == "" {
			return &importer.Error{File: a.run.Source.Name,
				Cause: "holds files of an OTF2 archive, but neither its anchor nor its definitions",
				Hint:  "name the file that ends in .otf2, or the directory it is in", Kind: importer.ErrMalformed}
		}
		a.files = findFiles(a.run.Source, root+".otf2")
		a.anchor = anchor{cut: true}
		a.w.Report(trace.Guessed, "archives without a sound anchor, put together by the names of their files", 1,
			a.run.Label(a.files.global))
		return nil
	}
	a.files = findFiles(a.run.Source, a.run.Files[i])
	label := a.run.Label(a.files.anchor)
	f, err := a.run.Open(a.files.anchor)
	if err != nil {
		return err
	}
	defer f.Close()
	if a.anchor, err = readAnchor(f); err != nil {
		return a.wrong(a.files.anchor, err)
	}
	if a.anchor.substrate == substrateSion {
		return &importer.Error{File: label, Cause: "the archive is kept in SION containers",
			Hint: "write it with the POSIX substrate, or split it with sionsplit", Kind: importer.ErrUnsupported}
	}
	if a.anchor.cut {
		a.w.Report(trace.MissingRest, "anchor files that are cut", 1, label)
	}
	return nil
}

// wrong makes an error about a file of the archive.
func (a *archive) wrong(file string, err error) error {
	var known *importer.Error
	if errors.As(err, &known) {
		return err
	}
	return &importer.Error{File: a.run.Label(file), Cause: err.Error(), Hint: "copy the archive again",
		Kind: importer.ErrMalformed}
}

func (a *archive) readGlobal(ctx context.Context) error {
	if a.files.global == "" {
		return &importer.Error{File: a.run.Label(base(a.files.anchor) + ".def"),
			Cause: "the definitions of the archive are missing",
			Hint:  "copy all files of the archive: X.otf2, X.def and the directory X", Kind: importer.ErrNotFound}
	}
	f, err := a.openFile(a.files.global)
	if err != nil {
		return err
	}
	defer f.Close()
	d := &a.defs
	if err := d.read(ctx, f); err != nil {
		return err
	}
	label := a.run.Label(a.files.global)
	if d.total() == 0 {
		err := d.damage.readError
		if err == nil {
			err = errors.New("holds no definitions")
		}
		return a.wrong(a.files.global, err)
	}
	if !d.hasClock {
		d.resolution = nanoseconds
		a.w.Report(trace.Guessed, "clocks without a resolution, taken to count nanoseconds", 1, label)
	}
	a.reportGlobal(label)
	a.addUndefined()
	return nil
}

// addUndefined makes locations for event files that no definition is about.
func (a *archive) addUndefined() {
	var n int64
	example := ""
	for _, id := range sortedKeys(a.files.events) {
		if _, ok := a.defs.locIndex.get(id); ok {
			continue
		}
		keep(&a.defs.locations, &a.defs.locIndex, id,
			location{id: id, name: undefined32, kind: locationThread, group: undefined32})
		if n++; example == "" {
			example = a.run.Label(a.files.events[id])
		}
	}
	importer.Tell(a.w, trace.Guessed, "event files of locations that are not defined, kept under their number", n,
		example)
}

// openFile opens a definition or event file, which may be packed by the library.
func (a *archive) openFile(file string) (io.ReadCloser, error) {
	f, err := a.run.Open(file)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 8)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		f.Close()
		return nil, err
	}
	var r io.Reader = &prefixed{head[:n], f}
	if isPacked(head[:n]) {
		r = newBlockReader(r)
	}
	return struct {
		io.Reader
		io.Closer
	}{r, f}, nil
}

// prefixed returns the bytes that were looked at, then the rest.
type prefixed struct {
	head []byte
	r    io.Reader
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.r.Read(b)
}

// readLocations calls f for every location that has an event file, on all cores. Those without a file are counted.
func (a *archive) readLocations(ctx context.Context, f func(*row, context.Context, string) error) error {
	order := make([]int32, 0, len(a.defs.locations))
	for i := range a.defs.locations {
		if a.files.events[a.defs.locations[i].id] != "" {
			order = append(order, int32(i))
		}
	}
	order = a.ownLocations(order)
	inTurn(order, func(i int32) int64 { return a.files.sizes[a.files.events[a.defs.locations[i].id]] },
		parallel.Workers())
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(parallel.Workers(), len(order)) {
		g.Go(func() error {
			r := newRow(a)
			defer r.flush()
			for {
				n := int(next.Add(1)) - 1
				if n >= len(order) {
					return nil
				}
				r.begin(order[n])
				if err := r.openLocation(f, ctx); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// inTurn puts files into the order in which they are read. Those so large that others would wait for them come first.
// The rest keep their order, in which their rows are made later: then the data kept in between is freed step by step.
func inTurn(order []int32, size func(int32) int64, workers int) {
	var all int64
	for _, i := range order {
		all += size(i)
	}
	late := all / int64(8*workers) // an eighth of the work of each core
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(max(size(y), late), max(size(x), late)) })
}

// openLocation reads the local definitions of the row's location, then f its events.
func (r *row) openLocation(f func(*row, context.Context, string) error, ctx context.Context) error {
	id := r.a.defs.locations[r.at].id
	r.local = &local{}
	if name := r.a.files.locals[id]; name == "" {
		r.tally.local.missing = true
	} else {
		src, err := r.a.openFile(name)
		if err != nil {
			r.tally.local.cut = true
		} else {
			r.local = readLocal(&r.defs, src)
			src.Close()
			r.tally.local = localDamage{cut: !r.local.damage.whole(), bad: r.local.bad, others: r.local.others,
				at: r.local.damage.firstAt}
		}
	}
	name := r.a.files.events[id]
	src, err := r.a.openFile(name)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.tally.damage.readError = err
		r.a.count(r)
		return nil
	}
	defer src.Close()
	r.reader.open(src, r.a.defs.resolution)
	if err := f(r, ctx, name); err != nil {
		return err
	}
	r.a.matcher.Channels.Sent(r.at, &r.sent)
	r.tally.damage = r.reader.damage
	r.a.count(r)
	return nil
}

// convert reads the events of the location into its stream.
func (r *row) convert(ctx context.Context, _ string) error {
	r.stream = r.a.w.Stream(r.a.tree.places[r.at].id, trace.StreamOptions{})
	err := r.read(ctx)
	if closed := r.stream.Close(); err == nil {
		err = closed
	}
	return err
}

// count adds the tally of a location to those of the run.
func (a *archive) count(r *row) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.totals.add(&r.tally, int(r.at))
}

func (a *archive) closeShared() error {
	var err error
	for _, s := range a.streams {
		if closed := s.stream.Close(); err == nil {
			err = closed
		}
	}
	return err
}

// matchMemory bounds the memory for matching links.
func (a *archive) matchMemory() int64 {
	const usual = 64 << 20
	if m := a.run.Options.Memory; m > 0 {
		return max(1<<20, min(usual, m/4))
	}
	return usual
}
