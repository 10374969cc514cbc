package write

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// TAU is a directory of text profiles, profile.NODE.CONTEXT.THREAD.
//
//	process                  node: its rank, or its place among the processes
//	locations below it       thread
//	region, category         timer, group; file and line as "[{file} {line,0}]"
//	calls, time              flat entries, and call paths "A => B"
//	counter, instant         user event
//	numbers of intervals     user event of the attribute's name: how many, least, mean, most
//	message                  user event "Message size sent to node N"
//	machine, attributes of locations, coordinates, properties    metadata
//
// A profile is a sum: when things happened, which interval had which attribute and
// communicators are no part of it. Texts of intervals cannot be summed up; the
// metadata "Left out" of a thread says how many there were of each.
var TAU = &Format{Name: "tau", Title: "TAU text profiles, one file a thread", Create: createTAU}

type tau struct {
	*definitions
	pending pending
	once    sync.Once
	threads map[trace.LocationID]tauThread
	// coordinates of each location, as metadata.
	coordinates map[trace.LocationID][][2]string
	attributeOf map[trace.AttributeID]string

	guard  sync.Mutex // guards the fields below
	events map[trace.LocationID]map[string]*tauEvent
	done   map[trace.LocationID]bool
}

type tauThread struct{ node, thread int }

// A tauEvent is a user event.
type tauEvent struct{ count, max, min, sum, squares float64 }

func (e *tauEvent) add(v float64) {
	if e.count == 0 {
		e.max, e.min = v, v
	}
	e.count++
	e.max, e.min, e.sum, e.squares = max(e.max, v), min(e.min, v), e.sum+v, e.squares+v*v
}

func createTAU(path string) (File, error) {
	p, err := newPending(path, true)
	if err != nil {
		return nil, err
	}
	return &tau{definitions: newDefinitions("tau", func(c string) string { return c }), pending: p,
		events: map[trace.LocationID]map[string]*tauEvent{}, done: map[trace.LocationID]bool{}}, nil
}

// number gives each location its node and thread, and its coordinates, when all
// are defined.
func (f *tau) number() {
	f.mu.RLock()
	defer f.mu.RUnlock()
	f.threads = make(map[trace.LocationID]tauThread, len(f.locations))
	f.coordinates = map[trace.LocationID][][2]string{}
	f.attributeOf = map[trace.AttributeID]string{}
	for name, id := range f.attributeIDs {
		f.attributeOf[id] = name
	}
	for _, t := range f.topologies {
		for _, c := range t.Coordinates {
			f.coordinates[c.Location] = append(f.coordinates[c.Location],
				[2]string{"coordinates in " + t.Name, strings.Trim(fmt.Sprint(c.At), "[]")})
		}
	}
	nodes := map[trace.LocationID]int{}
	next := map[trace.LocationID]int{}
	for i := range f.locations {
		id := trace.LocationID(i)
		process := id
		for up := id; up != trace.NoLocation; up = f.locations[up].Parent {
			if f.locations[up].Kind == trace.KindProcess {
				process = up
			}
		}
		node, ok := nodes[process]
		if !ok {
			if node = f.locations[process].Rank; node == trace.NoRank {
				node = len(nodes)
			}
			nodes[process] = node
		}
		f.threads[id] = tauThread{node, next[process]}
		next[process]++
	}
	// A process with others below it does little itself: its threads count from 0.
	for id, t := range f.threads {
		if p := f.locations[id].Parent; f.locations[id].Kind != trace.KindProcess && p != trace.NoLocation &&
			t.thread > 0 {
			t.thread--
			f.threads[id] = t
		} else if f.locations[id].Kind == trace.KindProcess && next[id] > 1 {
			f.threads[id] = tauThread{t.node, next[id] - 1}
		}
	}
}

func (f *tau) thread(id trace.LocationID) tauThread {
	f.once.Do(f.number)
	return f.threads[id]
}

func (f *tau) event(at trace.LocationID, name string) *tauEvent {
	list := f.events[at]
	if list == nil {
		list = map[string]*tauEvent{}
		f.events[at] = list
	}
	e := list[name]
	if e == nil {
		e = &tauEvent{}
		list[name] = e
	}
	return e
}

func (f *tau) Link(l trace.Link) {
	name := fmt.Sprintf("Message size sent to node %d", f.thread(l.To.Location).node)
	if l.Kind != trace.LinkMessage {
		name = fmt.Sprintf("%s to node %d", l.Kind, f.thread(l.To.Location).node)
	}
	f.guard.Lock()
	defer f.guard.Unlock()
	f.event(l.From.Location, name).add(float64(max(l.Size, 0)))
}

func (f *tau) Stream(at trace.LocationID, _ trace.StreamOptions) trace.Stream {
	f.thread(at)
	return &tauStream{f: f, at: at, children: map[tauKey]int32{}}
}

func (f *tau) name(at trace.LocationID) string {
	t := f.thread(at)
	return filepath.Join(f.pending.temporary, fmt.Sprintf("profile.%d.0.%d", t.node, t.thread))
}

// Commit writes the user events, which are known only now.
func (f *tau) Commit() error {
	for at := range f.events {
		if !f.done[at] { // a location that only sends
			f.fail((&tauStream{f: f, at: at}).write())
		}
	}
	for at, list := range f.events {
		f.fail(f.appendEvents(at, list))
	}
	err := f.failed()
	if err == nil {
		err = f.pending.commit()
	}
	if err != nil {
		f.Abort()
	}
	return err
}

func (f *tau) Abort() { f.pending.abort() }

func (f *tau) appendEvents(at trace.LocationID, list map[string]*tauEvent) error {
	file, err := os.OpenFile(f.name(at), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	fmt.Fprintf(w, "%d userevents\n# eventname numevents max min mean sumsqr\n", len(list))
	names := make([]string, 0, len(list))
	for n := range list {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		e := list[n]
		fmt.Fprintf(w, "\"%s\" %s %s %s %s %s\n", n, short(e.count), short(e.max), short(e.min), short(e.sum/e.count),
			short(e.squares))
	}
	return cmp.Or(w.Flush(), file.Close())
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// metadata returns the metadata of a location: all facts of it and its parents, and the omissions.
func (f *tau) metadata(at trace.LocationID, left string) string {
	var b strings.Builder
	b.WriteString("<metadata>")
	put := func(key, value string) {
		fmt.Fprintf(&b, "<attribute><name>%s</name><value>%s</value></attribute>", html.EscapeString(oneLine(key)),
			html.EscapeString(oneLine(value)))
	}
	put("Metric Name", "TIME")
	for _, p := range f.properties {
		put(p[0], p[1])
	}
	host := ""
	for up := at; up != trace.NoLocation; up = f.locations[up].Parent {
		if l := &f.locations[up]; l.Kind == trace.KindMachine && host == "" {
			host = l.Name
		}
		for _, a := range f.locations[up].Attributes {
			put(a.Key, a.Value.String())
		}
		for _, c := range f.coordinates[up] {
			put(c[0], c[1])
		}
	}
	if host != "" {
		put("Hostname", host)
	}
	if left != "" {
		put("Left out", left)
	}
	b.WriteString("</metadata>")
	return b.String()
}

func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }
