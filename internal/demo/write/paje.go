package write

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Paje is the language of StarPU's and SimGrid's traces: one text file, in order of time, that pj_dump and ViTE
// read. It uses gzip if the name ends in .gz.
//
//	location                     container; its type is named after the kind
//	order, rank, place on a grid fields of our own of the container
//	region                       value of a state; category and role are fields of our own
//	Enter and Leave, Interval    push and pop
//	instant                      event
//	counter                      variable
//	link                         link from the root; size and tag are fields of our own
//	attributes                   fields of our own: a definition for each set of them
//
// Intervals that cross have no place in it: pops do not name the state they end. Communicators have none either.
// Records are put in order outside memory, since readers of the format want time to go forward; the definitions
// come in front of them when all is known.
var Paje = &Format{
	Name:       "paje",
	Title:      "Paje, one text file",
	Sequential: true,
	Create:     createPaje,
}

type paje struct {
	*definitions
	pending pending
	file    *os.File
	lines   *lineSorter

	writing sync.Mutex // guards the fields below
	types   map[pajeType]int
	typeOf  map[trace.LocationID]int // index of the type of containers
	list    []pajeType
	states  map[[2]uint32]bool // type of containers, region
	events  map[[2]uint32]bool
	series  map[pajeSeries]int
	links   map[pajeLink]int
	sets    map[string]int // attributes, four bytes each: number of the set
	linkID  int64
	end     trace.Time
}

// A pajeType is a type of containers: a kind below another type, -1 for the root.
type pajeType struct {
	parent int
	kind   trace.Kind
}

type pajeSeries struct {
	of         int
	name, unit string
}

type pajeLink struct {
	from, to int
	kind     trace.LinkKind
}

func createPaje(path string) (File, error) {
	p, err := newPending(path, false)
	if err != nil {
		return nil, err
	}
	f, err := os.Create(p.temporary)
	if err != nil {
		return nil, err
	}
	return &paje{
		definitions: newDefinitions("paje", func(c string) string { return c }), pending: p, file: f,
		lines: newLineSorter(p.temporary + ".sort"),
		types: map[pajeType]int{}, typeOf: map[trace.LocationID]int{}, states: map[[2]uint32]bool{},
		events: map[[2]uint32]bool{},
		series: map[pajeSeries]int{}, links: map[pajeLink]int{}, sets: map[string]int{},
	}, nil
}

// typeOfLocation returns the number of the type of a location's container. The caller holds both locks.
func (p *paje) typeOfLocation(id trace.LocationID) int {
	if t, ok := p.typeOf[id]; ok {
		return t
	}
	l := p.locations[id]
	key := pajeType{-1, l.Kind}
	if l.Parent != trace.NoLocation {
		key.parent = p.typeOfLocation(l.Parent)
	}
	t, ok := p.types[key]
	if !ok {
		t = len(p.list)
		p.types[key] = t
		p.list = append(p.list, key)
	}
	p.typeOf[id] = t
	return t
}

func (p *paje) Stream(id trace.LocationID, o trace.StreamOptions) trace.Stream {
	if o.Unordered || o.ByName {
		p.cannotHold("intervals that may cross")
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.RLock()
	defer p.mu.RUnlock()
	t := p.typeOfLocation(id)
	return &pajeStream{
		p: p, of: t, names: lookup{d: p.definitions},
		place: fmt.Appendf(nil, " s%d c%d", t, id), event: fmt.Appendf(nil, " e%d c%d r", t, id),
		at: fmt.Appendf(nil, " c%d ", id),
	}
}

// The numbers of the definitions.
const (
	pajeContainerType = iota
	pajeVariableType
	pajeStateType
	pajeEventType
	pajeLinkType
	pajeEntityValue
	pajeCreate
	pajeDestroy
	pajeSetVariable
	pajePush
	pajePop
	pajeStartLink
	pajeEndLink
	pajeNewEvent
	pajeVariableUnit
	pajeValueCategory
	pajeCreateRank
	pajeCreatePlace
	pajeStartTag
	pajeStartSize
	pajeSets // and those after it, two for each set of attributes
)

// The numbers of pops and samples as they begin their lines.
var (
	pajePopText = fmt.Sprint(pajePop, " ")
	pajeSetText = fmt.Sprint(pajeSetVariable, " ")
)

// numberOf numbers keys in the order in which they are met.
func numberOf[K comparable](all map[K]int, key K) int {
	n, ok := all[key]
	if !ok {
		n = len(all)
		all[key] = n
	}
	return n
}

// set returns the number of the definition of pushes with these attributes; that of events follows it.
func (p *paje) set(facts []record) int {
	key := make([]byte, 0, 64)
	for i := range facts {
		key = binary.LittleEndian.AppendUint32(key, facts[i].id)
	}
	n, ok := p.sets[string(key)]
	if !ok {
		n = len(p.sets)
		p.sets[string(key)] = n
	}
	return pajeSets + 2*n
}

// Link writes both ends.
func (p *paje) Link(l trace.Link) {
	if l.Untimed {
		p.cannotHold("messages without times")
		return
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.RLock()
	k := pajeLink{p.typeOfLocation(l.From.Location), p.typeOfLocation(l.To.Location), l.Kind}
	p.mu.RUnlock()
	t := numberOf(p.links, k)
	p.linkID++
	p.end = max(p.end, l.From.Time, l.To.Time)
	number, more := pajeStartLink, ""
	switch {
	case l.Size >= 0:
		number, more = pajeStartSize, fmt.Sprintf(" %d %d", l.Tag, l.Size)
	case l.Tag != 0:
		number, more = pajeStartTag, fmt.Sprintf(" %d", l.Tag)
	}
	b := appendSeconds(append(strconv.AppendInt(nil, int64(number), 10), ' '), l.From.Time)
	b = fmt.Appendf(b, " l%d 0 %s c%d %d%s", t, l.Kind, l.From.Location, p.linkID, more)
	p.fail(p.lines.add(int64(l.From.Time), b))
	b = appendSeconds(append(strconv.AppendInt(b[:0], pajeEndLink, 10), ' '), l.To.Time)
	b = fmt.Appendf(b, " l%d 0 %s c%d %d", t, l.Kind, l.To.Location, p.linkID)
	p.fail(p.lines.add(int64(l.To.Time), b))
}

func (p *paje) Commit() error {
	err := p.failed()
	if err == nil {
		err = p.write()
	}
	p.lines.close()
	if e := p.file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = p.pending.commit()
	}
	if err != nil {
		p.pending.abort()
	}
	return err
}

func (p *paje) Abort() {
	p.lines.close()
	p.file.Close()
	p.pending.abort()
}

// write puts the file together.
func (p *paje) write() (err error) {
	var to io.Writer = p.file
	if strings.HasSuffix(p.pending.path, ".gz") {
		z, _ := gzip.NewWriterLevel(p.file, gzip.BestSpeed)
		defer func() {
			if e := z.Close(); err == nil {
				err = e
			}
		}()
		to = z
	}
	out := bufio.NewWriterSize(to, 1<<20)
	p.writeDefinitions(out)
	p.writeContainers(out)
	if err := p.lines.each(func(line []byte) error {
		out.Write(line)
		return out.WriteByte('\n')
	}); err != nil {
		return err
	}
	for id := range slices.Backward(p.locations) {
		fmt.Fprintf(out, "%d %s t%d c%d\n", pajeDestroy, appendSeconds(nil, p.end), p.typeOf[trace.LocationID(id)], id)
	}
	return out.Flush()
}
