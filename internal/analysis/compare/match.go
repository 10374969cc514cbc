package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Tier is how two call paths were found to be the same one, the surest first.
type Tier int

const (
	ByName   Tier = iota // the same canonical name below the same caller
	ByPin                // said by hand
	ByPlain              // the same name without template arguments and parameters
	ByLike               // the most alike of those with the same role below the same caller
	OneSided             // on one side alone
	Tiers
)

func (t Tier) String() string {
	return [...]string{"name", "pinned", "name without arguments", "alike", "one side alone"}[t]
}

// A Path is a call path of one run: parents come first, -1 at the top. Names are canonical.
type Path struct {
	Parent int32
	Name   string
	Role   trace.Role
	Time   float64 // exclusive
}

// A Node is a call path of all runs.
type Node struct {
	Parent int32
	Name   string // as B has it, or A where B has none
	Was    string // as A has it, where that is another
	Role   trace.Role
	Tier   Tier
}

// leastLike is the least likeness of two names that are taken for one.
const leastLike = 0.55

// A Tree is the call paths of all runs as one, parents first.
type Tree struct {
	Nodes []Node
	// Place is, for each run and path, its node.
	Place [][]int32
}

// A member is a path of a run.
type member struct{ run, path int32 }

// A bunch is the children of a node with one name.
type bunch struct {
	name    string
	was     string
	role    trace.Role
	sides   uint8
	time    float64
	members []member
	tier    Tier
}

// Match joins the call trees of runs, each on side 0 (A) or 1 (B). Pins say which name of
// A is which of B. O(paths), and O(n²) among siblings that one side alone has.
func Match(runs [][]Path, side []int, pins map[string]string) *Tree {
	t := &Tree{Place: make([][]int32, len(runs))}
	below := make([][][]int32, len(runs)) // children of each path; those at the top are last
	for r, paths := range runs {
		t.Place[r] = make([]int32, len(paths))
		below[r] = make([][]int32, len(paths)+1)
		for i := range paths {
			up := paths[i].Parent
			if up < 0 {
				up = int32(len(paths))
			}
			below[r][up] = append(below[r][up], int32(i))
		}
	}
	top := make([]member, len(runs))
	for r := range runs {
		top[r] = member{int32(r), int32(len(runs[r]))}
	}
	var descend func(parent int32, of []member)
	descend = func(parent int32, of []member) {
		byName := map[string]*bunch{}
		var order []*bunch
		for _, m := range of {
			for _, i := range below[m.run][m.path] {
				p := &runs[m.run][i]
				name := p.Name
				if to, ok := pins[name]; ok && side[m.run] == 0 {
					name = to
				}
				b := byName[name]
				if b == nil {
					b = &bunch{name: name, role: p.Role}
					byName[name] = b
					order = append(order, b)
				}
				if name != p.Name {
					b.was, b.tier = p.Name, ByPin
				}
				b.sides |= 1 << side[m.run]
				b.time += p.Time
				b.members = append(b.members, member{m.run, i})
			}
		}
		for _, b := range pair(order) {
			at := int32(len(t.Nodes))
			t.Nodes = append(t.Nodes, Node{Parent: parent, Name: b.name, Was: b.was, Role: b.role, Tier: b.tier})
			for _, m := range b.members {
				t.Place[m.run][m.path] = at
			}
			descend(at, b.members)
		}
	}
	descend(-1, top)
	return t
}

// pair joins call paths of A alone with call paths of B alone: first by plain name, then by similarity.
func pair(list []*bunch) []*bunch {
	var only [2][]*bunch
	for _, b := range list {
		switch b.sides {
		case 1:
			only[0] = append(only[0], b)
		case 2:
			only[1] = append(only[1], b)
		}
	}
	gone := map[*bunch]bool{}
	join := func(a, b *bunch, tier Tier) {
		b.was, b.tier, b.sides = a.name, tier, 3
		b.time += a.time
		b.members = append(b.members, a.members...)
		gone[a] = true
	}
	plain := map[string][]*bunch{}
	for _, b := range only[1] {
		plain[Plain(b.name)] = append(plain[Plain(b.name)], b)
	}
	for _, a := range only[0] {
		name := Plain(a.name)
		if of := plain[name]; len(of) > 0 && name != "" {
			join(a, of[0], ByPlain)
			plain[name] = of[1:]
		}
	}
	type couple struct {
		a, b *bunch
		like float64
	}
	var couples []couple
	if len(only[0])*len(only[1]) <= mostCouples {
		for _, a := range only[0] {
			for _, b := range only[1] {
				if gone[a] || b.sides == 3 || a.role != b.role {
					continue
				}
				if l := likeness(Plain(a.name), Plain(b.name)); l >= leastLike {
					couples = append(couples, couple{a, b, l})
				}
			}
		}
	}
	slices.SortStableFunc(couples, func(x, y couple) int { return cmp.Compare(y.like, x.like) })
	for _, c := range couples {
		if !gone[c.a] && c.b.sides != 3 {
			join(c.a, c.b, ByLike)
		}
	}
	out := list[:0]
	for _, b := range list {
		if gone[b] {
			continue
		}
		if b.sides != 3 {
			b.tier = OneSided
		}
		out = append(out, b)
	}
	return out
}

// mostCouples bounds how many names are held against each other.
const mostCouples = 1 << 16

// CallPath writes a node with all above it.
func (t *Tree) CallPath(i int32) string {
	var names []string
	for ; i >= 0; i = t.Nodes[i].Parent {
		names = append(names, t.Nodes[i].Name)
	}
	slices.Reverse(names)
	return strings.Join(names, " → ")
}
