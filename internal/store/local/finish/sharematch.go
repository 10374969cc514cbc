package finish

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A matchedState is what a part at stage Matched tells, beside its links and meetings.
type matchedState struct {
	Stats            [match.Kinds]match.Matched
	Span             write.SpanState // of links
	Loose, Backwards bool
	Messages         bool // from one clock to another
	Kin              bool
	Links, Meetings  int64
	Unclosed         []trace.RegionID // regions of calls that are never left, by the numbers of their definition
	Calls            []savedCalls     // of collectives, where no meetings are recorded
	Unclear          bool             // the order of those is not that of times
}

// savedCalls are those of a location.
type savedCalls struct {
	Location   trace.LocationID
	Region     []trace.RegionID
	Begin, End []trace.Time
}

// match gets a part to stage Matched.
func (r *sharedRun) match(ctx context.Context, part int) error {
	if err := checkFiles(r.parts[part], r.at(disk.Read, part)); err != nil {
		return err
	}
	f, err := r.merged(r.at(disk.Matched, part), part)
	if err != nil {
		return err
	}
	return f.endStage(f.matchPart(ctx, r, part))
}

// endStage ends a stage of a part: its directory is whole, or goes.
func (f *finisher) endStage(err error) error {
	if err != nil {
		f.Abort()
		return err
	}
	f.Done = true
	return nil
}

func (f *finisher) matchPart(ctx context.Context, r *sharedRun, part int) error {
	f.order = orderLocations(f.Def.Locations)
	var st matchedState
	if err := f.matchHalves(ctx, r, part, &st); err != nil {
		return err
	}
	if err := f.ownLinks(r.at(disk.Read, part), f.Writer.Parts[part].IDs); err != nil {
		return err
	}
	if f.RowErr != nil {
		return f.RowErr
	}
	if err := f.eachMessage(f.findClocks(), func(_, _ int32, _, _ trace.Time) { st.Messages = true }); err != nil {
		return err
	}
	own := func(s *write.Stream) bool { return f.Owns(s, part) }
	open := newOpenCalls(f)
	lists, unclear, err := f.callsOfStreams(ctx, f.findClocks(), f.waitingRegions(), own, open.of)
	if err != nil {
		return err
	}
	st.Unclosed, st.Unclear = open.regions(), unclear
	for id, list := range lists {
		if len(list) > 0 {
			st.Calls = append(st.Calls, saveCalls(trace.LocationID(id), list))
		}
	}
	st.Span, st.Loose, st.Backwards, st.Kin = write.SpanState(f.LinkSpan), f.LooseLinks, f.Backwards, len(f.Kin) > 0
	st.Links, st.Meetings = f.LinkRows.Len(), f.Meetings.Len()
	f.LinkRows.Once()
	err = errors.Join(
		write.SaveRecords(filepath.Join(f.Dir, write.LinkFile), func(give func(*write.LinkRecord) error) error {
			return f.LinkRows.SortedAs(nil, true, linkBatch, func(batch []write.LinkRecord) error {
				for i := range batch {
					if err := give(&batch[i]); err != nil {
						return err
					}
				}
				return nil
			})
		}),
		write.SaveRecords(filepath.Join(f.Dir, write.MeetingFile), f.Meetings.Each),
		write.SaveState(filepath.Join(f.Dir, write.StateFile), &st))
	if err != nil {
		return err
	}
	return publishStage(f.Writer, r.stageManifest(disk.Matched, part),
		[]string{write.LinkFile, write.MeetingFile, write.StateFile})
}

// matchHalves joins the halves that all parts have for this one.
func (f *finisher) matchHalves(ctx context.Context, r *sharedRun, part int, st *matchedState) error {
	facts := &f.Writer.Parts[0].Facts
	m := match.New(f.memory/4, 0, len(facts.Processes))
	defer m.Close()
	for _, p := range f.Writer.Parts {
		for _, k := range p.Facts.Incomplete {
			m.Incomplete[k] = true
		}
	}
	var halves match.Halves
	for k, p := range f.Writer.Parts {
		dir := r.at(disk.Read, k)
		for side, blocks := range [2][]write.Block{p.Causes, p.Effects} {
			file := filepath.Join(dir, write.HalfFiles[side])
			err := write.EachBlock(file, blocks, part, func(list []match.Half) error {
				for i := range list {
					list[i].Renumber(p.IDs.Region(list[i].Region()))
					halves.Add(m, side, &list[i])
				}
				return context.Cause(ctx)
			})
			if err != nil {
				return err
			}
		}
		err := write.EachBlock(filepath.Join(dir, write.AttendedFile), p.Attended, part,
			func(list []match.Participation) error {
				block := m.Collectives.Block()
				m.Attend(append(block, list...))
				return context.Cause(ctx)
			})
		if err != nil {
			return err
		}
	}
	halves.Flush(m)
	var err error
	st.Stats, err = match.JoinAll(ctx, m, f.workers, match.Output[trace.Link]{
		Fill: func(l *trace.Link, p *match.Pair) { facts.Link(l, p) },
		Take: f.Links,
	})
	if err != nil {
		return err
	}
	return m.Operations(ctx, func(x *trace.Meeting) {
		for i := range x.Members {
			x.Members[i].Location = facts.Processes[x.Members[i].Location]
		}
		f.Meet(x)
	})
}

// ownLinks takes the links of which the reader knew both ends.
func (f *finisher) ownLinks(dir string, ids *write.IDs) error {
	return write.LoadRecords(filepath.Join(dir, write.LinkFile), func(list []write.LinkRecord) error {
		for i := range list {
			x := &list[i]
			x.Renumber(ids)
			from := trace.End{Location: x.FromLocation, Time: x.FromTime, Region: x.FromRegion, Number: x.FromNumber}
			to := trace.End{Location: x.ToLocation, Time: x.ToTime, Region: x.ToRegion, Number: x.ToNumber}
			f.Link(trace.Link{Kind: x.Kind, Size: x.Size, Tag: x.Tag, Count: x.Count, Communicator: x.Communicator,
				From: from, To: to})
		}
		return nil
	})
}

// An openCalls finds the regions of calls that are never left.
type openCalls struct {
	f      *finisher
	follow []*trace.OpenCalls // by location
	lists  [][]trace.RegionID
}

func newOpenCalls(f *finisher) *openCalls {
	return &openCalls{f, make([]*trace.OpenCalls, len(f.Streams)), make([][]trace.RegionID, len(f.Streams))}
}

// of returns what has to see the calls of a location; nil: it has read them itself.
func (o *openCalls) of(s *write.Stream) func(*call) {
	if !s.Numbered() {
		o.lists[s.Location] = o.f.openOfBuilder(s)
		return nil
	}
	open := &trace.OpenCalls{}
	o.follow[s.Location] = open
	return func(c *call) {
		if c.leave {
			open.Leave(c.region)
		} else {
			open.Enter(c.region)
		}
	}
}

func (o *openCalls) regions() []trace.RegionID {
	for id, open := range o.follow {
		if open != nil {
			o.lists[id] = open.Regions
		}
	}
	all := slices.Concat(o.lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// openOfBuilder does for a location whose calls come in any order.
func (f *finisher) openOfBuilder(s *write.Stream) []trace.RegionID {
	var sink openSink
	var b trace.Builder
	events, spans := spool.NewSpool[trace.Event](f.Temp, f.memory/64), spool.NewSpool[trace.Span](f.Temp, f.memory/64)
	defer events.Close()
	defer spans.Close()
	b.Reset(trace.BuilderOptions{
		StreamOptions: trace.StreamOptions{Unordered: s.Unordered && s.Disordered, ByName: s.ByName,
			ByParent: s.ByParent},
		Parents: f.parents(s), Rounded: s.RoundedTimes, Intervals: s.Intervals, End: s.Last,
		Events: eventSorter{events}, Spans: spanSorter{spans},
	}, &sink)
	enters := false
	f.eachCall(s, func(c *call) bool {
		switch {
		case c.whole:
			if enters {
				b.Interval(c.begin, c.end, c.region)
			}
		case c.leave:
			b.Leave(c.begin, c.region)
		default:
			enters = true
			b.Enter(c.begin, c.region)
		}
		return true
	})
	if !enters {
		return nil
	}
	_, _ = b.Finish()
	return sink.regions
}

// An openSink notes the regions of rows that are never left.
type openSink struct{ regions []trace.RegionID }

func (*openSink) Open(*trace.LaneRow) {}

func (s *openSink) Close(r *trace.LaneRow) {
	if r.Unclosed && !slices.Contains(s.regions, r.Region) {
		s.regions = append(s.regions, r.Region)
	}
}

func saveCalls(id trace.LocationID, list []meetingCall) savedCalls {
	x := savedCalls{Location: id}
	for i := range list {
		x.Region = append(x.Region, list[i].region)
		x.Begin, x.End = append(x.Begin, list[i].Begin), append(x.End, list[i].End)
	}
	return x
}

// takeMatched takes what all parts tell at stage Matched.
func (f *finisher) takeMatched(r *sharedRun) error {
	facts := &f.Writer.Parts[0].Facts
	var stats [match.Kinds]match.Matched
	f.partCalls = make([][]meetingCall, len(f.Streams))
	for k := range r.parts {
		var st matchedState
		dir := r.at(disk.Matched, k)
		if err := write.LoadState(filepath.Join(dir, write.StateFile), &st); err != nil {
			return err
		}
		for i := range stats {
			stats[i].Add(&st.Stats[i])
		}
		f.SeeLinks(st.Span)
		f.LooseLinks, f.Backwards = f.LooseLinks || st.Loose, f.Backwards || st.Backwards
		f.Messages, f.Met = f.Messages || st.Messages, f.Met || st.Meetings > 0
		if st.Kin {
			f.Kin[0] = nil // that there are some is all that counts
		}
		f.openRegions = append(f.openRegions, st.Unclosed...)
		f.unclearCalls = f.unclearCalls || st.Unclear
		for _, c := range st.Calls {
			for i := range c.Region {
				f.partCalls[c.Location] = append(f.partCalls[c.Location], meetingCall{c.Region[i],
					trace.Member{Location: c.Location, Begin: c.Begin[i], End: c.End[i]}})
			}
		}
		if st.Links > 0 {
			f.LinkedIn = append(f.LinkedIn, filepath.Join(dir, write.LinkFile))
		}
		f.MetIn = append(f.MetIn, filepath.Join(dir, write.MeetingFile))
	}
	slices.Sort(f.openRegions)
	f.openRegions = slices.Compact(f.openRegions)
	for k, s := range stats {
		f.tell(facts.Alone[k][0], s.Causes)
		f.tell(facts.Alone[k][1], s.Effects)
	}
	f.tell(facts.Unsure, stats[match.Message].Unsure)
	f.TellFacts()
	return nil
}

func (f *finisher) tell(what string, count int64) {
	if count > 0 && what != "" {
		f.Report(trace.MissingLinks, what, count, f.Writer.Parts[0].Facts.Example)
	}
}

// loadLinks takes all links and meetings of parts where they are needed at once: clocks are fitted by them.
func (f *finisher) loadLinks() error {
	if f.linksLoaded || f.Writer.Parts == nil {
		return nil
	}
	f.linksLoaded = true
	for _, file := range f.LinkedIn {
		if err := write.LoadRecords(file, f.LinkRows.AddAll); err != nil {
			return err
		}
	}
	for _, file := range f.MetIn {
		if err := write.LoadRecords(file, f.Meetings.AddAll); err != nil {
			return err
		}
	}
	return nil
}

// A linkList is the links of a part, in order.
type linkList struct {
	rows []write.LinkRecord
	part int
}

type linkHeap []linkList

func (h linkHeap) Len() int { return len(h) }
func (h linkHeap) Less(i, k int) bool {
	return cmp.Or(write.ByStart.Compare(&h[i].rows[0], &h[k].rows[0]), cmp.Compare(h[i].part, h[k].part)) < 0
}
func (h linkHeap) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h *linkHeap) Push(x any)   { *h = append(*h, x.(linkList)) }
func (h *linkHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// mergeLinks yields the links of files, each of which is in order, in the order of all.
func mergeLinks(ctx context.Context, files []string, take func([]write.LinkRecord) error) error {
	h, done, err := mapLinks(files)
	defer done()
	if err != nil {
		return err
	}
	return h.merge(ctx, take)
}

// mapLinks maps files of links.
func mapLinks(files []string) (h linkHeap, done func(), err error) {
	var maps []*spool.Mapping
	done = func() {
		for _, m := range maps {
			_ = m.Close()
		}
	}
	for i, file := range files {
		m, err := spool.MapWhole(file)
		if err != nil {
			return nil, done, err
		}
		maps = append(maps, m)
		if rows := spool.ViewOf[write.LinkRecord](m.Bytes); len(rows) > 0 {
			h = append(h, linkList{rows, i})
		}
	}
	return h, done, nil
}

// merge yields the links of all lists in order.
func (h linkHeap) merge(ctx context.Context, take func([]write.LinkRecord) error) error {
	heap.Init(&h)
	batch := make([]write.LinkRecord, 0, linkBatch)
	for len(h) > 0 {
		if batch = append(batch, h[0].rows[0]); len(batch) == linkBatch {
			if err := take(batch); err != nil {
				return err
			}
			if batch = batch[:0]; ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		if h[0].rows = h[0].rows[1:]; len(h[0].rows) == 0 {
			heap.Pop(&h)
		} else {
			heap.Fix(&h, 0)
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return take(batch)
}
