package paje

import (
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A tree is the containers, and the rows of those that hold states of several types.
type tree struct {
	vocabulary

	containers list[container]
	byAlias    table[uint32] // numbers of containers
	byName     table[uint32] // of those that have an alias
	rows       list[stateRow]
	moreRows   map[rowKey]uint32
	replaced   map[trace.LocationID]uint32 // containers whose alias means another one since
	todo       []uint32                    // containers to destroy
	ranks      ranks
	parts      []string // files that were named and not yet read
	placed     uint32   // containers that have a shard
	destroyed  uint32   // counts containers that were
}

// A container is a location, with its open states. There may be millions: this is
// all that is kept of one, next to its words.
type container struct {
	stream  trace.Stream // nil until there are records, and when it is destroyed; the shard's, as last
	created trace.Time
	ended   trace.Time // endless while it lives
	last    trace.Time // of the states
	typ     uint32     // index
	// Numbers of others, 0 for none: its parent, its newest child, and the one before it in the same parent.
	parent, child, sibling uint32
	location               trace.LocationID // NoLocation for a root that nothing happens on
	rank                   int32            // its own or one above
	// one more than the number of that which writes its streams; 0 before any record
	shard  uint32
	states track // of the type that counts
}

const (
	endless    = trace.Time(math.MaxInt64)
	rootNumber = 1
)

// A list is numbered from 1 in the order of coming. Its items do not move: others hold pointers to them,
// and a slice would take twice the memory whenever it grows.
type list[T any] struct {
	blocks []*[inBlock]T
	count  uint32
}

const inBlock = 1 << 10

func (l *list[T]) at(n uint32) *T { return &l.blocks[n/inBlock][n%inBlock] }

func (l *list[T]) add(x T) uint32 {
	l.count++
	for int(l.count/inBlock) >= len(l.blocks) {
		l.blocks = append(l.blocks, new([inBlock]T))
	}
	*l.at(l.count) = x
	return l.count
}

// ready sees to it that a container has a shard that writes it, and a location, which the root has only where
// something happens on it. It counts a record after the end of its container: parsers leave both to the converter,
// who knows when that is.
func (c *resolver) ready(k *container, t trace.Time) bool {
	if !c.defines {
		return false
	}
	if t > k.ended {
		c.note(afterDestroy)
	}
	if k.shard == 0 {
		// In turn, so that those with much to write, which often come one after the other, are spread.
		k.shard = c.placed%uint32(len(c.shards)) + 1
		c.placed++
		if k.location == trace.NoLocation {
			k.location = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Key: "0",
				Name: "root", Rank: trace.NoRank})
		}
	}
	return true
}

// container finds the container of a symbol by alias; nil for none.
func (c *tree) container(s symbol) *container {
	if n := c.byAlias.get(s); n != 0 {
		return c.containers.at(n)
	}
	return nil
}

// containerOf finds the container that a word means: by alias, else by name.
func (c *resolver) containerOf(text []byte) *container {
	n, named := c.numberOf(text)
	if n == 0 {
		c.note(unknownContainer)
		return nil
	}
	if named {
		c.note(containerByName)
	}
	return c.containers.at(n)
}

// numberOf returns the number of the container that a word means, 0 for none, and
// whether it is known by its name only.
func (c *tree) numberOf(text []byte) (n uint32, named bool) {
	s := c.symbols.lookup(text)
	if n := c.byAlias.get(s); n != 0 {
		return n, false
	}
	return c.byName.get(s), true
}

// create takes PajeCreateContainer.
func (c *resolver) create(f *fields) {
	t := c.typeOf(f.of[fieldType])
	if t == nil {
		return
	}
	if t.op != opContainerType {
		c.note(wrongNature)
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
	parent := c.parentOf(f)
	word := c.symbols.keep(id)
	if n := c.byAlias.get(word); n != 0 {
		c.note(recreated)
		if n == rootNumber {
			return
		}
		if old := c.containers.at(n); old.typ == t.index && old.parent == parent {
			old.ended = endless
			old.created = min(old.created, f.time)
			c.include(f)
			return
		} else {
			c.replaced[old.location] = n
		}
	}
	n := c.place(container{typ: t.index, parent: parent, rank: trace.NoRank, created: f.time, ended: endless},
		string(id), string(name), f)
	if c.byAlias.get(word) != 0 || c.byName.get(word) != 0 {
		c.rebound++
	}
	c.byAlias.set(word, n)
	if len(f.of[fieldAlias]) > 0 {
		if w := c.symbols.keep(name); c.byName.get(w) == 0 {
			c.byName.set(w, n)
		}
	}
	c.include(f)
}

// parentOf finds the parent of a new container.
func (c *resolver) parentOf(f *fields) uint32 {
	n, named := c.numberOf(f.of[fieldContainer])
	if n == 0 {
		c.note(unknownParent)
		return rootNumber
	}
	if named {
		c.note(containerByName)
	}
	return n
}

// place defines the location of a new container, and returns its number.
func (c *resolver) place(k container, key, name string, f *fields) uint32 {
	l := trace.Location{Parent: trace.NoLocation, Kind: c.typeList[k.typ].kind, Key: key, Name: name,
		Rank: trace.NoRank}
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
			c.note(ranksByName)
		}
	}
	if l.Rank != trace.NoRank {
		k.rank = int32(l.Rank)
		c.ranks.add(l.Rank)
	}
	k.location = c.w.Location(l)
	if n := c.replaced[k.location]; n != 0 {
		// As it was once before, which no other may have: a location has one stream.
		old := c.containers.at(n)
		old.typ, old.ended, old.created = k.typ, endless, min(old.created, k.created)
		return n
	}
	k.sibling = parent.child
	parent.child = c.containers.add(k)
	return parent.child
}

// destroy takes PajeDestroyContainer: the container ends, and all in it.
func (c *resolver) destroy(f *fields) {
	id := f.of[fieldName]
	if len(id) == 0 {
		id = f.of[fieldAlias]
	}
	if len(id) == 0 {
		id = f.of[fieldContainer]
	}
	n, named := c.numberOf(id)
	if n == 0 {
		c.note(unknownDestroy)
		return
	}
	if named {
		c.note(containerByName)
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
		c.destroyed++
		c.end(k)
		for n := k.child; n != 0; n = c.containers.at(n).sibling {
			todo = append(todo, n)
		}
	}
	c.todo = todo
}
