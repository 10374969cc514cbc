package paje

import (
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A tree is the containers, and the tracks of those that hold states.
type tree struct {
	vocabulary

	containers containers
	byAlias    table[uint32] // numbers of containers
	byName     table[uint32] // of those that have an alias
	tracks     []track       // of containers that have several; the first is none
	rows       []stateRow    // of these, one each
	moreTracks map[trackKey]uint32
	frames     []frame // the first is none
	freeFrame  uint32
	todo       []uint32 // containers to destroy
	ranks      ranks
	parts      []string // files that were named and not yet read

	base int64 // lines of the file before the block
}

// A container is a location, with what is open on it. There may be millions: this is
// all that is kept of one, beside its words.
type container struct {
	stream  trace.Stream // nil until there are records, and when it is destroyed
	created trace.Time
	ended   trace.Time // endless while it lives
	last    trace.Time // of the states
	typ     uint32     // index
	// Numbers of others, 0 for none: what it lies in, the newest that lies in it, and
	// the one before it in the same.
	parent, child, sibling uint32
	location               trace.LocationID // NoLocation for a root that nothing happens on
	rank                   int32            // its own or one above
	states                 track            // of the type that counts; it knows the others
}

const (
	endless    = trace.Time(math.MaxInt64)
	rootNumber = 1
)

// containers are all there are, numbered from 1 in order of creation. They stay where
// they are: a slice would take twice the memory whenever it grows.
type containers struct {
	blocks []*[inBlock]container
	count  uint32
}

const inBlock = 1 << 10

func (l *containers) at(n uint32) *container { return &l.blocks[n/inBlock][n%inBlock] }

func (l *containers) add(k container) uint32 {
	l.count++
	for int(l.count/inBlock) >= len(l.blocks) {
		l.blocks = append(l.blocks, new([inBlock]container))
	}
	*l.at(l.count) = k
	return l.count
}

// open gives the stream of a container.
func (c *tree) open(k *container) trace.Stream {
	if k.stream == nil {
		if k.location == trace.NoLocation {
			c.defineRoot(k)
		}
		// Whoever writes in order pays nothing for this.
		k.stream = c.w.Stream(k.location, trace.StreamOptions{Unordered: true})
	}
	return k.stream
}

// defineRoot gives the root a location, which it has only where something happens
// on it.
func (c *tree) defineRoot(k *container) {
	k.location = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Key: "0", Name: "root", Rank: trace.NoRank})
}

// close ends the stream of a container, so that the writer may let go of it; another
// record opens it again.
func (c *tree) close(k *container) {
	if k.stream != nil {
		c.fail(k.stream.Close())
		k.stream = nil
	}
	for r := &k.states; r.next != 0; r = &c.tracks[r.next] {
		if row := &c.rows[r.next]; row.stream != nil {
			c.fail(row.stream.Close())
			row.stream = nil
		}
	}
}

// container finds the container of a symbol by alias; nil for none.
func (c *tree) container(s symbol) *container {
	if n := c.byAlias.get(s); n != 0 {
		return c.containers.at(n)
	}
	return nil
}

// containerOf finds the container that a word means: by alias, else by name.
func (c *tree) containerOf(text []byte, line int64) *container {
	n, named := c.numberOf(text)
	if n == 0 {
		c.tally.Add(unknownContainer, line)
		return nil
	}
	if named {
		c.tally.Add(containerByName, line)
	}
	return c.containers.at(n)
}

// numberOf gives the number of the container that a word means, 0 for none, and
// whether it is known by its name only.
func (c *tree) numberOf(text []byte) (n uint32, named bool) {
	s := c.symbols.lookup(text)
	if n := c.byAlias.get(s); n != 0 {
		return n, false
	}
	return c.byName.get(s), true
}

// create takes PajeCreateContainer.
func (c *tree) create(f *fields, line int64) {
	t := c.typeOf(f.of[fieldType], line)
	if t == nil {
		return
	}
	if t.op != opContainerType {
		c.tally.Add(wrongNature, line)
		return
	}
	id := f.of[fieldAlias]
	if len(id) == 0 {
		id = f.of[fieldName]
	}
	name := f.of[fieldName]
	if len(name) == 0 {
		name = id
	}
	parent := c.parentOf(f, line)
	word := c.symbols.keep(id)
	if n := c.byAlias.get(word); n != 0 {
		c.tally.Add(recreated, line)
		if n == rootNumber {
			return
		}
		if old := c.containers.at(n); old.typ == t.index && old.parent == parent {
			old.ended = endless
			old.created = min(old.created, f.time)
			c.include(f)
			return
		}
	}
	n := c.place(container{typ: t.index, parent: parent, rank: trace.NoRank, created: f.time, ended: endless}, string(id), string(name), f)
	c.byAlias.set(word, n)
	if len(f.of[fieldAlias]) > 0 {
		if w := c.symbols.keep(name); c.byName.get(w) == 0 {
			c.byName.set(w, n)
		}
	}
	c.include(f)
}

// parentOf finds what a new container lies in.
func (c *tree) parentOf(f *fields, line int64) uint32 {
	n, named := c.numberOf(f.of[fieldContainer])
	if n == 0 {
		c.tally.Add(unknownParent, line)
		return rootNumber
	}
	if named {
		c.tally.Add(containerByName, line)
	}
	return n
}

// place defines the location of a new container, and gives its number.
func (c *tree) place(k container, key, name string, f *fields) uint32 {
	l := trace.Location{Parent: trace.NoLocation, Kind: c.typeList[k.typ].kind, Key: key, Name: name, Rank: trace.NoRank}
	parent := c.containers.at(k.parent)
	if k.parent != rootNumber {
		l.Parent, k.rank = parent.location, parent.rank
	}
	for _, own := range f.own {
		n, err := strconv.ParseInt(string(own.word), 10, 64)
		switch {
		case len(own.word) == 0:
		case own.name == "Order" && err == nil:
			l.Order = n
		case own.name == "Rank" && err == nil && n >= 0 && n <= maxRank && k.rank == trace.NoRank:
			l.Rank = int(n)
		default:
			l.Attributes = append(l.Attributes, trace.Attribute{Key: own.name, Value: value(own.word, own.number)})
		}
	}
	if l.Rank == trace.NoRank && k.rank == trace.NoRank {
		if n := rankOf(name, key); n >= 0 && !c.ranks.has(n) {
			l.Rank = n
			c.tally.Add(ranksByName, c.base+int64(f.line))
		}
	}
	if l.Rank != trace.NoRank {
		k.rank = int32(l.Rank)
		c.ranks.add(l.Rank)
	}
	k.location, k.sibling = c.w.Location(l), parent.child
	parent.child = c.containers.add(k)
	return parent.child
}

// destroy takes PajeDestroyContainer: the container ends, and all in it.
func (c *tree) destroy(f *fields, line int64) {
	id := f.of[fieldName]
	if len(id) == 0 {
		id = f.of[fieldAlias]
	}
	if len(id) == 0 {
		id = f.of[fieldContainer]
	}
	n, named := c.numberOf(id)
	if n == 0 {
		c.tally.Add(unknownDestroy, line)
		return
	}
	if named {
		c.tally.Add(containerByName, line)
	}
	c.typeList[c.containers.at(n).typ].destroys = true
	todo := append(c.todo[:0], n)
	for len(todo) > 0 {
		k := c.containers.at(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		if k.ended != endless {
			continue
		}
		k.ended = f.time
		c.endStates(k, f.time)
		c.close(k)
		for n := k.child; n != 0; n = c.containers.at(n).sibling {
			todo = append(todo, n)
		}
	}
	c.todo = todo
}
