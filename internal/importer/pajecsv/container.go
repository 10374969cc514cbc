package pajecsv

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A container is a location.
type container struct {
	location trace.LocationID
	rank     int // its own or one above
	stream   trace.Stream
	tracks   map[string]*track // of states, by type
	owned    bool              // one of them is on the container itself
	counters map[string]trace.CounterID
}

// A track is the states of one type that are open on a container, innermost last.
type track struct {
	on   *container // or the row next to it
	open []openState
}

type openState struct {
	region trace.RegionID
	end    trace.Time
}

// rankNames find the rank in names such as "rank-12" and StarPU's "3_program".
var rankNames = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^(?:mpi[ _-]?)?rank[ _#:-]?(\d{1,9})(?:[^0-9]|$)`),
	regexp.MustCompile(`^P#(\d{1,9})$`),
	regexp.MustCompile(`^(\d{1,9})_program$`),
}

var prefix = regexp.MustCompile(`^(\d{1,9})_`)

// kinds are words for types of containers, with the kind of location.
var kinds = map[string]trace.Kind{
	"site": trace.KindSite, "cluster": trace.KindCluster, "host": trace.KindMachine, "machine": trace.KindMachine,
	"node":    trace.KindMachine,
	"process": trace.KindProcess, "mpi": trace.KindProcess, "program": trace.KindProcess, "rank": trace.KindProcess,
	"thread": trace.KindThread,
	"worker": trace.KindThread, "user thread": trace.KindThread, "mpi communication thread": trace.KindThread,
	"gpu": trace.KindDevice,
}

func kindOf(name string) trace.Kind {
	word := strings.ToLower(strings.TrimSpace(name))
	if k, ok := kinds[word]; ok {
		return k
	}
	if word == "" || word == "0" {
		return trace.KindGroup
	}
	return trace.Kind(word)
}

// create defines a container. The root, "0", is no location of its own.
func (c *converter) create(parent, name, kind string, line int64) {
	if name == "0" && (parent == "0" || parent == "") {
		return
	}
	up, l := c.containers[parent],
		trace.Location{Parent: trace.NoLocation, Kind: kindOf(kind), Name: name, Rank: trace.NoRank}
	if up != nil {
		l.Parent = up.location
	} else if parent != "0" && parent != "" {
		c.tally.Add(unknownParent, line)
	}
	// Names are unique below a parent at best.
	l.Key = parent + "/" + name
	if c.containers[name] != nil {
		c.tally.Add(ambiguous, line)
		c.w.Location(l)
		return
	}
	c.add(name, l, up, line)
}

// add defines the location of a container that is not yet known.
func (c *converter) add(name string, l trace.Location, up *container, line int64) *container {
	k := &container{rank: trace.NoRank}
	if up != nil {
		k.rank = up.rank
	}
	if k.rank == trace.NoRank {
		for _, p := range rankNames {
			if m := p.FindStringSubmatch(name); m != nil {
				k.rank, _ = strconv.Atoi(m[1])
				l.Rank = k.rank
				c.tally.Add(ranksByName, line)
				c.programs[k.rank] = k
				break
			}
		}
	}
	k.location = c.w.Location(l)
	c.containers[name] = k
	return k
}

// container finds a container by name. One that is not listed is put where its name
// says it belongs, else at the top.
func (c *converter) container(name, kind string, line int64) *container {
	if k := c.containers[name]; k != nil {
		return k
	}
	l := trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Key: "/" + name, Name: name,
		Rank: trace.NoRank}
	if strings.Contains(kind, "Thread") || strings.Contains(kind, "Worker") {
		l.Kind = trace.KindThread
	}
	if m := prefix.FindStringSubmatch(name); m != nil {
		rank, _ := strconv.Atoi(m[1])
		if up := c.programs[rank]; up != nil {
			l.Parent = up.location
			c.tally.Add(byPrefix, line)
			return c.add(name, l, up, line)
		}
	}
	if name == "0" {
		l.Name = "root"
	} else if c.listed {
		c.tally.Add(unlisted, line)
	}
	return c.add(name, l, nil, line)
}

func (c *converter) stream(k *container) trace.Stream {
	if k.stream == nil {
		k.stream = c.w.Stream(k.location, trace.StreamOptions{Unordered: true})
		c.opened = append(c.opened, k)
	}
	return k.stream
}

// track writes the states of a type. Types are parallel, not nested: each tells all the
// time of its container. So states of the first type are on the container, and those
// of each other one on a row below it.
func (c *converter) track(k *container, kind string) *track {
	if t := k.tracks[kind]; t != nil {
		return t
	}
	kind = strings.Clone(kind)
	if k.tracks == nil {
		k.tracks = map[string]*track{}
	}
	t := &track{on: k}
	repeats := repeatedType.MatchString(kind)
	if k.owned || repeats {
		rowKind, why := trace.KindStates, secondStates
		if repeats {
			rowKind, why = trace.KindRepeat, repeatedStates
		}
		c.tally.Add(why, nowhere)
		l := trace.Location{Parent: k.location, Kind: rowKind, Key: "states/" + kind, Name: kind, Rank: trace.NoRank}
		t.on = &container{location: c.w.Location(l), rank: k.rank}
	}
	k.owned = k.owned || t.on == k
	k.tracks[kind] = t
	return t
}

// repeatedType are types that repeat another one: StarPU's "Worker State" and
// "InCtx1" both name the task that runs, which runs once.
var repeatedType = regexp.MustCompile(`^InCtx\d*$`)

// shut ends the states from a level on.
func (t *track) shut(s trace.Stream, level int) {
	for n := len(t.open); n > level; n-- {
		s.Leave(t.open[n-1].end, t.open[n-1].region)
		t.open = t.open[:n-1]
	}
}
