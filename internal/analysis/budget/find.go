package budget

import (
	"cmp"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Call is one stay of an actor in a region in which it may wait.
type Call struct {
	Begin, End trace.Time
	Region     int32
	Group      int32 // of the collectives it belongs to; NoGroup
}

// NoGroup is the group of a call that is no collective.
const NoGroup int32 = -1

// A Message goes from one actor to another.
type Message struct {
	From, To       int32
	Sent, Received trace.Time
	// Kind is LateSender, or Join, Lock and Task where one lets another go on.
	Kind Kind
	// Slack may be between the call that waits and the event it waited for, as where a worker takes a
	// task.
	Slack trace.Time
}

// A Finder finds waits in calls, messages and collectives as they come, and passes them to a budget.
type Finder struct {
	b *Budget
	// Sync says whether a send waits for its receiver.
	Sync func(send, receive *Call, m *Message) bool
	// Style says who waits for whom in collectives of a region; nil: all for the last.
	Style []Style

	calls  [][]Call
	inbox  [][]Message // by receiver
	last   [][]arrival // by receiver, of calls that are not over
	groups []*group
	met    bool

	acquires [][]acquire // by actor, of which the wait is not known yet
	releases [][]release // by actor, of the last step
	free     map[int64][]release
}

// An arrival is the last message to be sent that a call receives.
type arrival struct {
	call Call
	sent trace.Time
	from int32
	kind Kind
}

// NewFinder makes a finder for a budget.
func NewFinder(b *Budget) *Finder {
	n := len(b.tracks)
	return &Finder{b: b, calls: make([][]Call, n), inbox: make([][]Message, n), last: make([][]arrival, n),
		acquires: make([][]acquire, n), releases: make([][]release, n), free: map[int64][]release{}}
}

// Group defines a group of collectives and returns its number. Members are the actors of which each has the same
// number of calls, so that the k-th of all belong together; none if that is not known, and calls belong together that
// overlap.
func (f *Finder) Group(members []int32) int32 {
	g := &group{members: members, calls: map[int32][]Call{}}
	f.groups = append(f.groups, g)
	return int32(len(f.groups) - 1)
}

// Members says of which actors the k-th calls belong together, see Group.
func (f *Finder) Members(group int32, members []int32) { f.groups[group].members = members }

// Loose says that a group may be several that have one name: its calls are distinguished by
// when they end.
func (f *Finder) Loose(group int32) { f.groups[group].loose = true }

// Counts is the number of calls of each group, by actor.
func (f *Finder) Counts() []map[int32]int {
	out := make([]map[int32]int, len(f.groups))
	for i := range out {
		out[i] = map[int32]int{}
	}
	for a, list := range f.calls {
		for _, c := range list {
			if c.Group != NoGroup {
				out[c.Group][int32(a)]++
			}
		}
	}
	return out
}

// Call adds a call; those of an actor come in order and do not overlap. Different actors
// may be fed at once, but groups are filled by Advance.
func (f *Finder) Call(actor int32, c Call) { f.calls[actor] = push(f.calls[actor], c) }

// Message adds a message. The calls that hold its ends may come later.
func (f *Finder) Message(m Message) {
	if m.From != m.To {
		f.inbox[m.To] = append(f.inbox[m.To], m)
	}
}

// Messages adds those of several parts, as Message would one after the other.
func (f *Finder) Messages(parts int, of func(part int, add func(Message))) {
	shards := actorShards(len(f.inbox))
	parallel.Deal(parts, shards, func(part int, to func(int, Message)) {
		of(part, func(m Message) { to(int(m.To)*shards/len(f.inbox), m) })
	}, func(_ int, m Message) { f.Message(m) })
}

// Advance finds the waits of all that is over at a moment: calls that begin and messages
// that arrive before it must be there. It gives the moment up to which the budget can be
// settled: calls that are not over, and collectives to which not all have come, may bring
// waits that end after they began.
func (f *Finder) Advance(until trace.Time, seen []int) (settled trace.Time) {
	settled = until
	for a := range f.calls {
		list := f.calls[a]
		for _, c := range list[seen[a]:] {
			if c.Group != NoGroup {
				g := f.groups[c.Group]
				g.calls[int32(a)] = append(g.calls[int32(a)], c)
			}
		}
		seen[a] = len(list)
		if n := len(list); n > 0 && list[n-1].End > until {
			settled = min(settled, list[n-1].Begin)
		}
	}
	f.pairAll(until)
	f.handOver(until)
	for _, g := range f.groups {
		f.meet(g, until)
		for _, list := range g.calls {
			if len(list) > 0 {
				settled = min(settled, list[0].Begin)
			}
		}
	}
	return settled
}

// Forget drops calls that end before a time, and returns the new begins of the lists.
func (f *Finder) Forget(before trace.Time, seen []int) {
	eachOf(len(f.calls), func(a int) {
		list := f.calls[a]
		if i := sort.Search(len(list), func(i int) bool { return list[i].End >= before }); i > 0 {
			f.calls[a] = drop(list, i)
			seen[a] -= i
		}
	})
}

// Held is the number of calls that are held.
func (f *Finder) Held() (n int) {
	for _, c := range f.calls {
		n += len(c)
	}
	return n
}

// Last is the last call of an actor, where it has any.
func (f *Finder) Last(actor int32) (c Call, ok bool) {
	if n := len(f.calls[actor]); n > 0 {
		return f.calls[actor][n-1], true
	}
	return c, false
}

// endsFrom is the first call from the one of a number on that ends at a moment or after it. It is mostly near.
func endsFrom(list []Call, from int, t trace.Time) int {
	low, step := from, 1
	for low+step <= len(list) && list[low+step-1].End < t {
		low += step
		step *= 2
	}
	for high := min(low+step-1, len(list)); low < high; {
		if mid := int(uint(low+high) / 2); list[mid].End >= t {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// sending is the call with begin ≤ t < end.
func sending(list []Call, t trace.Time) *Call {
	i := sort.Search(len(list), func(i int) bool { return list[i].End > t })
	if i < len(list) && list[i].Begin <= t {
		return &list[i]
	}
	return nil
}

// A foundWait is a wait that is not noted yet.
type foundWait struct {
	Wait
	callEnd trace.Time
}

// pairAll pairs the messages of all receivers, on all cores. Waits are noted in the order of receivers.
func (f *Finder) pairAll(until trace.Time) {
	n := len(f.inbox)
	if n == 0 {
		return
	}
	shards := actorShards(n)
	var met atomic.Bool
	clipped := make([]int64, shards)
	parallel.Deal(shards, shards, func(part int, to func(int, foundWait)) {
		note := func(w Wait, callEnd trace.Time) { to(int(w.Actor)*shards/n, foundWait{w, callEnd}) }
		for a := (part*n + shards - 1) / shards; a < ((part+1)*n+shards-1)/shards; a++ {
			if f.pairMessages(int32(a), until, note) {
				met.Store(true)
			}
		}
	}, func(shard int, x foundWait) { f.b.note(x.Wait, x.callEnd, &clipped[shard]) })
	for _, c := range clipped {
		f.b.clipped += c
	}
	f.met = f.met || met.Load()
}

// pairMessages finds the late senders of a receiver, and the senders for which it is late. A call that completes
// several messages waits for the last of them to be sent. It reports whether any was received in a call.
func (f *Finder) pairMessages(to int32, until trace.Time, note func(Wait, trace.Time)) (met bool) {
	list, calls := f.inbox[to], f.calls[to]
	byReceiving := func(x, y Message) int { return cmp.Compare(x.Received, y.Received) }
	if !slices.IsSortedFunc(list, byReceiving) {
		slices.SortStableFunc(list, byReceiving)
	}
	at, n := 0, 0
	for ; n < len(list) && list[n].Received <= until; n++ {
		m := &list[n]
		at = endsFrom(calls, at, m.Received)
		var r *Call
		switch {
		case at < len(calls) && calls[at].Begin < m.Received: // with begin < t ≤ end
			r = &calls[at]
		case m.Slack > 0 && at > 0 && m.Received-calls[at-1].End <= m.Slack:
			r = &calls[at-1]
		default:
			continue // received outside a call: no actor waits
		}
		met = true
		if m.Kind == LateSender && m.Sent < r.Begin && f.Sync != nil {
			if s := sending(f.calls[m.From], m.Sent); s != nil && f.Sync(s, r, m) {
				note(Wait{m.From, to, LateReceiver, s.Region, m.Sent, r.Begin}, s.End)
			}
		}
		f.arrive(to, until, arrival{*r, m.Sent, m.From, m.Kind}, note)
	}
	f.inbox[to] = append(list[:0], list[n:]...)
	f.receive(to, until, note)
	return met
}

// arrive notes a message that a call receives. It comes after those of calls before.
func (f *Finder) arrive(to int32, until trace.Time, x arrival, note func(Wait, trace.Time)) {
	for i := range f.last[to] {
		if y := &f.last[to][i]; y.call.Begin == x.call.Begin {
			if x.sent > y.sent || x.sent == y.sent && x.from < y.from {
				*y = x
			}
			return
		}
	}
	f.receive(to, until, note)
	f.last[to] = append(f.last[to], x)
}

// receive notes the waits of the calls that are over.
func (f *Finder) receive(to int32, until trace.Time, note func(Wait, trace.Time)) {
	left := f.last[to][:0]
	for _, x := range f.last[to] {
		switch {
		case x.call.End > until:
			left = append(left, x)
		case x.call.Begin < x.sent && x.call.Group == NoGroup: // collectives wait for their members
			note(Wait{to, x.from, x.kind, x.call.Region, x.call.Begin, x.sent}, x.call.End)
		}
	}
	f.last[to] = left
}

// A group is actors that meet in collectives, and their calls that are not paired yet.
type group struct {
	members []int32
	loose   bool // it may be several groups of one name
	calls   map[int32][]Call
	// Broken counts collectives that an actor left before all had come.
	broken, all int
	wrong       bool // its pairs are not believed
}

// A Member is one actor's part in a collective.
type Member struct {
	Actor int32
	Call  Call
}

// A Style is who waits for whom in a collective.
type Style uint8

// The styles. From one to all: all wait for the root; from all to one: the root waits.
const (
	AllToAll Style = iota
	OneToAll
	AllToOne
)

// Meet notes the waits of one collective. The root is an actor, NoActor where it is not
// known, and then all wait for the last.
func (f *Finder) Meet(members []Member, style Style, root int32) {
	if len(members) < 2 {
		return
	}
	f.met = true
	late := members[0]
	for _, m := range members[1:] {
		if m.Call.Begin > late.Call.Begin || m.Call.Begin == late.Call.Begin && m.Actor < late.Actor {
			late = m
		}
	}
	for _, m := range members {
		if root != NoActor && style == OneToAll && m.Actor == root {
			late = m
		}
	}
	for _, m := range members {
		if m.Call.Begin < late.Call.Begin && (root == NoActor || style != AllToOne || m.Actor == root) {
			f.b.Wait(Wait{m.Actor, late.Actor, Collective, m.Call.Region, m.Call.Begin, late.Call.Begin}, m.Call.End)
		}
	}
}

const (
	// mostBroken is the share of broken collectives beyond which the pairs of a group are
	// not believed: rooted ones break now and then, wrong pairs always do.
	mostBroken = 0.25
	// fewestBroken is after how many that is decided.
	fewestBroken = 8
)

// meet pairs the calls of a group.
func (f *Finder) meet(g *group, until trace.Time) {
	if g.members == nil {
		f.overlap(g, until)
		return
	}
	for {
		list := make([]Member, 0, len(g.members))
		for _, a := range g.members {
			if c := g.calls[a]; len(c) > 0 {
				list = append(list, Member{a, c[0]})
			}
		}
		if len(list) < len(g.members) || len(list) == 0 {
			return
		}
		for _, a := range g.members {
			g.calls[a] = g.calls[a][1:]
		}
		f.believe(g, list)
	}
}

// believe passes on a meeting unless those of its group make no sense.
func (f *Finder) believe(g *group, list []Member) {
	if len(list) < 2 {
		return
	}
	last, earliest := list[0].Call.Begin, list[0].Call.End
	for _, m := range list {
		last, earliest = max(last, m.Call.Begin), min(earliest, m.Call.End)
	}
	if r := list[0].Call.Region; int(r) < len(f.Style) && f.Style[r] != AllToAll && earliest < last {
		f.meetRooted(list, f.Style[r], last, earliest)
		return
	}
	if earliest < last && g.loose {
		if parts := apart(list); len(parts) > 1 {
			for _, p := range parts {
				f.Meet(p, AllToAll, NoActor)
			}
			return
		}
	}
	g.all++
	if earliest < last {
		g.broken++
	}
	if g.wrong = g.wrong || g.all >= fewestBroken && float64(g.broken) > mostBroken*float64(g.all); !g.wrong {
		f.Meet(list, AllToAll, NoActor)
	}
}

// apart tells calls of different groups from each other that have one name: who meets leaves
// together, so they are cut at the widest gap between their ends until no actor leaves before
// all have come. Nil where that leaves most alone.
func apart(list []Member) (parts [][]Member) {
	slices.SortStableFunc(list, func(a, b Member) int { return cmp.Compare(a.Call.End, b.Call.End) })
	alone := 0
	var cut func(l []Member)
	cut = func(l []Member) {
		last := l[0].Call.Begin
		for _, m := range l {
			last = max(last, m.Call.Begin)
		}
		if len(l) == 1 || l[0].Call.End >= last {
			if len(l) == 1 {
				alone++
			}
			parts = append(parts, l)
			return
		}
		at, wide := 1, trace.Time(-1)
		for i := 1; i < len(l); i++ {
			if gap := l[i].Call.End - l[i-1].Call.End; gap > wide {
				at, wide = i, gap
			}
		}
		cut(l[:at])
		cut(l[at:])
	}
	cut(list)
	if 2*alone > len(list) {
		return nil
	}
	for _, p := range parts {
		slices.SortFunc(p, func(a, b Member) int { return int(a.Actor - b.Actor) })
	}
	return parts
}

// meetRooted is for a rooted collective whose root is not known and that an actor left
// before all had come. From one to all no actor leaves before the root has come, so it is at most
// the last of those who came before the first left. From all to one, who left early did not wait.
func (f *Finder) meetRooted(list []Member, style Style, last, earliest trace.Time) {
	if style == OneToAll {
		root := NoActor
		begin := trace.Time(0)
		for _, m := range list {
			if m.Call.Begin <= earliest && (root == NoActor || m.Call.Begin > begin) {
				root, begin = m.Actor, m.Call.Begin
			}
		}
		f.Meet(list, style, root)
		return
	}
	stayed := make([]Member, 0, len(list))
	for _, m := range list {
		if m.Call.End >= last {
			stayed = append(stayed, m)
		}
	}
	f.Meet(stayed, AllToAll, NoActor)
}

// overlap pairs calls that overlap with one of the actor that has fewest.
func (f *Finder) overlap(g *group, until trace.Time) {
	actors := make([]int32, 0, len(g.calls))
	ready := map[int32][]Call{}
	fewest := int32(-1)
	for a, list := range g.calls {
		n := sort.Search(len(list), func(i int) bool { return list[i].End > until })
		ready[a], g.calls[a] = list[:n], list[n:]
		if n > 0 {
			actors = append(actors, a)
		}
	}
	slices.Sort(actors)
	for _, a := range actors {
		if fewest < 0 || len(ready[a]) < len(ready[fewest]) {
			fewest = a
		}
	}
	if len(actors) < 2 {
		return
	}
	for _, c := range ready[fewest] {
		list := make([]Member, 0, len(actors))
		for _, a := range actors {
			if o, ok := nearest(ready[a], &c); ok {
				list = append(list, Member{a, o})
			}
		}
		f.believe(g, list)
	}
}

// nearest finds the call with the most time in common, by the nearest end.
func nearest(list []Call, with *Call) (Call, bool) {
	i := sort.Search(len(list), func(i int) bool { return list[i].End >= with.End })
	best, found := trace.Time(-1), -1
	for _, k := range [...]int{i - 1, i} {
		if k < 0 || k >= len(list) {
			continue
		}
		if o := min(list[k].End, with.End) - max(list[k].Begin, with.Begin); o > best {
			best, found = o, k
		}
	}
	if found < 0 || best < 0 {
		return Call{}, false
	}
	return list[found], true
}

// Met reports whether any two actors met, in a message or a collective.
func (f *Finder) Met() bool { return f.met }

// Pairs returns the number of collectives whose pairs were accepted, and of those whose pairs were rejected.
func (f *Finder) Pairs() (believed, wrong int) {
	for _, g := range f.groups {
		if g.wrong {
			wrong += g.all
		} else {
			believed += g.all
		}
	}
	return believed, wrong
}
