package chrometrace

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A launch is a call that starts GPU work, or the work itself.
type launch struct {
	rank     int32 // of those that a file holds, in the order in which they come
	id       int64
	time     trace.Time
	location trace.LocationID
	region   trace.RegionID
}

// externalID marks ids that are not correlation ids: the two are numbered apart.
const externalID = 1 << 62

// correlate remembers a launch or work by its correlation id, else by the id of
// the operator that it belongs to.
func (c *reader) correlate(r *record, cat *category, l launch) {
	id, ok := r.number(keyCorrelation)
	if !ok || id <= 0 {
		if id, ok = r.number(keyExternal); !ok {
			id, ok = r.number(keyExternalSmall)
		}
		if !ok || id <= 0 {
			return
		}
		id |= externalID
	}
	l.id = id
	if cat.work {
		c.works = append(c.works, l)
	} else {
		c.launches = append(c.launches, l)
	}
}

// correlateXLA does the same for files of XLA, which have no categories: work is on processes that are named after a
// device.
func (c *reader) correlateXLA(r *record, l launch) {
	id, ok := r.number(keyCorrelationXLA)
	if !ok || id <= 0 {
		return
	}
	l.id = id
	if m := c.pids[c.place(r).pid]; m != nil && strings.HasPrefix(m.name, "/device:") {
		c.works = append(c.works, l)
	} else if m != nil && strings.HasPrefix(m.name, "/host:") {
		c.launches = append(c.launches, l)
	}
}

func byID(a, b launch) int {
	switch {
	case a.id != b.id && a.rank == b.rank:
		return cmp.Compare(a.id, b.id)
	case a.time != b.time && a.rank == b.rank:
		return cmp.Compare(a.time, b.time)
	}
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.location, b.location), cmp.Compare(a.region, b.region))
}

// same reports whether two have their id from one rank.
func (l *launch) same(o *launch) bool { return l.rank == o.rank && l.id == o.id }

// linkLaunches links each piece of GPU work to the call that launched it: the
// latest one of its id before it. One call may launch much (a graph). Flow
// records that say the same are counted, the others become flows.
func (c *reader) linkLaunches() {
	parallel.Sort(c.launches, byID)
	parallel.Sort(c.works, byID)
	linked := make([]bool, len(c.works))
	links := make([]trace.Link, 0, linkBatch)
	i := 0
	for n, w := range c.works {
		for i < len(c.launches) &&
			(c.launches[i].rank < w.rank || c.launches[i].rank == w.rank && c.launches[i].id < w.id) {
			i++
		}
		if i == len(c.launches) || !c.launches[i].same(&w) {
			c.tally.Add(noLaunch, nowhere)
			continue
		}
		from := c.launches[i]
		for k := i + 1; k < len(c.launches) && c.launches[k].same(&w) && c.launches[k].time <= w.time; k++ {
			from, i = c.launches[k], k
		}
		linked[n] = true
		if len(links) == linkBatch {
			trace.AddLinks(c.w, links)
			links = links[:0]
		}
		links = append(links, trace.Link{
			Kind: trace.LinkSpawn,
			From: trace.End{Location: from.location, Time: from.time, Region: from.region},
			To:   trace.End{Location: w.location, Time: w.time, Region: w.region},
			Size: -1, Tag: w.id &^ externalID, Communicator: trace.NoCommunicator,
		})
	}
	trace.AddLinks(c.w, links)
	repeated := c.repeatedFlows(linked)
	for i, f := range c.launchFlows {
		if repeated[i] {
			c.tally.Add(repeatedFlows, nowhere)
		} else {
			c.flows = append(c.flows, f)
		}
	}
	c.launches, c.works, c.launchFlows = c.launches[:0], c.works[:0], c.launchFlows[:0]
}

// linkBatch is the number of links that are handed over at a time.
const linkBatch = 1024

// repeatedFlows finds the flows of launches that repeat a correlation id: those whose id is that of work which is
// linked.
func (c *reader) repeatedFlows(linked []bool) []bool {
	repeated := make([]bool, len(c.launchFlows))
	known := make([]uint64, 0, len(linked))
	if c.severalRanks() { // ids of flows are then those of the file, and no correlation ids
		known = c.sameAsLaunches(known)
	} else {
		for i := range linked {
			if linked[i] {
				known = append(known, uint64(c.works[i].id))
			}
		}
	}
	parallel.Sort(known, cmp.Compare[uint64])
	if n := len(known); n > 0 && known[n-1]-known[0] < 64*uint64(n) { // ids are mostly counted
		first := known[0]
		is := make([]bool, known[n-1]-first+1)
		for _, id := range known {
			is[id-first] = true
		}
		for i := range repeated {
			id := c.launchFlows[i].key - first
			repeated[i] = id < uint64(len(is)) && is[id]
		}
		return repeated
	}
	_ = parallel.Ranges(context.Background(), len(repeated), 1<<14, func(from, to int) {
		for i := from; i < to; i++ {
			_, repeated[i] = slices.BinarySearch(known, c.launchFlows[i].key)
		}
	})
	return repeated
}

// distributed is Kineto's distributedInfo.
type distributed struct {
	Backend string         `json:"backend"`
	Rank    *int           `json:"rank"`
	World   int            `json:"world_size"`
	Groups  []processGroup `json:"pg_config"`
}

// sections takes the members next to the records, once a file is read.
func (c *reader) sections(s *scanner) {
	if raw := s.section("distributedInfo"); raw != nil {
		var info distributed
		if json.Unmarshal(raw, &info) == nil {
			c.info = info
		} else {
			c.tally.Add(badSections, nowhere)
		}
	}
	if raw := s.section("deviceProperties"); raw != nil {
		var devices []struct {
			ID   int    `json:"id"`
			Name string `json:"name"`
			// Memory in bytes.
			Memory json.Number `json:"totalGlobalMem"`
		}
		if json.Unmarshal(raw, &devices) != nil {
			c.tally.Add(badSections, nowhere)
		}
		for _, d := range devices {
			c.models[strconv.Itoa(d.ID)] = d.Name
			if n, err := d.Memory.Int64(); err == nil && n > 0 {
				c.memories[strconv.Itoa(d.ID)] = n
			}
		}
	}
	for i := range s.sections {
		switch sec := &s.sections[i]; sec.key {
		case "systemTraceEvents": // of Fuchsia a list in an object, of Android a text
			c.tally.AddN(systemRecords, int64(max(sec.inner, sec.lines)), nowhere)
		case "stackFrames":
			if !c.sampler.framesUsed {
				c.tally.AddN(stackTraces, int64(sec.items), nowhere)
			}
		}
	}
}
