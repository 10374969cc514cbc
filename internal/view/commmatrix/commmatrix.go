// Package commmatrix shows communication: links added up by sender and receiver, as a
// heat map with a row for each sender and a column for each receiver.
//
// Links of a trace count where they start, so that windows add up; links of a
// profile have no time and always count. Both ends are taken to the process they
// belong to, or to another level of the location tree.
package commmatrix

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:    "commmatrix",
	Title:   "Communication",
	Summary: "who sends to whom: messages by sender and receiver, by bytes, count or time",
	HowToRead: "A row is a sender, a column a receiver, in the order of the location tree; a cell is all messages " +
		"from the one to the other. " +
		"Bright is much, dark is little, empty is nothing. A diagonal band means neighbours, a full row a broadcast, " +
		"a full column a gather. " +
		"Where there are more senders than pixels a cell stands for a block of them. With --metric bytes, count or " +
		"time the colours mean that; time is from the start of a link to its end. Where a run has no messages at all " +
		"its other links are shown, such as launches, and the names of the directions say so. " +
		"With --space bars or mesh the same stands in space, with the value as height. Choose a cell to select its " +
		"two locations.",
	Needs: view.Needs{Links: true},
	Options: view.Words(view.Use("metric=bytes", "group=process", "arrange", "space", "camera=30,35,1", "palette"),
		"group: what sends and receives: location, or a kind of location such as process or machine"),
	Report:  view.Report{Place: 9, Height: 440, AllLocations: true, Lacks: within},
	Data:    []any{Data{}},
	Compute: compute,
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
	index   map[trace.LocationID]int
	total   cell
	what    string // that the links are: messages, launches …
	notes   []string
	camera  scene.Camera
}

// pair is the key of a cell.
type pair struct{ from, to trace.LocationID }

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	r := &result{request: q, tree: s.Locations(), metric: q.Values.Text("metric"), index: map[trace.LocationID]int{}}
	if r.metric != "bytes" && r.metric != "count" && r.metric != "time" {
		return nil, words.NotOneOf("--metric", r.metric, "bytes", "count", "time")
	}
	if q.Selection.Locations != nil && len(q.Selection.Locations) == 0 {
		return nil, view.Empty("choose other locations", "no location is selected")
	}
	if s.Info().Timed() && q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose a longer time", "no time is selected")
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
// links (launches, flows) only where there are none.
func (r *result) add(ctx context.Context, level []trace.LocationID) (map[pair]*cell, error) {
	sums := map[bool]map[pair]*cell{true: {}, false: {}}
	counts := map[bool]int64{}
	var kinds [trace.LinkFlow + 1]int64
	links, err := r.links(ctx)
	for _, l := range links {
		message := l.Kind == trace.LinkMessage
		key := pair{level[l.From], level[l.To]}
		c := sums[message][key]
		if c == nil {
			c = &cell{from: key.from, to: key.to}
			sums[message][key] = c
		}
		c.count += l.Count
		counts[message] += l.Count
		kinds[min(l.Kind, trace.LinkFlow)] += l.Count
		c.bytes += l.Bytes
		c.sized = c.sized || l.Sized > 0
		if !l.Untimed {
			c.time = int64(trace.AddUp(trace.Time(c.time), l.Time))
			c.timed = true
		}
	}
	r.what = linkWords[trace.LinkMessage]
	if err == nil && counts[true] == 0 && counts[false] > 0 {
		r.what = "links"
		for kind, n := range kinds {
			if n == counts[false] {
				r.what = linkWords[kind]
			}
		}
		r.notes = append(r.notes,
			fmt.Sprintf("nobody sends anything here: there are no messages in the selection, and these are its %s, "+
				"from what made or woke something to what it made or woke", r.what))
		return sums[false], nil
	}
	if counts[false] > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s links that are no messages (launches, flows …) are left out",
				view.Thousands(counts[false])))
	}
	return sums[true], err
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
func (r *result) finish(cells map[pair]*cell) {
	backwards := int64(0)
	for _, c := range cells {
		r.cells = append(r.cells, *c)
		r.total.count += c.count
		r.total.bytes += c.bytes
		r.total.time = int64(trace.AddUp(trace.Time(r.total.time), trace.Time(c.time)))
		r.total.timed = r.total.timed || c.timed
		r.total.sized = r.total.sized || c.sized
		for _, id := range [2]trace.LocationID{c.from, c.to} {
			if _, ok := r.index[id]; !ok {
				r.index[id] = 0
				r.members = append(r.members, id)
			}
		}
		if c.time < 0 {
			backwards++
		}
	}
	slices.Sort(r.members)
	r.Arrangement().Sort(r.members)
	r.notes = r.Arrangement().AddNote(r.notes)
	for i, id := range r.members {
		r.index[id] = i
	}
	slices.SortFunc(r.cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(r.index[a.from], r.index[b.from]), cmp.Compare(r.index[a.to], r.index[b.to]))
	})
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
