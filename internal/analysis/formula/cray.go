package formula

import (
	"bufio"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A CrayMap says on which node of a Cray each rank ran, as TAU's get_node_loc prints
// it: lines RANK:CNAME, among lines that say which cores a rank was bound to.
//
//	0:c3-0c1s4n2
//	[PE_0]: cpumask = 000000000001
//
// c3-0c1s4n2 is cabinet 3 of row 0, chassis 1 of it, slot 4, node 2.
type CrayMap struct {
	Nodes map[int]CrayNode // by rank
	// Slots is their number in a chassis: the most seen, at least 8.
	Slots int
}

// A CrayNode is a parsed name with the core a rank was bound to, -1 where not said.
type CrayNode struct {
	Cabinet, Row, Chassis, Slot, Node int
	Core                              int
}

var (
	crayLine = regexp.MustCompile(`^(\d{1,9})\s*:\s*(c\d{1,4}-\d{1,4}c\d{1,3}s\d{1,3}n\d{1,3})\s*$`)
	crayName = regexp.MustCompile(`^c(\d+)-(\d+)c(\d+)s(\d+)n(\d+)$`)
	maskLine = regexp.MustCompile(`^\[[^\]]*?(\d{1,9})\].*=\s*([01]+)\s*$`)
)

// IsCrayMap reports whether a text holds a line of a map.
func IsCrayMap(text string) bool {
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		if crayLine.MatchString(strings.TrimSpace(s.Text())) {
			return true
		}
	}
	return false
}

// ParseCrayName reads a name such as c0-0c0s0n0.
func ParseCrayName(name string) (CrayNode, error) {
	m := crayName.FindStringSubmatch(strings.TrimSpace(name))
	if m == nil {
		return CrayNode{},
			fmt.Errorf("%q is no name of a Cray node; want CABINET-ROW, CHASSIS, SLOT and NODE as in c3-0c1s4n2", name)
	}
	var n [5]int
	for i := range n {
		v, err := strconv.Atoi(m[i+1])
		if err != nil {
			return CrayNode{}, fmt.Errorf("%q is no name of a Cray node: %w", name, err)
		}
		n[i] = v
	}
	return CrayNode{n[0], n[1], n[2], n[3], n[4], -1}, nil
}

// ParseCrayMap reads a map in one pass. Lines that are of neither kind, and ranks
// that come twice with different nodes, are said in the warnings; the first counts.
func ParseCrayMap(text string) (m *CrayMap, warnings []string, err error) {
	m = &CrayMap{Nodes: map[int]CrayNode{}, Slots: 8}
	cores := map[int]int{}
	other, twice, without := 0, 0, 0
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if hit := crayLine.FindStringSubmatch(line); hit != nil {
			rank, _ := strconv.Atoi(hit[1])
			node, bad := ParseCrayName(hit[2])
			if bad != nil {
				return nil, nil, bad
			}
			if was, ok := m.Nodes[rank]; ok {
				if was != node {
					twice++
				}
				continue
			}
			m.Nodes[rank] = node
			m.Slots = max(m.Slots, node.Slot+1)
		} else if hit := maskLine.FindStringSubmatch(line); hit != nil {
			rank, _ := strconv.Atoi(hit[1])
			if at := strings.LastIndexByte(hit[2], '1'); at >= 0 {
				cores[rank] = len(hit[2]) - 1 - at // the lowest core is the last digit
			}
		} else if line != "" && !strings.HasPrefix(line, "#") {
			other++
		}
	}
	if len(m.Nodes) == 0 {
		return nil, nil, fmt.Errorf("no line RANK:CNAME such as 0:c3-0c1s4n2")
	}
	for rank, core := range cores {
		if node, ok := m.Nodes[rank]; ok {
			node.Core = core
			m.Nodes[rank] = node
		} else {
			without++
		}
	}
	say := func(n int, what string) {
		if n > 0 {
			warnings = append(warnings, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(other, "lines of the map say neither a node nor a mask and are skipped")
	say(twice, "ranks are on two nodes; the first counts")
	say(without, "masks are of ranks without a node")
	return m, warnings, nil
}

// At returns the place of a rank: the cabinet along x, the row along y, chassis and
// slot upwards along z; then the node of the slot, and the core, 0 where not said.
func (m *CrayMap) At(rank int) (at [5]int, ok bool) {
	n, ok := m.Nodes[rank]
	return [5]int{n.Cabinet, n.Row, n.Chassis*m.Slots + n.Slot, n.Node, max(n.Core, 0)}, ok
}

// CrayAxes names the values of At.
var CrayAxes = []string{"x", "y", "z", "node", "core"}

// Dims is the size of the box that holds all places.
func (m *CrayMap) Dims() (dims [5]int) {
	for rank := range m.Nodes {
		at, _ := m.At(rank)
		for a, v := range at {
			dims[a] = max(dims[a], v+1)
		}
	}
	return dims
}

// Metadata returns the values that layouts read by metadata(key) on a Cray: x, y, z, cpu (the node of a
// slot), core, cabinet, row, chassis, slot, node, and max_x, max_y, max_z. Ranks that the map does not have
// get NaN; ok is false for other keys.
func (m *CrayMap) Metadata(key string, ranks []int) (values []float64, ok bool) {
	key = strings.ToLower(key)
	dims := m.Dims()
	number := map[string]func(CrayNode, [5]int) int{
		"x": func(_ CrayNode, at [5]int) int { return at[0] }, "y": func(_ CrayNode, at [5]int) int { return at[1] },
		"z":       func(_ CrayNode, at [5]int) int { return at[2] },
		"cpu":     func(n CrayNode, _ [5]int) int { return n.Node },
		"core":    func(_ CrayNode, at [5]int) int { return at[4] },
		"cabinet": func(n CrayNode, _ [5]int) int { return n.Cabinet },
		"row":     func(n CrayNode, _ [5]int) int { return n.Row },
		"chassis": func(n CrayNode, _ [5]int) int { return n.Chassis },
		"slot":    func(n CrayNode, _ [5]int) int { return n.Slot },
		"node":    func(n CrayNode, _ [5]int) int { return n.Node },
		"max_x":   func(CrayNode, [5]int) int { return dims[0] - 1 },
		"max_y":   func(CrayNode, [5]int) int { return dims[1] - 1 },
		"max_z":   func(CrayNode, [5]int) int { return dims[2] - 1 },
	}[key]
	if number == nil {
		return nil, false
	}
	values = make([]float64, len(ranks))
	for i, rank := range ranks {
		values[i] = math.NaN()
		if at, has := m.At(rank); has {
			values[i] = float64(number(m.Nodes[rank], at))
		}
	}
	return values, true
}
