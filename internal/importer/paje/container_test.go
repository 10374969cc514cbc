package paje

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// moreEvents go with smallHeader.
const moreEvents = `%EventDef PajeDestroyContainer 7
% Time date
% Type string
% Name string
%EndEventDef
%EventDef PajeSetState 10
% Time date
% Type string
% Container string
% Value string
%EndEventDef
%EventDef PajeResetState 11
% Time date
% Type string
% Container string
%EndEventDef
`

// inHeader is how many containers smallHeader has.
const inHeader = 2

// A scribe writes down what streams are given, location by location.
type scribe struct {
	*importertest.Count
	mu         sync.Mutex
	said       map[trace.LocationID][]string
	names      map[trace.RegionID]string
	open, most int
}

func newScribe() *scribe {
	return &scribe{Count: importertest.NewCount(), said: map[trace.LocationID][]string{}, names: map[trace.RegionID]string{}}
}

func (s *scribe) Stream(id trace.LocationID, o trace.StreamOptions) trace.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	s.most = max(s.most, s.open)
	return &scribeStream{Stream: s.Count.Stream(id, o), s: s, id: id}
}

type scribeStream struct {
	trace.Stream
	s  *scribe
	id trace.LocationID
}

func (s *scribe) Region(r trace.Region) trace.RegionID {
	id := s.Count.Region(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[id] = r.Name
	return id
}

func (x *scribeStream) say(t trace.Time, what string, r trace.RegionID) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.said[x.id] = append(x.s.said[x.id], fmt.Sprint(t/1e9, what, x.s.names[r]))
}

func (x *scribeStream) Enter(t trace.Time, r trace.RegionID) {
	x.say(t, "+", r)
	x.Stream.Enter(t, r)
}

func (x *scribeStream) Leave(t trace.Time, r trace.RegionID) {
	x.say(t, "-", r)
	x.Stream.Leave(t, r)
}

func (x *scribeStream) Close() error {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.open--
	return x.Stream.Close()
}

// runOf gives the run of a file with this text.
func runOf(t testing.TB, text string) importer.Run {
	t.Helper()
	s, err := importer.NewSourceFS("x", fstest.MapFS{"x.trace": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	return runs[0]
}

// States pushed, popped, set and reset at random, of so many types on some containers,
// are what a stack for each would hold.
func TestEveryTypeOfStatesOfEveryContainerIsAStack(t *testing.T) {
	for _, types := range []int{1, 2, fewTracks, fewTracks + 1, 3 * fewTracks} {
		random := rand.New(rand.NewPCG(1, uint64(types)))
		var text strings.Builder
		text.WriteString(smallHeader + moreEvents)
		for i := range types {
			fmt.Fprintf(&text, "2 S%d P STATE%d\n", i, i)
		}
		const containers, records = 5, 6000
		for k := range containers {
			fmt.Fprintf(&text, "6 0 c%d P 0 n%d\n", k, k)
		}
		stacks, want := map[[2]int][]string{}, map[[2]int][]string{}
		first := map[int]int{} // type of each container that lies on it
		for at := range records {
			k, i, value := random.IntN(containers), random.IntN(types), fmt.Sprint("v", random.IntN(20))
			id := [2]int{k, i}
			stack := stacks[id]
			if _, ok := first[k]; !ok {
				first[k] = i
			}
			leave := func(n int) {
				for ; n > 0 && len(stack) > 0; n-- {
					want[id] = append(want[id], fmt.Sprintf("%d-%s", at, stack[len(stack)-1]))
					stack = stack[:len(stack)-1]
				}
			}
			enter := func() {
				want[id] = append(want[id], fmt.Sprintf("%d+%s", at, value))
				stack = append(stack, value)
			}
			switch what := random.IntN(20); {
			case what < 10:
				fmt.Fprintf(&text, "12 %d S%d c%d %s\n", at, i, k, value)
				enter()
			case what < 18:
				fmt.Fprintf(&text, "13 %d S%d c%d\n", at, i, k)
				leave(1)
			case what == 18:
				fmt.Fprintf(&text, "10 %d S%d c%d %s\n", at, i, k, value)
				leave(len(stack))
				enter()
			default:
				fmt.Fprintf(&text, "11 %d S%d c%d\n", at, i, k)
				leave(len(stack))
			}
			stacks[id] = stack
		}
		s := newScribe()
		if err := runOf(t, text.String()).Import(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		for id, list := range want {
			at := trace.LocationID(inHeader + id[0])
			if first[id[0]] != id[1] { // on a row below
				name := fmt.Sprint("STATE", id[1])
				at = trace.LocationID(slices.IndexFunc(s.Locations, func(l trace.Location) bool { return l.Parent == at && l.Name == name }))
			}
			if got := s.said[at]; len(got) < len(list) || !slices.Equal(got[:len(list)], list) {
				t.Fatalf("%d types: container %d has other states of type %d than its records say", types, id[0], id[1])
			}
		}
		if s.Leaves != s.Enters {
			t.Errorf("%d types: %d states begin, %d end", types, s.Enters, s.Leaves)
		}
	}
}

// A container that is destroyed holds no stream, and has another one when it is used
// again.
func TestContainersThatAreDestroyedLetGoOfTheirStream(t *testing.T) {
	var text strings.Builder
	text.WriteString(smallHeader + moreEvents + "6 0 top P 0 top\n")
	const n = 1000
	for i := range n {
		fmt.Fprintf(&text, "6 %d c%d P top c%d\n12 %d S c%d a\n12 %d S c%d b\n7 %d P c%d\n", i, i, i, i, i, i, i, i+1, i)
	}
	fmt.Fprintf(&text, "12 %d S c0 late\n7 %d P top\n", n, n)
	s := newScribe()
	if err := importWith(context.Background(), runOf(t, text.String()), s, 1, nil); err != nil {
		t.Fatal(err)
	}
	if s.most != 1 || s.open != 0 {
		t.Errorf("%d streams are open at once and %d in the end, want 1 and 0", s.most, s.open)
	}
	if got, want := fmt.Sprint(s.said[inHeader+1]), "[0+a 0+b 1-b 1-a 1000+late 1000-late]"; got != want {
		t.Errorf("the first one has %s, want %s", got, want)
	}
	if s.Enters != 2*n+1 || s.Leaves != s.Enters {
		t.Errorf("%d states begin and %d end, want %d", s.Enters, s.Leaves, 2*n+1)
	}
}

// What is defined again as it was before something else had its alias is what it was: a location has one stream.
func TestContainersAndTypesMayComeBack(t *testing.T) {
	text := smallHeader + moreEvents + "0 Q 0 MPI\n12 0 S p0 a\n12 1 S p1 a\n2 S P ONE\n12 2 S p0 b\n2 S P TWO\n12 3 S p0 c\n2 S P ONE\n12 4 S p0 d\n" +
		"6 5 p1 P p0 p1\n12 5 S p1 e\n6 6 p1 P 0 p1\n12 6 S p1 f\n6 7 p1 Q 0 p1\n12 7 S p1 g\n"
	r := importertest.Import(t, Format, writeText(t, text))
	if i := r.Info(); i.Intervals != 8 || r.Locations().Len() != 6 {
		t.Errorf("%d intervals on %d locations, want 8 on p0 and its rows ONE and TWO, p1 and its row ONE, and p1 in p0", i.Intervals, r.Locations().Len())
	}
}

func writeText(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.trace")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// Where parsers number no more words, everything that is defined is found by its text.
func TestAFileWithTooManyWordsIsReadTheSame(t *testing.T) {
	var text strings.Builder
	text.WriteString(smallHeader + "%EventDef PajeDefineEntityValue 5\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n" +
		"%EventDef PajeEndLink 16\n% Time date\n% Type string\n% Container string\n% Value string\n% EndContainer string\n% Key string\n%EndEventDef\n5 v S value\n")
	for i := range 300 {
		fmt.Fprintf(&text, "6 0 c%d P 0 n%d\n12 1 S c%d v\n13 2 S n%d\n15 1 L c%d L c%d k\n", i, i, i, i, i/2, i)
	}
	for i := range 300 {
		fmt.Fprintf(&text, "16 3 L c%d L c%d k\n", i/2, i)
	}
	read := func(met int) *importertest.Count {
		w := importertest.NewCount()
		c := newConverter(w, seconds, parallel.Workers())
		c.symbols.met = met
		run := runOf(t, text.String())
		if _, err := c.file(context.Background(), run, run.Files[0], header{now: &layouts{}}); err != nil {
			t.Fatal(err)
		}
		if err := c.finish(); err != nil {
			t.Fatal(err)
		}
		c.tally.Report(w, "x", "line", reasons[:])
		return w
	}
	few, many := read(0), read(maxMet)
	if few.Links[trace.LinkMessage] != 300 || few.Enters != 300 || few.Leaves != 300 {
		t.Fatalf("%v links, %d and %d states, want 300 of each", few.Links, few.Enters, few.Leaves)
	}
	if got, want := fmt.Sprint(many.Totals, many.Links, many.Regions, many.Reported), fmt.Sprint(few.Totals, few.Links, few.Regions, few.Reported); got != want {
		t.Errorf("past the bound:\n got %s\nwant %s", got, want)
	}
}

// keepsNothing is a writer that takes no memory, so that all there is is the reader's.
type keepsNothing struct {
	*importertest.Count
	locations trace.LocationID
}

type deaf struct{}

func (deaf) Enter(trace.Time, trace.RegionID)                {}
func (deaf) Leave(trace.Time, trace.RegionID)                {}
func (deaf) Interval(trace.Time, trace.Time, trace.RegionID) {}
func (deaf) Instant(trace.Time, trace.RegionID)              {}
func (deaf) Sample(trace.CounterID, trace.Time, float64)     {}
func (deaf) Attribute(trace.AttributeID, trace.Value)        {}
func (deaf) Close() error                                    { return nil }

func (w *keepsNothing) Location(trace.Location) trace.LocationID {
	w.locations++
	return w.locations - 1
}
func (w *keepsNothing) Stream(trace.LocationID, trace.StreamOptions) trace.Stream {
	return deaf{}
}

// manyContainers is a trace of containers that all have a name of their own and a state
// that is open.
func manyContainers(n int) string {
	var text strings.Builder
	text.WriteString(smallHeader)
	for i := range n {
		parent := "0"
		if i >= 1000 {
			parent = fmt.Sprint("c", i%1000)
		}
		fmt.Fprintf(&text, "6 0.000000000 c%d P %s \"name of %d\"\n", i, parent, i)
	}
	for i := range n {
		fmt.Fprintf(&text, "12 0.000000000 S c%d v%d\n", i, i%10)
	}
	return text.String()
}

// heldBy is what the reader holds after a text, in bytes.
func heldBy(t testing.TB, text string) int64 {
	t.Helper()
	w := &keepsNothing{Count: importertest.NewCount()}
	run := runOf(t, text)
	var before, after runtime.MemStats
	runtime.GC() // twice, for the blocks that wait to be used again
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := newConverter(w, seconds, parallel.Workers())
	if _, err := c.file(context.Background(), run, run.Files[0], header{now: &layouts{}}); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(c)
	runtime.KeepAlive(run)
	runtime.KeepAlive(text)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// With a million containers, what is kept of each decides how much memory a trace takes:
// 88 bytes, two words of some 20 bytes and their slots of 11 to 22, four numbers of
// four, and the room that lists have to grow.
func TestAContainerTakesLittleMemory(t *testing.T) {
	const n, most = 100_000, 230
	held := heldBy(t, manyContainers(n)) - heldBy(t, manyContainers(1))
	t.Logf("a container takes %d bytes", held/n)
	if held > n*most || held < n*88 {
		t.Errorf("a container takes %d bytes, want 88 to %d", held/n, most)
	}
}
