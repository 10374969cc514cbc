package topology

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/proposal"
	"github.com/parallax-hpc/parallax/internal/analysis/ranks"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Proposal is a layout that the run suggests, in the JSON output.
type Proposal struct {
	Kind     string `json:"kind"`     // coordinates, grid, nodes, hosts, chain, rows or hilbert
	Layout   string `json:"layout"`   // value of --layout that draws it
	Dims     []int  `json:"dims"`     // places on each axis, or on each level of host names
	Periodic []bool `json:"periodic"` // of a grid or chain, by axis: traffic goes round the edge
	// Explained is the share of the structure of traffic that a grid or chain explains; null
	// of others.
	Explained *float64 `json:"explained"`
	// Neighbours is the share of how the value of ByWeight differs that neighbours tell; 0 or less: nothing.
	Neighbours float64 `json:"neighbours"`
}

// proposals are the layouts that a run suggests, the one to begin with first.
type proposals struct {
	layouts []proposal.Layout
	role    trace.Role // whose time tells most; RoleCompute: all busy time
	rank    []int32    // of each location; -1: none
}

func (p *proposals) sizeBytes() int64 {
	n := int64(4 * len(p.rank))
	for _, l := range p.layouts {
		n += 48 * int64(len(l.Places))
	}
	return n
}

// A layouts value is kept next to the store.
type layouts struct {
	Found []proposal.Layout
	Role  trace.Role // see byWeight
}

// keptLayouts are layouts with all places in one column, which is read in a tenth of the time.
type keptLayouts struct {
	Found []proposal.Layout // without those in columns
	Role  trace.Role
	Width []int     // coordinates of a place; 0: the layout has no column
	Place [][]int32 // of each, place after place
}

// GobEncode implements gob.GobEncoder.
func (l *layouts) GobEncode() ([]byte, error) {
	k := keptLayouts{Found: slices.Clone(l.Found), Role: l.Role}
	for i := range k.Found {
		width, column := flat(k.Found[i].Places)
		if width > 0 {
			k.Found[i].Places = nil
		}
		k.Width, k.Place = append(k.Width, width), append(k.Place, column)
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(k)
	return b.Bytes(), err
}

// flat puts places one after the other; the width is 0 if there are none, or not all have as many coordinates.
func flat(places [][]int) (width int, column []int32) {
	for _, p := range places {
		if width = len(places[0]); len(p) != width {
			return 0, nil
		}
		for _, x := range p {
			column = append(column, int32(x))
		}
	}
	return width, column
}

// GobDecode implements gob.GobDecoder.
func (l *layouts) GobDecode(data []byte) error {
	var k keptLayouts
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&k); err != nil {
		return err
	}
	if len(k.Width) != len(k.Found) || len(k.Place) != len(k.Found) {
		return errors.New("layouts without places")
	}
	for i, width := range k.Width {
		if width <= 0 {
			continue
		}
		all := make([]int, len(k.Place[i]))
		for j, x := range k.Place[i] {
			all[j] = int(x)
		}
		places := make([][]int, len(all)/width)
		for j := range places {
			places[j] = all[j*width : (j+1)*width : (j+1)*width]
		}
		k.Found[i].Places = places
	}
	l.Found, l.Role = k.Found, k.Role
	return nil
}

// LayoutsOfRun are the layouts of a run from where its ranks are. Their order goes by the value of byWeight
// over the whole run: a value that is chosen later moves nothing. In a run without ranks, there are none.
var LayoutsOfRun = derived.Derived[*layouts]{Name: "layouts", Version: 4, Keeps: view.HasMany,
	Make: func(ctx context.Context, run *view.Run) (*layouts, error) {
		ranks, err := ranks.Of(ctx, run.Store)
		if err != nil || ranks == nil {
			return &layouts{}, err
		}
		roles, times, err := ranks.RoleTimes(ctx, run.Store)
		if err != nil {
			return nil, err
		}
		role, value := byWeight(roles, times, ranks.Count)
		return &layouts{proposal.Layouts(&ranks.Ranks, value), role}, nil
	}}

// propose finds the layouts of a run. In a run without ranks, locations count as ranks, in their order.
func propose(ctx context.Context, run *view.Run, who *roster) (*proposals, error) {
	found, err := LayoutsOfRun.Of(ctx, run)
	if err != nil {
		return nil, err
	}
	t := run.Store.Locations()
	if len(found.Found) > 0 {
		return &proposals{layouts: found.Found, role: found.Role, rank: t.Rank}, nil
	}
	return derived.Keep(run.Cache, "topology proposals", (*proposals).sizeBytes, func() (*proposals, error) {
		out := &proposals{role: trace.RoleCompute, rank: slices.Repeat([]int32{-1}, t.Len())}
		for i, id := range who.location {
			out.rank[id] = int32(i)
		}
		out.layouts = proposal.Layouts(&trace.Ranks{Count: len(who.location)}, nil)
		return out, nil
	})
}

// valueOf names the value of byWeight.
func valueOf(role trace.Role) string {
	if role == trace.RoleCompute {
		return "busy time"
	}
	return "time in " + role.String()
}

// leastBusy is the share of busy time of all below which it says nothing about a run.
const leastBusy = 0.01

// byWeight returns the value by which ranks are first compared: the time for which each is busy, or where that is
// nearly none of all time, the time in the role that has most.
func byWeight(roles []trace.Role, times [][]float64, ranks int) (trace.Role, []float64) {
	busy, most, all, total, place := make([]float64, ranks), 0.0, 0.0, 0.0, -1
	for k, role := range roles {
		sum := 0.0
		for rank, t := range times[k] {
			sum += t
			if role.Busy() {
				busy[rank] += t
			}
		}
		if all += sum; role.Busy() {
			total += sum
		} else if role != trace.RoleIdle && sum > most {
			most, place = sum, k
		}
	}
	if place < 0 || total >= leastBusy*all {
		return trace.RoleCompute, busy
	}
	return roles[place], times[place]
}

// nameOf is the name of a proposal in --layout: its kind, and for hosts the number of
// levels.
func nameOf(l *proposal.Layout) string {
	if l.Kind == proposal.Hosts {
		return "hosts:" + strconv.Itoa(len(l.Dims))
	}
	return string(l.Kind)
}

// names are the names of the proposals in --layout; coordinates have the name of their
// topology.
func (p *proposals) names(coordinates string) []string {
	out := make([]string, len(p.layouts))
	for k := range p.layouts {
		if out[k] = nameOf(&p.layouts[k]); p.layouts[k].Kind == proposal.Coordinates {
			out[k] = coordinates
		}
	}
	return out
}

// find returns the proposal of a kind; of hosts also with a number of levels. known: the
// word is a kind.
func (p *proposals) find(word string) (l *proposal.Layout, known bool) {
	kind, levels, _ := strings.Cut(word, ":")
	for k := range p.layouts {
		x := &p.layouts[k]
		if string(x.Kind) == kind && kind != string(proposal.Coordinates) &&
			(levels == "" || x.Kind == proposal.Hosts && levels == strconv.Itoa(len(x.Dims))) {
			return x, true
		}
	}
	return nil, slices.Contains([]string{"grid", "nodes", "hosts", "chain", "hilbert"}, kind)
}

// list is the JSON output of proposals.
func (p *proposals) list(coordinates string) []Proposal {
	out := make([]Proposal, len(p.layouts))
	for k, name := range p.names(coordinates) {
		l := &p.layouts[k]
		out[k] = Proposal{Kind: string(l.Kind), Layout: name, Dims: l.Dims, Periodic: append([]bool{}, l.Periodic...),
			Neighbours: l.Neighbours}
		if l.Periodic != nil {
			out[k].Explained = &l.Traffic
		}
	}
	return out
}

// proposalName names a proposal; coordinates are those of a topology.
func proposalName(l *proposal.Layout, topology string) string {
	text := map[proposal.Kind]string{proposal.Grid: "rank grid", proposal.Nodes: "nodes × ranks", proposal.Rows: "rows",
		proposal.Hilbert: "Hilbert curve", proposal.Hosts: "hosts", proposal.Chain: "chain",
		proposal.Coordinates: topology}[l.Kind]
	sides := l.Dims
	if l.Kind == proposal.Nodes { // nodes first, as the name has them
		sides = []int{l.Dims[1], l.Dims[0]}
	}
	return text + " " + proposal.Sides(sides)
}

// proposalLabel names a proposal in a list, with its score.
func proposalLabel(l *proposal.Layout, topology string) string {
	text := proposalName(l, topology)
	if l.Neighbours > 0 {
		text += fmt.Sprintf(" (%s)", view.FormatShare(l.Neighbours))
	}
	return text
}

// neighbourNote is how well the neighbours in a layout explain a value; "" if they explain nothing.
func neighbourNote(l *proposal.Layout, value string) string {
	if !(l.Neighbours > 0) {
		return ""
	}
	return fmt.Sprintf("neighbours explain %s of how %s differs", view.FormatShare(l.Neighbours), value)
}

// proposalNote names the data that a layout was proposed from.
func proposalNote(l *proposal.Layout) string {
	text := ""
	switch l.Kind {
	case proposal.Grid:
		text = fmt.Sprintf("the grid of %s was found in the messages: it explains %s of where they go",
			proposal.Sides(l.Dims), view.FormatShare(l.Traffic))
		var round []string
		for a, is := range l.Periodic {
			if is {
				round = append(round, gridAxes(len(l.Dims))[a])
			}
		}
		if round != nil {
			text += "; messages go round its edge along " + strings.Join(round, " and ")
		}
	case proposal.Chain:
		text = fmt.Sprintf("messages go along a line of ranks (%s of where they go), which is folded into rows to "+
			"and fro",
			view.FormatShare(l.Traffic))
	case proposal.Nodes:
		text = fmt.Sprintf("%d nodes of up to %d ranks", l.Dims[1], l.Dims[0])
	case proposal.Hosts:
		text = fmt.Sprintf("blocks are the groups of %s of the host names", view.Count(len(l.Dims), "level"))
	}
	return text
}

func gridAxes(sides int) []string {
	if sides == 2 {
		return []string{"column", "row"}
	}
	return []string{"axis 1", "axis 2", "axis 3", "axis 4"}
}

// byPlaces places locations where a proposal puts their ranks. The locations of one rank are
// a block there.
func (r *result) byPlaces(l *proposal.Layout) error {
	axes := []string{"x", "y", "z"}
	switch {
	case l.Kind == proposal.Grid:
		axes = gridAxes(len(l.Dims))[:min(len(l.Dims), 3)]
	case l.Kind == proposal.Nodes && slices.Equal(l.Dims, sidesOf(l.Places)):
		axes = []string{"rank of the node", "node"}
	case l.Kind != proposal.Rows:
		r.bare = true // numbers of places say nothing
	}
	p := r.start(nameOf(l), axes...)
	number, block := r.inRank(len(l.Places))
	for i, id := range r.location {
		rank := r.proposed.rank[id]
		if rank < 0 || int(rank) >= len(l.Places) {
			p.X[i], p.Y[i], p.Z[i] = math.NaN(), math.NaN(), math.NaN()
			continue
		}
		r.placed[0][i] = true
		at := l.Places[rank]
		p.X[i], p.Y[i] = float64(at[0]), float64(at[1])
		if len(at) > 2 {
			p.Z[i] = float64(at[2])
		}
		if block > 1 {
			p.X[i] = p.X[i]*float64(block+1) + float64(number[i]%block)
			p.Y[i] = p.Y[i]*float64(block+1) + float64(number[i]/block)
		}
	}
	r.board = r.boardOf(l)
	r.blocks = blockNames(l, r.location, r.proposed.rank)
	r.blockOf = l.Of
	r.heading, r.explains = proposalName(l, r.layout), neighbourNote(l, valueOf(r.proposed.role))
	if note := proposalNote(l); note != "" {
		r.notes = append(r.notes, note)
	}
	return nil
}

// blockNames are the names of a layout's blocks, by the first location of the rank that
// each is read at.
func blockNames(l *proposal.Layout, locations []trace.LocationID, rank []int32) map[trace.LocationID]string {
	name := make(map[int32]string, len(l.Blocks))
	for _, b := range l.Blocks {
		name[int32(b.Rank)] = b.Name
	}
	out := make(map[trace.LocationID]string, len(l.Blocks))
	for _, id := range locations {
		if text, ok := name[rank[id]]; ok {
			out[id] = text
			delete(name, rank[id])
		}
	}
	return out
}

// inRank numbers the locations of each rank that has a place, and returns the side of the square that holds those of
// any.
func (r *result) inRank(places int) (number []int, side int) {
	number = make([]int, len(r.location))
	count, most := make([]int, places), 1
	for i, id := range r.location {
		rank := r.proposed.rank[id]
		if rank < 0 || int(rank) >= places {
			continue
		}
		number[i] = count[rank]
		count[rank]++
		most = max(most, count[rank])
	}
	return number, int(math.Ceil(math.Sqrt(float64(most))))
}

// sidesOf is how many places there are on each of two axes.
func sidesOf(places [][]int) []int {
	out := []int{0, 0}
	for _, p := range places {
		out[0], out[1] = max(out[0], p[0]+1), max(out[1], p[1]+1)
	}
	return out
}
