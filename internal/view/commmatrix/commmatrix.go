// Package commmatrix shows communication: links added up by sender and receiver, as a
// heat map with a row for each sender and a column for each receiver.
//
// Links of a trace count where they start, so that windows add up; links of a
// profile have no time and always count. Both ends are taken to the process they
// belong to, or to another level of the location tree.
package commmatrix

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:    "commmatrix",
	Title:   "Communication",
	Summary: "messages by sender and receiver: bytes, number or time",
	HowToRead: "Each row is a sender and each column a receiver, in the order of the location tree. A cell stands " +
		"for all messages from one to the other. Bright is much, dark is little, empty is none. A diagonal band is " +
		"communication between neighbours, a full row a broadcast, a full column a gather. If there are more " +
		"senders than pixels, a cell covers a block of them. --metric bytes, count or time chooses the value; time " +
		"is from the start of a message to its end. For a run without messages the view shows its other links, such " +
		"as launches, and the axis titles name them. --space bars or mesh draws the values as height in 3D. Click a " +
		"cell to select its two locations.",
	Needs: view.Needs{Links: true},
	Options: view.Words(view.Use("metric=bytes", "group=process", "arrange", "space", "camera=30,35,1", "palette"),
		"group: senders and receivers: location, or a kind of location such as process or machine"),
	Report:  view.Report{Place: 9, Height: 440, AllLocations: true, Lacks: within},
	Data:    []any{Data{}},
	Compute: view.InTime(compute),
}

// A cell is all links from one location to another.
type cell struct {
	from, to           trace.LocationID
	count, bytes, time int64
	timed, sized       bool
}

type result struct {
	view.Arranged
	request *view.Request
	tree    *store.Tree
	metric  string
	cells   []cell             // by sender, then receiver
	members []trace.LocationID // that send or receive, in order
	index   []int32            // of a location among the members; -1: it is none
	total   cell
	what    string // that the links are: messages, launches …
	notes   []string
	camera  scene.Camera
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	r := &result{request: q, tree: s.Locations(), metric: q.Values.Text("metric")}
	if r.metric != "bytes" && r.metric != "count" && r.metric != "time" {
		return nil, words.NotOneOf("--metric", r.metric, "bytes", "count", "time")
	}
	if q.Selection.Locations != nil && len(q.Selection.Locations) == 0 {
		return nil, view.Empty("choose other locations", "no location is selected")
	}
	var err error
	if r.camera, err = scene.ParseCamera(q.Values.Text("camera")); err != nil {
		return nil, err
	}
	level, err := r.levels(q.Values.Text("group"))
	if err != nil {
		return nil, err
	}
	cells, err := r.add(ctx, level)
	if err != nil {
		return nil, err
	}
	if r.Arranged, err = q.Arrange(ctx, grouping.Order); err != nil {
		return nil, err
	}
	r.finish(cells)
	if len(r.cells) == 0 {
		return nil, view.Empty("choose a longer time or other locations", "no link in the selection")
	}
	return r, nil
}

// levels returns for each location the one that stands for it: its process, itself,
// or its ancestor of a kind.
func (r *result) levels(group string) ([]trace.LocationID, error) {
	out := make([]trace.LocationID, r.tree.Len())
	found := group == "location"
	for id := range out {
		out[id] = trace.LocationID(id)
		p := r.tree.Parent[id]
		switch {
		case group == "location":
		case string(r.tree.Kind[id]) == group:
			found = true
		case p != trace.NoLocation && string(r.tree.Kind[out[p]]) == group:
			out[id] = out[p]
		}
	}
	if !found && group != "process" {
		kinds := []string{"location"}
		for _, k := range r.tree.Kind {
			if !slices.Contains(kinds, string(k)) {
				kinds = append(kinds, string(k))
			}
		}
		return nil, words.NotOneOf("--group", group, kinds...)
	}
	return out, nil
}

// add sums the links up. Messages are meant where there are some; other kinds of
// links (launches, flows) only if there are none.
func (r *result) add(ctx context.Context, level []trace.LocationID) ([]cell, error) {
	var kinds [trace.LinkFlow + 1]int64
	links, err := r.links(ctx)
	for i := range links {
		kinds[min(links[i].Kind, trace.LinkFlow)] += links[i].Count
	}
	messages, others := kinds[trace.LinkMessage], int64(0)
	for kind, n := range kinds {
		if kind != int(trace.LinkMessage) {
			others += n
		}
	}
	r.what = linkWords[trace.LinkMessage]
	if err == nil && messages == 0 && others > 0 {
		r.what = "links"
		for kind, n := range kinds {
			if n == others {
				r.what = linkWords[kind]
			}
		}
		r.notes = append(r.notes,
			fmt.Sprintf("there are no messages in the selection, and these are its %s, from "+
				"what made or woke something to what it made or woke", r.what))
		return cellsOf(links, level, false), nil
	}
	if others > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s links that are no messages (launches, flows …) are left out",
				view.Thousands(others)))
	}
	return cellsOf(links, level, true), err
}

// cellsOf adds up links by the locations that stand for their ends: messages, or all others.
func cellsOf(links []store.LinkSum, level []trace.LocationID, messages bool) []cell {
	at, pairs := store.Pairs(links, len(level), func(l *store.LinkSum) (from, to int, ok bool) {
		return int(level[l.From]), int(level[l.To]), (l.Kind == trace.LinkMessage) == messages
	})
	out := make([]cell, pairs)
	for i, k := range at {
		if k < 0 {
			continue
		}
		c, l := &out[k], &links[i]
		c.from, c.to = level[l.From], level[l.To]
		c.count += l.Count
		c.bytes += l.Bytes
		c.sized = c.sized || l.Sized > 0
		if !l.Untimed {
			c.time = int64(trace.AddUp(trace.Time(c.time), l.Time))
			c.timed = true
		}
	}
	return out
}

// links returns those that start in the selection, added up. A run without intervals has no time to
// select.
func (r *result) links(ctx context.Context) ([]store.LinkSum, error) {
	s, w := r.request.Store(), r.request.Window()
	if s.Info().Timed() {
		return store.LinkSums(ctx, s, w)
	}
	return store.AddLinks(ctx, s, w, func(trace.Time) bool { return true })
}

// linkWords are names of many links of a kind.
var linkWords = [...]string{trace.LinkMessage: "messages", trace.LinkSpawn: "launches", trace.LinkSteal: "steals",
	trace.LinkWake: "wake-ups", trace.LinkFlow: "flows"}

// ends names the ends of links that rows and columns stand for.
func (r *result) ends() (row, column string) {
	if r.what == linkWords[trace.LinkMessage] {
		return "sender", "receiver"
	}
	return "from", "to"
}

// shown names the value that colours stand for, in a word.
func (r *result) shown() string {
	switch {
	case r.metric == "bytes" && r.total.sized, r.metric == "time" && r.total.timed:
		return r.metric
	}
	return r.what
}

// finish sorts the cells and lists the members.
func (r *result) finish(cells []cell) {
	backwards := int64(0)
	r.cells, r.index = cells, slices.Repeat([]int32{-1}, r.tree.Len())
	for i := range cells {
		c := &cells[i]
		r.total.count += c.count
		r.total.bytes += c.bytes
		r.total.time = int64(trace.AddUp(trace.Time(r.total.time), trace.Time(c.time)))
		r.total.timed = r.total.timed || c.timed
		r.total.sized = r.total.sized || c.sized
		r.index[c.from], r.index[c.to] = 0, 0
		if c.time < 0 {
			backwards++
		}
	}
	for id, k := range r.index {
		if k >= 0 {
			r.members = append(r.members, trace.LocationID(id))
		}
	}
	r.Arrangement().Sort(r.members)
	r.notes = r.Arrangement().AddNote(r.notes)
	for i, id := range r.members {
		r.index[id] = int32(i)
	}
	var sorter spool.Sorter[cell]
	sorter.Sort(r.cells, spool.Order[cell]{
		Key: func(c *cell) int64 { return int64(r.index[c.from])<<32 | int64(r.index[c.to]) }})
	if backwards > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s pairs have links that arrive before they start: the clocks of the source differ",
				view.Thousands(backwards)))
	}
	if r.metric == "time" && !r.total.timed && len(r.cells) > 0 {
		r.notes = append(r.notes, "the links of a profile have no time; colours mean their count")
	} else if r.metric == "bytes" && !r.total.sized && len(r.cells) > 0 {
		r.notes = append(r.notes, "the links have no size; colours mean their count")
	}
}

// value is the value that colours stand for.
func (r *result) value(c *cell) float64 {
	switch {
	case r.metric == "bytes" && r.total.sized:
		return float64(c.bytes)
	case r.metric == "time" && r.total.timed:
		return float64(c.time)
	}
	return float64(c.count)
}

func (r *result) format(v float64) string {
	switch {
	case r.metric == "bytes" && r.total.sized:
		return view.FormatBytes(v)
	case r.metric == "time" && r.total.timed:
		return view.FormatDuration(v)
	}
	return view.FormatCount(v)
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
