package chrometrace

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A plan says how the files of a run are read.
type plan struct {
	run            importer.Run
	w              trace.Writer
	workers, batch int
	files          []facts
	rank           []int
	// groups are files that one reader takes one after the other: those of one rank.
	groups  [][]int
	own     [2]int // the first of those that are read, and the end
	machine bool   // every file states its host

	outcome
	// reports and told of each group, so that they come in the same order every time.
	reports [][]trace.ReportEntry
	told    [][]rankTold

	failed []error   // by file
	spare  sync.Pool // of *pending

	mu sync.Mutex
}

// importRun reads the files of a run, several at a time.
func importRun(ctx context.Context, run importer.Run, w trace.Writer) error {
	return importWith(ctx, run, w, parallel.Workers(), 0)
}

// importWith does so on a number of cores, and where batch is not 0 in batches of so many bytes.
func importWith(ctx context.Context, run importer.Run, w trace.Writer, workers, batch int) error {
	p := newPlan(run)
	p.w, p.workers, p.batch = w, workers, batch
	for _, e := range p.number() {
		w.Report(e.Kind, e.What, e.Count, e.Example)
	}
	share := match.ShareOf(w)
	p.own = [2]int{0, len(p.groups)}
	if share != nil {
		p.chooseOwn(share.Share())
	}
	if err := p.align(ctx); err != nil {
		return err
	}
	p.reports, p.told = make([][]trace.ReportEntry, len(p.groups)), make([][]rankTold, len(p.groups))
	p.failed = make([]error, len(p.files))
	if len(p.groups) > 1 {
		trace.SortRegions(w)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for n := p.own[0]; n < p.own[1]; n++ {
		g.Go(func() error { return p.readGroup(ctx, n) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if p.Read == 0 && share == nil {
		return p.failed[0]
	}
	p.gather()
	if share != nil {
		return match.TellFields(share, &p.outcome)
	}
	return conclude(w, []outcome{p.outcome})
}

func newPlan(run importer.Run) *plan {
	p := &plan{run: run}
	for _, file := range run.Files {
		p.files = append(p.files, probe(file, run.Source.Head(file)))
	}
	return p
}

// number decides the ranks, and which files belong to the same one. It returns what it guessed.
func (p *plan) number() (told []trace.ReportEntry) {
	guessed := func(what string, count int, example string) {
		told = append(told, trace.ReportEntry{Kind: trace.Guessed, What: what, Count: int64(count), Example: example})
	}
	var named int
	if p.rank, named = ranks(p.files); named > 0 {
		guessed("ranks taken from the names of files", named, p.run.Label(p.files[0].path))
	}
	if p.files[0].dialect == dftracer && !slices.ContainsFunc(p.rank, func(r int) bool { return r >= 0 }) &&
		len(p.files) > 1 {
		for i := range p.rank {
			p.rank[i] = i
		}
		guessed("ranks counted in the order of the files' names", len(p.files), p.run.Label(p.files[0].path))
	}
	p.machine = true
	byRank := map[int]int{}
	for i, f := range p.files {
		p.machine = p.machine && f.host != ""
		r := p.rank[i]
		if f.dialect == chrome {
			r = -1
		}
		if at, ok := byRank[r]; ok && r >= 0 {
			p.groups[at] = append(p.groups[at], i)
			guessed("files of a rank that has others, put on the same rows (a restart, or several recordings)", 1,
				p.run.Label(f.path))
			continue
		}
		byRank[r] = len(p.groups)
		p.groups = append(p.groups, []int{i})
	}
	return told
}

// readGroup reads the files of one rank, or one file.
func (p *plan) readGroup(ctx context.Context, n int) (err error) {
	group := p.groups[n]
	first := p.files[group[0]]
	c := newReader(p.w, first.dialect)
	c.workers, c.batch = p.workers/(p.own[1]-p.own[0]), p.batch
	if used, _ := p.spare.Get().(*pending); used != nil {
		c.pending = *used
	}
	defer func() { p.spare.Put(&pending{c.flows[:0], c.launchFlows[:0], c.launches[:0], c.works[:0]}) }()
	if first.dialect == chrome {
		if len(p.files) > 1 {
			c.parent = p.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Key: first.path,
				Name: first.path, Rank: trace.NoRank})
		}
	} else {
		p.defineRank(c, group[0])
	}
	defer func() {
		if closed := c.closeRows(); err == nil {
			err = closed
		}
	}()
	for _, i := range group {
		if err := p.readFile(ctx, c, i); err != nil {
			return err
		}
		p.reports[n] = append(p.reports[n], c.tally.flush(p.run.Label(p.files[i].path))...)
	}
	c.describe()
	p.reports[n] = append(p.reports[n], c.tally.flush(p.run.Label(first.path))...)
	p.finishRank(c, n)
	return nil
}

// defineRank makes the location of the process that a file is about.
func (p *plan) defineRank(c *reader, i int) {
	f := p.files[i]
	c.rank = p.rank[i]
	c.keyPrefix = f.path + " "
	if p.machine {
		c.parent = p.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Key: f.host,
			Name: f.host, Rank: trace.NoRank})
	}
	l := trace.Location{Parent: c.parent, Kind: trace.KindProcess, Key: f.path, Name: "process", Rank: trace.NoRank}
	if f.host != "" {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "host", Value: trace.Text(f.host)})
	}
	if f.pid != "" {
		l.Name = "process " + f.pid
	}
	if c.rank >= 0 {
		l.Key, l.Name, l.Rank = fmt.Sprint("rank ", c.rank), fmt.Sprint("rank ", c.rank), c.rank
	}
	if len(p.files) > 1 {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "file", Value: trace.Text(f.path)})
	}
	c.self, c.undefined = &process{}, &l
}

// readFile reads one file. In a run of several, one that cannot be read is
// counted and left out.
func (p *plan) readFile(ctx context.Context, c *reader, i int) error {
	file := p.files[i]
	label := p.run.Label(file.path)
	r, err := p.run.Open(file.path)
	if err == nil {
		defer r.Close()
		var s *scanner
		if s, err = c.read(ctx, r, label, p.files[i].base); err == nil {
			c.sections(s)
			if i == 0 {
				p.properties(s)
			}
		}
		s.close()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.Read++
		return nil
	}
	if len(p.files) == 1 {
		return err
	}
	p.failed[i] = err
	return nil
}

// finishRank takes the rank and the groups that a rank's files state after their records.
func (p *plan) finishRank(c *reader, n int) {
	if c.self == nil || c.severalRanks() {
		return
	}
	c.owner()
	if c.info.Rank != nil && c.rank < 0 {
		c.rank = *c.info.Rank
		p.w.Describe(c.self.location, trace.Location{Name: fmt.Sprint("rank ", c.rank), Rank: c.rank})
	}
	p.told[n] = []rankTold{{c.rank, c.self.location, c.info.Groups}}
}

// properties keeps the scalars among the top-level members of the first file.
func (p *plan) properties(s *scanner) {
	const longest = 1000
	for _, sec := range s.sections {
		raw := bytes.TrimSpace(sec.raw)
		switch {
		case len(raw) == 0 || len(raw) > longest:
		case sec.key == "otherData" || sec.key == "metadata" || sec.key == "clientInfo":
			var r record
			if _, status := parseArgs(raw, 0, &r); status != complete {
				continue
			}
			for _, a := range r.args {
				if a.value.kind != composite {
					p.w.Property(string(a.key.plain(nil)), string(a.value.plain(nil)))
				}
			}
		case raw[0] != '{' && raw[0] != '[':
			p.w.Property(sec.key, textOf(raw))
		}
	}
	if raw := s.section("distributedInfo"); raw != nil {
		if n, ok := numberAfter(raw, `"world_size"`); ok {
			p.w.Property("world_size", fmt.Sprint(n))
		}
	}
}
