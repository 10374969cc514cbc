package timeline

import (
	"context"
	"errors"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// content is the content of the rows of a plan.
type content struct {
	leaves    []*strips // of leaf rows by index of the row; nil for groups
	groups    []*stack  // of folded rows by index of the row; nil for others
	fullShare float64   // value of the full height of such a row
	links     *linkSet
	marks     []instant
	counters  *counterSet
	critical  *critical // nil: not asked for, or none
	totals    []total   // for the legend, most time first
	all       []wholes  // --all
}

// read reads the content of the rows.
func read(ctx context.Context, in *input, p *plan) (*content, error) {
	c := &content{}
	var err error
	if c.leaves, err = readLeaves(ctx, in, p); err != nil {
		return nil, err
	}
	if c.groups, err = readGroups(ctx, in, p); err != nil {
		return nil, err
	}
	c.fullShare = chooseScale(c.groups)
	rowOf := p.rowOf()
	if c.links, err = readLinks(ctx, in, p, rowOf); err != nil {
		return nil, err
	}
	if c.marks, err = readInstants(ctx, in, p); err != nil {
		return nil, err
	}
	if c.counters, err = readCounters(ctx, in, p, rowOf); err != nil {
		return nil, err
	}
	if c.totals, err = readTotals(ctx, in, c.leaves); err != nil {
		return nil, err
	}
	if c.all, err = readAll(ctx, in, p.forest); err != nil {
		return nil, err
	}
	if c.critical, err = readCritical(ctx, in, rowOf); err != nil {
		return nil, err
	}
	return c, nil
}

// empty reports whether there is nothing at all to draw.
func (c *content) empty() bool {
	return !slices.ContainsFunc(c.leaves, (*strips).any) && !slices.ContainsFunc(c.groups, (*stack).any) &&
		len(c.marks) == 0 && len(c.counters.list) == 0
}

// strips are the lines of pixels of one leaf row: one for the whole location,
// one a lane, or one a lane and level of nesting.
type strips struct {
	location trace.LocationID
	lanes    int  // of the location
	levels   int  // of nesting; 0: the innermost alone
	clipped  bool // the lowest level has the innermost of those below too
	split    bool
	list     []strip
}

type strip struct {
	lane  int // -1: all folded into one
	level int // of nesting; -1: innermost
	spans []span
}

func (s *strips) any() bool {
	return s != nil && slices.ContainsFunc(s.list, func(x strip) bool { return len(x.spans) > 0 })
}

// eachSpan calls f for the spans of all rows.
func eachSpan(leaves []*strips, f func(*span)) {
	for _, l := range leaves {
		if l == nil {
			continue
		}
		for _, s := range l.list {
			for i := range s.spans {
				f(&s.spans[i])
			}
		}
	}
}

// readLeaves reads the leaf rows; with --show average they are drawn as groups.
func readLeaves(ctx context.Context, in *input, p *plan) ([]*strips, error) {
	leaves := make([]*strips, len(p.rows))
	if in.opt.show == average {
		return leaves, nil
	}
	var ids []trace.LocationID
	for i := range p.rows {
		if w := &p.rows[i]; w.kind == leaf {
			leaves[i] = &strips{location: w.location, lanes: w.lanes, levels: p.levels, clipped: p.clipped,
				split: w.split}
			ids = append(ids, w.location)
		}
	}
	if len(ids) == 0 {
		return leaves, nil
	}
	if p.levels > 0 {
		return leaves, readLevels(ctx, in, p, ids, leaves)
	}
	return leaves, readInnermost(ctx, in, p, ids, leaves)
}

// A build collects the spans of one leaf row.
type build struct {
	strips *strips
	lanes  []*lane // nil until something comes
}

type lane struct {
	*cells
	walker share.Walker
	digest share.Digest // the one at hand
}

// readInnermost fills the leaf rows:
//
//  1. The digests of all bins of all rows come in one query, with rows if
//     there are too few for a digest. They decide most bins. If there are
//     few rows in all, these are read instead.
//  2. If only some regions are shown, the store's sums decide bins of which
//     the digests do not list them.
//  3. Bins that digests cannot decide (see analysis/share), and bins in which
//     lanes that share a row overlap, are scanned in a few queries.
func readInnermost(ctx context.Context, in *input, p *plan, ids []trace.LocationID, leaves []*strips) error {
	cells := 0
	for i := range p.rows {
		cells += p.strips(&p.rows[i]) * p.grid.bins()
	}
	builds := newBuilds(leaves)
	n, err := in.reader.Count(in.window(ids))
	if err != nil {
		return err
	}
	if n <= int64(in.reading.rowsPerBin*cells) {
		err = readRows(ctx, in, p.grid, ids, builds)
	} else if err = readDigests(ctx, in, p.grid, ids, builds); errors.Is(err, store.ErrNotKept) {
		builds = newBuilds(leaves)
		err = readRows(ctx, in, p.grid, ids, builds)
	}
	if err != nil {
		return err
	}
	for _, b := range builds {
		b.finish(p.grid)
	}
	if err := decideFromSums(ctx, in, p.grid, builds); err != nil {
		return err
	}
	return scanPending(ctx, in, p.grid, builds)
}

func newBuilds(leaves []*strips) map[trace.LocationID]*build {
	out := map[trace.LocationID]*build{}
	for _, s := range leaves {
		if s != nil {
			out[s.location] = &build{strips: s, lanes: make([]*lane, s.lanes)}
		}
	}
	return out
}

// readDigests fills lanes from the digests of their bins.
func readDigests(ctx context.Context, in *input, g grid, ids []trace.LocationID,
	builds map[trace.LocationID]*build) error {
	find := finder(ids, builds)
	return in.reader.Summaries(ctx, share.Name, in.window(ids), g.level, store.Visitor{
		Block: func(id trace.LocationID, lane int, begin, end trace.Time, b trace.Block) error {
			build := find(id)
			if build == nil {
				return nil // below a location that has a row of its own
			}
			l := build.lane(in, g, lane)
			d := &l.digest
			if all := in.rule.keep != nil; all && !d.Decode(b) || !all && !d.DecodeWinner(b) {
				return errors.New("view timeline: a digest of the store is damaged; import the source again")
			}
			l.block(begin, end, d)
			return nil
		},
		Rows: func(s *trace.Stretch) error {
			if build := find(s.Rows.Location); build != nil {
				build.lane(in, g, s.Rows.Lane).stretch(s)
			}
			return nil
		},
	})
}

// finder returns the builds of locations by a table: there are so many blocks that
// looking into a map for each is felt.
func finder(ids []trace.LocationID, builds map[trace.LocationID]*build) func(trace.LocationID) *build {
	first := slices.Min(ids)
	at := make([]int32, slices.Max(ids)-first+1)
	list := make([]*build, 1, len(ids)+1) // the first is none
	for _, id := range ids {
		at[id-first] = int32(len(list))
		list = append(list, builds[id])
	}
	return func(id trace.LocationID) *build {
		if k := uint(id) - uint(first); k < uint(len(at)) {
			return list[at[k]]
		}
		return nil
	}
}

// readRows fills lanes from their rows. O(rows).
func readRows(ctx context.Context, in *input, g grid, ids []trace.LocationID,
	builds map[trace.LocationID]*build) error {
	err := in.reader.Intervals(ctx, in.window(ids), func(c *trace.Columns) error {
		b := builds[c.Location]
		if b == nil {
			return nil // below a location that has a row of its own
		}
		l := b.lane(in, g, c.Lane)
		l.walk(c, &l.walker)
		return nil
	})
	for _, b := range builds {
		for i, l := range b.lanes {
			if l != nil {
				l.advance(&l.walker, g.end, i)
			}
		}
	}
	return err
}

func (b *build) lane(in *input, g grid, i int) *lane {
	if b.lanes[i] == nil {
		b.lanes[i] = &lane{cells: newCells(g, &in.rule)}
		b.lanes[i].walker.Start(g.begin, in.regions)
	}
	return b.lanes[i]
}

// block adds a bin of which only the digest is known.
func (c *cells) block(begin, end trace.Time, d *share.Digest) {
	c.move(begin)
	s := span{begin: begin, end: end, open: d.Open(), row: -1, region: trace.NoRegion,
		count: uint32(min(max(1, d.Rows), 1<<32-1)), longest: d.Longest.Duration}
	if s.open == 0 && d.Rows == 0 {
		return
	}
	shown := true
	if draws, _ := c.rule.lots(); draws && s.open > 0 && c.rule.keep == nil {
		shown = c.rule.drawDigest(d, &s)
	} else if c.rule.keep != nil {
		shown = c.rule.decideAmong(d, &s)
	} else {
		c.rule.decide(d, &s)
	}
	if s.pending || shown {
		c.add(&s)
	}
}

// decide names the winner of a digest where all regions compete.
func (r *rule) decide(d *share.Digest, s *span) {
	switch {
	case d.Open() == 0 || r.show == last: // empty intervals alone have no longest
		s.region = d.Last
	case r.show == longest && d.Longest.Region != trace.NoRegion:
		s.region = d.Longest.Region
	case r.show == shortest && d.Shortest.Region != trace.NoRegion:
		s.region = d.Shortest.Region
	case r.key != byRegion:
		s.role = r.winningRole(&d.Role)
		return
	default:
		region, certain := d.Dominant()
		s.region, s.pending = region, !certain
	}
	if s.region != trace.NoRegion {
		s.role = r.labels[s.region].Role
	}
}

// decideAmong names the winner among the regions that are kept, where the digest knows
// the time of each; it reports whether there is anything to show. It cannot know how
// many of the rows are of kept regions.
func (r *rule) decideAmong(d *share.Digest, s *span) bool {
	if r.show != dominant || r.key != byRegion || d.Empty > 0 {
		s.pending = true
		return true
	}
	best := share.Entry{Region: trace.NoRegion}
	s.open, s.loose = 0, true
	listed := 0
	for _, e := range d.Top[:d.Count] {
		if !r.keep[e.Region] {
			continue
		}
		if listed++; listed == 1 { // they come with the most time first
			best = e
		}
		s.open += e.Time
	}
	if d.Slack > 0 || listed < r.kept && d.Rest > 0 {
		s.pending = true
		return true
	}
	if best.Region == trace.NoRegion {
		return false
	}
	s.region, s.role = best.Region, r.labels[best.Region].Role
	return true
}

// finish turns the lanes into strips. Lanes that share a row are joined where
// they do not meet in a bin; where they do, the bin must be scanned.
func (b *build) finish(g grid) {
	s := b.strips
	s.list = nil
	for lane, c := range b.lanes {
		var spans []span
		if c != nil {
			spans = c.finish()
		}
		if s.split || s.lanes == 1 {
			at := lane
			if !s.split {
				at = -1
			}
			s.list = append(s.list, strip{lane: at, level: -1, spans: spans})
		}
	}
	if !s.split && s.lanes > 1 {
		s.list = []strip{{lane: -1, level: -1, spans: b.join(g)}}
	}
}

// join returns the spans of lanes that share a row. O(spans + lanes × bins).
func (b *build) join(g grid) []span {
	const free, contested = -1, -2
	first := g.bin(g.begin)
	owner := make([]int, g.bins()+1) // one more for events at the very end
	for i := range owner {
		owner[i] = free
	}
	each := func(s *span, f func(i int)) {
		for i := g.bin(s.begin); i <= g.bin(max(s.begin, s.end-1)); i++ {
			f(int(i - first))
		}
	}
	for lane, c := range b.lanes {
		if c == nil {
			continue
		}
		claim := func(i int) {
			if owner[i] == free || owner[i] == lane {
				owner[i] = lane
			} else {
				owner[i] = contested
			}
		}
		for i := range c.spans {
			each(&c.spans[i], claim)
		}
		for _, begin := range c.silent {
			claim(int(g.bin(begin) - first))
		}
	}
	var out []span
	for i, o := range owner {
		if o == contested {
			begin := g.binBegin(first + int64(i))
			out = append(out,
				span{begin: begin, end: begin + 1<<g.level, row: -1, region: trace.NoRegion, count: 1,
					pending: true})
		}
	}
	for lane, c := range b.lanes {
		if c == nil {
			continue
		}
		for i := range c.spans {
			s := c.spans[i]
			each(&s, func(i int) {
				if owner[i] == lane {
					out = append(out, g.cut(s, first+int64(i)))
				}
			})
		}
	}
	return rejoin(out)
}

// cut returns the part of a span in a bin.
func (g *grid) cut(s span, bin int64) span {
	begin, end := max(s.begin, g.binBegin(bin)), min(s.end, g.binBegin(bin+1))
	if s.aggregate() || begin >= end {
		return s
	}
	s.begin, s.end, s.open = begin, end, end-begin
	return s
}

// rejoin puts spans in order and joins pieces of one interval that touch.
func rejoin(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int {
		switch {
		case a.begin < b.begin:
			return -1
		case a.begin > b.begin:
			return 1
		}
		return 0
	})
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && !s.aggregate() && s.begin < s.end {
			if p := &out[n-1]; p.row == s.row && p.lane == s.lane && p.end == s.begin && p.begin < p.end {
				p.end, p.open = s.end, p.open+s.open
				continue
			}
		}
		out = append(out, s)
	}
	return out
}
