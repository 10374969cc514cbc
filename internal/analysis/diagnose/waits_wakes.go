package diagnose

// Waits of idle processors: for the goroutine that runs next, back along the chain of wake-ups.

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/wake"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// mostStretches is how many intervals of goroutines are held at a time; longer runs are
	// followed in parts, and no wait beyond its part.
	mostStretches = 1 << 20
	// mostPieces bounds how many pieces of waits for locks are held of a part.
	mostPieces = 1 << 20
)

// A goState is the state of a goroutine, as far as it matters for waits.
type goState uint8

const (
	noState goState = iota
	runs
	runsNot // it could
	calls   // the system
	waits
)

// wakeReader finds the causes of idle processors. An idle processor waits for the goroutine of the program that it
// runs next, or the last of the run. Another goroutine woke or made that one, and so on back along the wake-up
// chain: the processor waited for the work along it.
type wakeReader struct {
	*scheduler
	state   []goState // by region
	actors  []trace.LocationID
	actorOf []int32 // by location, -1
	places  []goPlace
	placeOf map[string]int32 // by stack
	own     []bool           // by actor: it works for the runtime
	start   []trace.RegionID // by actor: the function it starts in

	log    *wake.Log
	starts map[trace.RegionID][]startOf // when goroutines of a function come to run, in the part
	last   startOf                      // the one of the program that runs last in the part
	causes map[wakeCause]*Cause
	held   map[holding]trace.Time
	cut    bool // not all waits for locks were followed
}

type startOf struct {
	at    trace.Time
	actor int32
}

type wakeCause struct {
	kind   string
	at     trace.LocationID
	region string
}

// A holding is goroutines of a function that wait while those of another run, or sleep, up to where they give a lock
// back or receive.
type holding struct {
	waits, runs trace.LocationID
	place       int32
	send        bool   // it waits for a receiver, not for a lock
	meanwhile   string // what the holder or receiver does that does not run: "sleeps"
}

// A goPlace is where a goroutine woke or made another.
type goPlace struct {
	function, file string // the file without its directory
	path           string // with it
	lock, join     bool
}

// newPlace reads a stack, which has a line "function file:line" a frame, innermost first.
func newPlace(stack string) (p goPlace) {
	for frame := range strings.Lines(stack) {
		name, file, _ := strings.Cut(strings.TrimSpace(frame), " ")
		if name == "" || strings.HasPrefix(name, "runtime.") && name != "runtime.main" ||
			strings.HasPrefix(name, "sync.") || strings.HasPrefix(name, "internal/") {
			p.lock = p.lock || strings.Contains(name, "nlock")
			p.join = p.join || strings.Contains(name, "WaitGroup")
			continue
		}
		p.function, p.file, p.path = name, path.Base(file), file
		return p
	}
	return p
}

// newWakeReader lists the goroutines, chosen or not: it is they who woke each other.
func newWakeReader(s *scheduler) *wakeReader {
	h := &wakeReader{scheduler: s, state: make([]goState, len(s.regions)), actorOf: make([]int32, s.tree.Len()),
		placeOf: map[string]int32{}, causes: map[wakeCause]*Cause{}, held: map[holding]trace.Time{}}
	for i := range s.regions {
		h.state[i] = stateOf(&s.regions[i])
	}
	for id, k := range s.tree.Kind {
		h.actorOf[id] = -1
		if k == trace.KindGoroutine {
			h.actorOf[id] = int32(len(h.actors))
			h.actors = append(h.actors, trace.LocationID(id))
		}
	}
	h.own, h.start = make([]bool, len(h.actors)), slices.Repeat([]trace.RegionID{trace.NoRegion}, len(h.actors))
	return h
}

func stateOf(g *trace.Region) goState {
	name, own := g.Name, g.Category == "runtime"
	if own {
		name = strings.TrimPrefix(name, "runtime ")
	}
	switch {
	case !own && g.Category != "state":
	case name == stateRunning:
		return runs
	case name == stateRunnable:
		return runsNot
	case name == stateSyscall:
		return calls
	case strings.HasPrefix(name, stateWaiting):
		return waits
	}
	return noState
}

// followWakes explains the time in which processors idle, but for that in which one function runs alone.
// Memory is bounded: it goes through the run in parts.
func (s *scheduler) followWakes() error {
	h := newWakeReader(s)
	if len(h.actors) == 0 {
		return nil
	}
	n, err := s.store.Count(store.Window{Begin: s.window.Begin, End: s.window.End, Locations: h.actors})
	if err != nil {
		return err
	}
	parts := trace.Time(n/mostStretches + 1)
	for i := range parts {
		w := store.Window{Begin: s.window.Begin + s.length*i/parts, End: s.window.Begin + s.length*(i+1)/parts}
		if err := h.read(w); err != nil {
			return err
		}
		idle, err := h.idle(w)
		if err != nil {
			return err
		}
		h.explain(idle, h.blocked())
	}
	if !h.cut {
		s.held, s.places = h.held, h.places
	}
	for _, k := range slices.SortedFunc(maps.Keys(h.causes), func(a, b wakeCause) int {
		return cmp.Or(cmp.Compare(h.causes[b].Time, h.causes[a].Time), cmp.Compare(a.at, b.at),
			cmp.Compare(a.region, b.region), cmp.Compare(a.kind, b.kind))
	}) {
		s.handed = append(s.handed, *h.causes[k])
	}
	return nil
}

// read takes the goroutines of a part of the run, and who woke and made whom.
func (h *wakeReader) read(w store.Window) error {
	h.log, h.starts, h.last = wake.New(len(h.actors)), map[trace.RegionID][]startOf{}, startOf{actor: -1}
	w.Locations = h.actors
	var mu sync.Mutex
	running := make([][]trace.Time, len(h.actors))
	begun := map[[2]int32]bool{} // lanes of which something came
	take := func(a int32, begin, end trace.Time, r trace.RegionID) {
		begin, end = max(begin, w.Begin), min(end, w.End)
		switch st := h.state[r]; {
		case h.regions[r].Category == "goroutine":
			h.start[a], h.own[a] = r, h.regions[r].Role == trace.RoleOverhead
		case st != noState && end > begin:
			is := wake.Works
			if st == waits {
				if is = wake.Waits; h.regions[r].Category == "runtime" {
					is = wake.Rests
				}
			}
			h.log.Add(a, begin, end, int32(r), is)
			if st == runs {
				running[a] = append(running[a], begin)
				if h.regions[r].Category == "state" && (end > h.last.at || end == h.last.at && a < h.last.actor) {
					h.last = startOf{end, a}
				}
			}
		}
	}
	err := h.store.Intervals(h.ctx, w, func(x *trace.Columns) error {
		a := h.actorOf[x.Location]
		if a < 0 {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if lane := [2]int32{a, int32(x.Lane)}; !begun[lane] {
			begun[lane] = true
			for _, o := range x.Open {
				take(a, o.Begin, o.End, o.Region)
			}
		}
		for i, r := range x.Region {
			take(a, x.Begin[i], x.End(i), r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for a, list := range running {
		for _, t := range list {
			h.starts[h.start[a]] = append(h.starts[h.start[a]], startOf{t, int32(a)})
		}
	}
	for _, list := range h.starts {
		slices.SortFunc(list,
			func(a, b startOf) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.actor, b.actor)) })
	}
	if err := h.readWakes(w); err != nil {
		return err
	}
	h.log.Sort()
	return nil
}

// readWakes takes who woke and made whom, and where.
func (h *wakeReader) readWakes(w store.Window) error {
	type row struct {
		at   trace.LocationID
		lane int32
		row  int32
	}
	var mu sync.Mutex
	at := map[row]int32{}
	for _, name := range []string{"woken at", "created at"} {
		id := slices.Index(h.store.Attributes(), name)
		if id < 0 {
			continue
		}
		err := h.store.AttributeColumn(h.ctx, w, trace.AttributeID(id), func(x *store.AttributeColumns) error {
			mu.Lock()
			defer mu.Unlock()
			for i, r := range x.Row {
				stack := x.Value[i].String()
				p, ok := h.placeOf[stack]
				if !ok {
					p = int32(len(h.places))
					h.placeOf[stack], h.places = p, append(h.places, newPlace(stack))
				}
				at[row{x.Location, int32(x.Lane), r}] = p
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	w.Locations = nil
	return h.store.Links(h.ctx, w, func(l *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, kind := range l.Kind {
			from, to := h.actorOf[l.FromLocation[i]], h.actorOf[l.ToLocation[i]]
			if kind != trace.LinkWake && kind != trace.LinkSpawn || l.Untimed[i] || from < 0 || to < 0 {
				continue
			}
			p, ok := at[row{l.ToLocation[i], l.ToLane[i], l.ToRow[i]}]
			if !ok {
				p = wake.None
			}
			h.log.Wake(to, l.ToTime[i], from, p)
		}
		return nil
	})
}

// An idleSpan is an idle time of a processor, and the goroutine it runs next; free is the part that no lock
// explains.
type idleSpan struct {
	processor  int32
	begin, end trace.Time
	next       startOf
	free       []waitSpan
}

// idle finds where processors idle in a part of the run.
func (h *wakeReader) idle(w store.Window) (out []*idleSpan, err error) {
	type stay struct {
		begin  trace.Time
		region trace.RegionID
	}
	busy := make([][]waitSpan, len(h.processors))
	next := make([][]stay, len(busy))
	place := map[trace.LocationID]int{}
	for i, id := range h.processors {
		place[id] = i
	}
	var mu sync.Mutex
	take := func(k int, begin, end trace.Time, r trace.RegionID) {
		g := &h.regions[r]
		if n := len(busy[k]); g.Role != trace.RoleIdle && end > begin && (n == 0 || end > busy[k][n-1].end) {
			busy[k] = append(busy[k], waitSpan{begin, end})
		}
		if g.Category == "goroutine" && g.Role != trace.RoleOverhead {
			next[k] = append(next[k], stay{begin, r})
		}
	}
	w.Locations = h.processors
	begun := map[[2]int]bool{}
	err = h.store.Intervals(h.ctx, w, func(x *trace.Columns) error {
		k, ok := place[x.Location]
		if !ok {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if !begun[[2]int{k, x.Lane}] {
			begun[[2]int{k, x.Lane}] = true
			for _, o := range x.Open {
				take(k, o.Begin, o.End, o.Region)
			}
		}
		for i, r := range x.Region {
			take(k, x.Begin[i], x.End(i), r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	add := func(k int32, id int, begin, end trace.Time, target startOf) {
		h.present(id, begin, end, func(from, to trace.Time) {
			out = append(out, &idleSpan{processor: k, begin: from, end: to, next: target})
		})
	}
	for k := range busy {
		slices.SortFunc(busy[k], func(a, b waitSpan) int { return cmp.Compare(a.begin, b.begin) })
		slices.SortFunc(next[k], func(a, b stay) int { return cmp.Compare(a.begin, b.begin) })
		at := w.Begin
		for i := range len(busy[k]) + 1 {
			begin, end := w.End, w.End
			if i < len(busy[k]) {
				begin, end = busy[k][i].begin, busy[k][i].end
			}
			if begin > at {
				target := h.last
				if j, _ := slices.BinarySearchFunc(next[k], begin,
					func(s stay, t trace.Time) int { return cmp.Compare(s.begin, t) }); j < len(next[k]) {
					if a := h.startsAt(next[k][j].region, next[k][j].begin); a >= 0 {
						target = startOf{next[k][j].begin, a}
					}
				}
				add(int32(k), h.ids[k], at, min(begin, w.End), target)
			}
			at = max(at, end)
		}
	}
	for _, id := range h.missing() { // of which the trace holds nothing
		add(-1, id, w.Begin, w.End, h.last)
	}
	return out, nil
}

// startsAt is the goroutine of a function that comes to run at a moment, -1.
func (h *wakeReader) startsAt(function trace.RegionID, t trace.Time) int32 {
	list := h.starts[function]
	if i, ok := slices.BinarySearchFunc(list, t,
		func(s startOf, t trace.Time) int { return cmp.Compare(s.at, t) }); ok {
		return list[i].actor
	}
	return -1
}

// explain charges the idle time of processors in a part of the run. As many of them as goroutines wait for a lock, or
// for a receiver of their sends, idle for that; the others until they run a goroutine again, or the last one runs.
func (h *wakeReader) explain(idle []*idleSpan, blocked []*blockedPiece) {
	type event struct {
		at    trace.Time
		order int // ends first
		idle  *idleSpan
		piece *blockedPiece
	}
	events := make([]event, 0, 2*len(idle)+2*len(blocked))
	for _, s := range idle {
		events = append(events, event{s.end, 0, s, nil}, event{s.begin, 1, s, nil})
	}
	for _, b := range blocked {
		events = append(events, event{b.End, 0, nil, b}, event{b.Begin, 1, nil, b})
	}
	slices.SortStableFunc(events,
		func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	var now []*idleSpan
	var waiting []*blockedPiece
	last := trace.Time(0)
	for _, e := range events {
		if e.at > last {
			for i, s := range now {
				if i < len(waiting) {
					h.charge(s.processor, &waiting[i].Piece, last, e.at, true)
				} else if n := len(s.free); n > 0 && s.free[n-1].end == last {
					s.free[n-1].end = e.at
				} else {
					s.free = append(s.free, waitSpan{last, e.at})
				}
			}
			last = e.at
		}
		switch {
		case e.idle != nil && e.order == 1:
			now = append(now, e.idle)
		case e.idle != nil:
			now = slices.DeleteFunc(now, func(s *idleSpan) bool { return s == e.idle })
		case e.order == 1:
			e.piece.at = len(waiting)
			waiting = append(waiting, e.piece)
		default:
			n := len(waiting) - 1
			waiting[e.piece.at] = waiting[n]
			waiting[e.piece.at].at = e.piece.at
			waiting = waiting[:n]
		}
	}
	for _, s := range idle {
		if s.next.actor < 0 || len(s.free) == 0 {
			continue
		}
		h.log.Walk(s.next.actor, s.free[0].begin, max(s.next.at, s.free[0].begin), func(p *wake.Piece) {
			i,
				_ := slices.BinarySearchFunc(s.free, p.Begin,
				func(f waitSpan, t trace.Time) int { return cmp.Compare(f.end, t+1) })
			for ; i < len(s.free) && s.free[i].begin < p.End; i++ {
				h.charge(s.processor, p, max(p.Begin, s.free[i].begin), min(p.End, s.free[i].end), false)
			}
		})
	}
}

// charge takes a piece of the wake-up chain as a cause of a processor's idle time. Time lost to a lock is not a
// serial part.
func (h *wakeReader) charge(processor int32, p *wake.Piece, begin, end trace.Time, locked bool) {
	kind, region := h.causeOf(p, locked)
	if kind == "" {
		return
	}
	t := end - begin
	if processor >= 0 {
		for _, a := range overlapping(h.alone[processor], begin, end) {
			both := min(a.end, end) - max(a.begin, begin)
			if locked {
				a.of.lost -= float64(both)
				a.of.locked += both
				a.of.idle[processor] -= both
				h.noteAlone(idlesLock, a.of.region, max(a.begin, begin), min(a.end, end), -both)
			} else {
				t -= both
			}
		}
	}
	if t == 0 {
		return
	}
	at := h.actors[p.Actor]
	if up := h.tree.Parent[at]; up != trace.NoLocation {
		at = up
	}
	k := wakeCause{kind, at, region}
	c := h.causes[k]
	if c == nil {
		c = &Cause{Cause: kind, Location: at, Region: region, victims: map[int32]trace.Time{}}
		h.causes[k] = c
	}
	c.Time += t
	if p.Hops <= 1 {
		c.Direct += t
	}
	if processor >= 0 {
		c.victims[processor] += t
	}
}

// overlapping are the spans, which are in order and apart, that overlap with a time range.
func overlapping(list []soloSpan, begin, end trace.Time) []soloSpan {
	i, _ := slices.BinarySearchFunc(list, begin, func(s soloSpan, t trace.Time) int { return cmp.Compare(s.end, t+1) })
	k := i
	for k < len(list) && list[k].begin < end {
		k++
	}
	return list[i:k]
}

// causeOf returns the kind and the region of a piece of the wake-up chain; empty if they are not known. Within a wait
// for a lock, a goroutine that sleeps or waits for the outside holds that lock.
func (h *wakeReader) causeOf(p *wake.Piece, within bool) (kind, region string) {
	if p.What == wake.None {
		return "", ""
	}
	g := &h.regions[p.What]
	switch h.state[p.What] {
	case runsNot:
		return string(finding.ProcessorWait), g.Name
	case waits:
		switch name := strings.TrimPrefix(strings.TrimPrefix(g.Name, "runtime "), stateWaiting); {
		case within && h.holds(p) && h.meanwhile(p) != "":
			return string(finding.Lock), h.places[p.Place].function
		case h.own[p.Actor] && p.Hops > 0: // the runtime had not begun yet with the awaited work
			return h.kindOf(p, h.function(p.Actor)), h.function(p.Actor)
		case name == ": sleep":
			return "sleep", g.Name
		case name == ": network", name == ": IO wait":
			return "network", g.Name
		case name == ": select", name == ": chan receive":
			return "timer", g.Name // no goroutine sent
		}
		return "", ""
	}
	function := h.function(p.Actor)
	region = function
	if h.state[p.What] == calls && !h.holds(p) {
		region = g.Name
	} else if p.Place != wake.None && h.places[p.Place].function != "" {
		region = h.places[p.Place].function
	}
	return h.kindOf(p, function), region
}

// meanwhile is what a goroutine does that neither runs nor waits for another; "" of others.
func (h *wakeReader) meanwhile(p *wake.Piece) string {
	switch name := h.regions[p.What].Name; {
	case h.state[p.What] == calls:
		return idleVerbs[string(finding.IO)]
	case name == stateWaiting+": sleep":
		return idleVerbs["sleep"]
	case name == stateWaiting+": network", name == stateWaiting+": IO wait":
		return idleVerbs["network"]
	}
	return ""
}

// holds reports whether a piece of the wake-up chain ends where its goroutine gives back a lock that the one before
// waited for.
func (h *wakeReader) holds(p *wake.Piece) bool {
	return h.how(p) == waitLock && p.Place != wake.None && h.places[p.Place].lock && !h.places[p.Place].join &&
		h.places[p.Place].function != "" && !h.own[p.Actor]
}

// function is where a goroutine starts.
func (h *wakeReader) function(actor int32) string {
	if r := h.start[actor]; r != trace.NoRegion {
		return h.regions[r].Name
	}
	return ""
}

// kindOf describes how a piece in which a goroutine does something makes others wait.
func (h *wakeReader) kindOf(p *wake.Piece, function string) string {
	switch how := h.how(p); {
	case h.own[p.Actor]:
		if function == gcWorker || function == "runtime.bgsweep" {
			return string(finding.GarbageCollection)
		}
		return string(finding.Blocked)
	case how == waitLock && p.Place != wake.None && h.places[p.Place].join, how == waitCondition:
		return budget.Join.String()
	case how == waitLock:
		return string(finding.Lock)
	case h.state[p.What] == calls:
		return string(finding.IO)
	case how == waitSend:
		return string(finding.LateReceiver)
	case strings.HasPrefix(how, stateWaiting):
		return string(finding.LateSender)
	}
	return string(finding.Serial)
}

func (h *wakeReader) how(p *wake.Piece) string {
	if p.How == wake.None {
		return ""
	}
	return h.regions[p.How].Name
}

// A blockedPiece is a piece of the wake-up chain of a wait for a lock, or for a receiver of a send.
type blockedPiece struct {
	wake.Piece
	at int // among those of the moment
}

// blocked follows the waits for locks and in sends of goroutines of the program in a part, and adds up what the
// goroutines did that gave the locks back, or that received.
func (h *wakeReader) blocked() (out []*blockedPiece) {
	parent := func(a int32) trace.LocationID { return h.tree.Parent[h.actors[a]] }
	for a, id := range h.actors {
		if h.own[a] {
			continue
		}
		counts := !h.parked[id] && h.rowOf[id] >= 0
		h.log.Each(int32(a), func(begin, end trace.Time, what int32) {
			if len(out) >= mostPieces || !holdsUp(&h.regions[what]) {
				h.cut = h.cut || len(out) >= mostPieces
				return
			}
			if place := h.log.Place(int32(a), end); h.regions[what].Name == waitLock &&
				(place == wake.None || !h.places[place].lock) {
				return
			}
			h.log.Walk(int32(a), begin, end, func(p *wake.Piece) {
				kind, _ := h.causeOf(p, true)
				if kind == "" {
					return
				}
				out = append(out, &blockedPiece{Piece: *p})
				send := h.regions[what].Name == waitSend
				does := ""
				if send && h.how(p) == waitSend || !send && kind == string(finding.Lock) {
					does = h.meanwhile(p)
				}
				if counts && p.Place != wake.None && !h.own[p.Actor] && (does != "" ||
					h.state[p.What] == runs && (send || h.places[p.Place].lock)) {
					k := holding{parent(int32(a)), parent(p.Actor), p.Place, send, does}
					h.held[k] += p.End - p.Begin
					h.noteHeld(&k, p)
				}
			})
		})
	}
	return out
}

// noteHeld yields a piece of a wait for a lock or a receiver.
func (h *wakeReader) noteHeld(k *holding, p *wake.Piece) {
	if h.note != nil {
		h.note(&SchedulingRow{What: k.what(), Location: k.runs, Waits: k.waits,
			Place: h.places[p.Place].function + " " + h.places[p.Place].file, Begin: p.Begin,
			End: p.End, Time: p.End - p.Begin})
	}
}

// what names the rows of it.
func (k *holding) what() string {
	what := holdsLock
	if k.send {
		what = holdsSend
	}
	if k.meanwhile != "" {
		what += ", " + k.meanwhile
	}
	return what
}

// processorIDs are the numbers of processors: those in their names where GOMAXPROCS is recorded, since it is the
// first of them that are there.
func (s *scheduler) processorIDs(told bool) {
	for i, id := range s.processors {
		n := i
		if told {
			if k, err := strconv.Atoi(strings.TrimPrefix(s.tree.Name[id], "P ")); err == nil {
				n = k
			}
		}
		s.ids = append(s.ids, n)
	}
}

// present calls f for the parts of a time range in which a processor is there.
func (s *scheduler) present(id int, begin, end trace.Time, f func(begin, end trace.Time)) {
	for i, p := range s.steps {
		until := end
		if i+1 < len(s.steps) {
			until = min(end, s.steps[i+1].from)
		}
		if from := max(begin, p.from); until > from && float64(id) < p.n {
			f(from, until)
		}
	}
}

// missing are the numbers of processors that are there and of which the trace holds nothing.
func (s *scheduler) missing() (out []int) {
	most := 0.0
	for _, p := range s.steps {
		most = max(most, p.n)
	}
	for id := range int(most) {
		if !slices.Contains(s.ids, id) {
			out = append(out, id)
		}
	}
	return out
}
