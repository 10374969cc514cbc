package dumpi

import (
	"cmp"
	"slices"
)

// Numbers of communicators that every rank has.
const (
	commNull  = 1
	commWorld = 2
	commSelf  = 3
)

// An instance is a communicator as one rank sees it, by the call that made it. Numbers of communicators are each rank's
// own and are used again, so ends of messages keep the instance.
type instance struct {
	how        manner
	parent     int32
	color, key int32   // of a split
	ranks      []int32 // of the parent, in order
}

// A manner is how a communicator was made of another.
type manner uint8

const (
	bySame  manner = iota // the members are the same, in the same order
	bySplit               // those of one colour, by key
	byGroup               // those of a list
)

// instanceWorld and instanceSelf come first in every list.
const (
	instanceWorld = 0
	instanceSelf  = 1
)

// communicators are those of one rank while its calls are read.
type communicators struct {
	list    []instance
	byComm  map[int32]int32
	byGroup map[int32]ranks // groups, which are each rank's own
}

// ranks are some of an instance; all of it if there is no list.
type ranks struct {
	of   int32
	list []int32
	all  bool
}

func newCommunicators() communicators {
	return communicators{list: make([]instance, 2),
		byComm: map[int32]int32{commWorld: instanceWorld, commSelf: instanceSelf}, byGroup: map[int32]ranks{}}
}

// made notes that a call made one of another. Those whose parent is not known are not known either.
func (c *communicators) made(comm, parent int32, how instance) {
	from, ok := c.byComm[parent]
	delete(c.byComm, comm)
	if !ok {
		return
	}
	if comm > commNull {
		c.byComm[comm] = int32(len(c.list))
	}
	how.parent = from
	c.list = append(c.list, how)
}

// madeOf notes that one was made of a group of another's ranks.
func (c *communicators) madeOf(comm, parent, group int32) {
	g, ok := c.byGroup[group]
	if from, known := c.byComm[parent]; !ok || !known || from != g.of {
		delete(c.byComm, comm)
		return
	}
	if g.all {
		c.made(comm, parent, instance{})
		return
	}
	c.made(comm, parent, instance{how: byGroup, ranks: g.list})
}

// include makes a group of some ranks of another.
func (c *communicators) include(group, from int32, list []int32) {
	g, ok := c.byGroup[from]
	delete(c.byGroup, group)
	if !ok {
		return
	}
	out := ranks{of: g.of}
	for _, i := range list {
		switch {
		case g.all && i >= 0:
			out.list = append(out.list, i)
		case i >= 0 && int(i) < len(g.list):
			out.list = append(out.list, g.list[i])
		}
	}
	c.byGroup[group] = out
}

// take follows a call that makes or ends communicators and groups.
func (c *communicators) take(r *record) {
	n := r.ints
	switch r.call {
	case callCommDup:
		c.made(n[1], n[0], instance{})
	case callCommSplit:
		c.made(n[3], n[0], instance{how: bySplit, color: n[1], key: n[2]})
	case callCommCreate:
		c.madeOf(n[2], n[0], n[1])
	case callCartCreate:
		if n[2] == 0 { // without leave to number anew
			c.made(n[3], n[0], instance{})
		}
	case callCommFree:
		delete(c.byComm, n[0])
	case callCommGroup:
		delete(c.byGroup, n[1])
		if of, ok := c.byComm[n[0]]; ok {
			c.byGroup[n[1]] = ranks{of: of, all: true}
		}
	case callGroupIncl:
		c.include(n[2], n[0], r.list)
	case callGroupFree:
		delete(c.byGroup, n[0])
	}
}

// of is the instance that a number means now; -1 where the calls do not tell.
func (c *communicators) of(comm int32) int32 {
	if i, ok := c.byComm[comm]; ok {
		return i
	}
	return -1
}

// A group is one communicator of the whole run.
type group struct{ members []int32 } // ranks of MPI_COMM_WORLD, in order

// groups puts together the communicators of all ranks: the nth communicator that the members of one made of it is the
// same for all of them. It returns, for each rank, the group of each instance, -1 where it is unknown because ranks
// are missing or disagree. O(n log n) in the instances.
func groups(lists map[int32][]instance, ranks int32) (of map[int32][]int32, all []group) {
	of = map[int32][]int32{}
	children := map[int32][][]int32{} // by rank and instance
	for rank, list := range lists {
		of[rank] = slices.Repeat([]int32{-1}, len(list))
		of[rank][instanceWorld] = 0
		below := make([][]int32, len(list))
		for i, c := range list[2:] {
			below[c.parent] = append(below[c.parent], int32(i+2))
		}
		children[rank] = below
	}
	world := group{}
	for rank := range ranks {
		world.members = append(world.members, rank)
	}
	all = append(all, world)
	type seen struct {
		group    int32
		instance map[int32]int32 // by rank
	}
	first := seen{0, map[int32]int32{}}
	for rank := range lists {
		first.instance[rank] = instanceWorld
	}
	for queue := []seen{first}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for n := 0; ; n++ {
			made := map[int32]int32{}
			var first *instance
			agree := true
			for rank, i := range at.instance {
				if below := children[rank][i]; n < len(below) {
					c := &lists[rank][below[n]]
					if first == nil {
						first = c
					}
					agree = agree && first.how == c.how && slices.Equal(first.ranks, c.ranks)
					made[rank] = below[n]
				}
			}
			if len(made) == 0 {
				break
			}
			if !agree || len(made) < len(at.instance) ||
				first.how == bySplit && len(made) < len(all[at.group].members) {
				continue
			}
			for _, part := range parts(all[at.group].members, made, lists, first) {
				id := int32(len(all))
				all = append(all, group{part})
				next := seen{id, map[int32]int32{}}
				for _, rank := range part {
					if i, ok := made[rank]; ok {
						of[rank][i] = id
						next.instance[rank] = i
					}
				}
				queue = append(queue, next)
			}
		}
	}
	return of, all
}

// parts are the groups that one call made: all members, those of a list, or those of each colour by key.
func parts(members []int32, made map[int32]int32, lists map[int32][]instance, first *instance) (out [][]int32) {
	switch first.how {
	case bySame:
		return [][]int32{members}
	case byGroup:
		var part []int32
		for _, i := range first.ranks {
			if int(i) >= len(members) {
				return nil
			}
			part = append(part, members[i])
		}
		return [][]int32{part}
	}
	byColor := map[int32][]int32{}
	var colors []int32
	for _, rank := range members {
		c := lists[rank][made[rank]].color
		if c < 0 {
			continue // MPI_UNDEFINED
		}
		if byColor[c] == nil {
			colors = append(colors, c)
		}
		byColor[c] = append(byColor[c], rank)
	}
	slices.Sort(colors)
	for _, c := range colors {
		list := byColor[c]
		slices.SortStableFunc(list,
			func(a, b int32) int { return cmp.Compare(lists[a][made[a]].key, lists[b][made[b]].key) })
		out = append(out, list)
	}
	return out
}
