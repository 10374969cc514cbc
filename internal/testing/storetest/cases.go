package storetest

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A case is a trace as text and its dump from a store: the lines from the first location on.
type testCase struct {
	name string
	text string
	want string
}

func runCase(t *testing.T, open Open, c testCase) {
	fill := func(w trace.Writer) { tracetest.Write(t, w, c.text) }
	want, got, _ := both(t, open, fill)
	if d := tracetest.Diff(strings.TrimLeft(c.want, "\n"), fromLocations(tracetest.Dump(got))); d != "" {
		t.Fatalf("dump (-want +got), %s", d)
	}
	compareEverything(t, want, got, 1)
}

// fromLocations drops the counts, properties and regions a dump begins with.
func fromLocations(dump string) string {
	if i := strings.Index(dump, "\nlocation "); i >= 0 {
		return dump[i+1:]
	}
	return dump
}

var cases = []testCase{
	{"intervals nest by containment", `
location thread t
  0..100 main
  10..40 f
  20..30 g
  50..60 f
`, `
location thread t
  0..100 main
    10..40 f
      20..30 g
    50..60 f
`},
	{"of intervals with one begin the longer is the parent, of equal ones the first", `
location thread t
  0..5 inner
  0..10 first
  0..10 second
`, `
location thread t
  0..10 first
    0..10 second
      0..5 inner
`},
	{"intervals that cross get lanes, the lowest that fits", `
location thread t
  0..10 a
  5..15 b
  8..20 c
  10..12 d
  30..40 e
`, `
location thread t
  0..10 a
  10..12 d
  30..40 e
  lane 1
  5..15 b
  lane 2
  8..20 c
`},
	{"an empty interval lies in what is open and holds nothing", `
location thread t
  0..10 a
  5..5 empty
  5..8 b
  10..10 after
`, `
location thread t
  0..10 a
    5..8 b
      5..5 empty
  10..10 after
`},
	{"the call stack is the nesting of what is entered and left", `
location thread t
  stream ordered
  enter 0 main
  enter 10 f
  leave 10 f
  enter 10 g
  leave 20 g
  enter 20 h
  leave 20 h
  leave 20 main
  enter 20 next
  leave 20 next
`, `
location thread t
  0..20 main
    10..10 f
    10..20 g
    20..20 h
  20..20 next
`},
	{"a caller that ends where its empty call begins is not in a window from there", `
location thread t
  stream ordered
  enter 0 main
  enter 2 f x=1
  enter 5 g x=2
  leave 5 g
  leave 5 f
  leave 8 main
`, `
location thread t
  0..8 main
    2..5 f x=1
      5..5 g x=2
`},
	{"a leave closes the frames inside, and they are counted", `
location thread t
  stream ordered
  enter 0 main
  enter 1 f
  enter 2 g
  leave 5 main
  enter 6 h
  leave 7
`, `
location thread t
  0..5 main
    1..5 f
      2..5 g
  6..7 h
report repaired "intervals closed because an outer one was left" 2 ""
`},
	{"by name a leave takes its own enter and leaves the inner ones open", `
location thread t
  stream ordered byname
  enter 0 working
  enter 8 finalize
  leave 9 working
  leave 10 finalize
`, `
location thread t
  0..9 working
  lane 1
  8..10 finalize
`},
	{"a leave that closes nothing is counted and ignored", `
location thread t
  stream ordered
  leave 1 f
  enter 2 f
  leave 3 g
  leave 4 f
  leave 5
`, `
location thread t
  1..3 f
report skipped "leave records without an open interval" 3 ""
`},
	{"what is still open ends at the last time stamp of the trace", `
location thread a
  enter 0 main
  enter 5 f
location thread b
  0..20 main
  30 ! done
`, `
location thread a
  0..30 "main (no end)"
    5..30 "f (no end)"
location thread b
  0..20 main
  30 ! done
report repaired "intervals without an end, closed at the end of the trace" 2 ""
`},
	{"an end before its begin makes an empty interval", `
location thread t
  0..9 main
  5..3 f
`, `
location thread t
  0..9 main
    5..5 f
report repaired "intervals that end before they begin, made empty" 1 ""
`},
	{"records of an unordered stream are sorted, equal times keep their order", `
location thread t
  stream unordered
  leave 9 main
  enter 5 f
  enter 0 main
  leave 5 f
  enter 5 g
  leave 7 g
`, `
location thread t
  0..9 main
    5..5 f
    5..7 g
`},
	{"time begins at the first record, whatever it is", `
location thread t
  counter level
  1000 level=2
  1010..1020 main
location thread u
  1005 ! mark
`, `
location thread t
  10..20 main
  counter level
  0 level=2
location thread u
  5 ! mark
`},
	{"times before zero are moved too", `
location thread t
  -20..-10 a
  -5 ! mark
`, `
location thread t
  0..10 a
  15 ! mark
`},
	{"siblings are in order of order, rank and natural name", `
location thread "t 10"
location thread "t 9"
location process b rank=1
location process a rank=0
location thread first order=-1
location thread last order=1
  location thread child
`, `
location thread first
location thread "t 9"
location thread "t 10"
location process a rank=0
location process b rank=1
location thread last
  location thread child
`},
	{"what happens at the very end of the trace is in the whole window", `
location thread t
  0..10 main
  10..10 empty
  10 ! mark
  10 level=1
`, `
location thread t
  0..10 main
  10..10 empty
  10 ! mark
  counter level
  10 level=1
`},
	{"links find the interval that begins at their time, or is open then", `
location thread a
  0..100 main
    10..20 send
location thread b
  0..100 main
    15..25 recv
link message 15 a -> 25 b size=8 to=recv
link spawn 10 a -> 0 b
link flow 12 a -> 18 b from=main
link flow 0 a -> 0 a from=recv
`, `
location thread a
  0..100 main
    10..20 send
location thread b
  0..100 main
    15..25 recv
link flow 0 a -> 0 a to=main@0
link spawn 10 a -> 0 b from=send@10 to=main@0
link flow 12 a -> 18 b from=main@0 to=recv@15
link message 15 a -> 25 b size=8 from=send@10 to=recv@15
`},
	{"a recursion counts once in inclusive time, and annotations are transparent", `
region step role=annotation
location thread t
  0..100 f
    10..90 step
      20..80 f
        30..40 step
  110..120 step
  130..140 MPI_Wait
    130..135 step
`, `
location thread t
  0..100 f
    10..90 step
      20..80 f
        30..40 step
  110..120 step
  130..140 MPI_Wait
    130..135 step
`},
	{"a store without anything", ``, `
# end 0, origin 0, depth 0; 0 locations, 0 with intervals, 0 ranks
# 0 regions, 0 intervals, 0 instants, 0 samples, 0 links, 0 profile rows
`},
	{"locations without records", `
location machine m
  location process p rank=3
`, `
location machine m
  location process p rank=3
`},
	{"a profile without time", `
location process p rank=0
location process q rank=1
metric time unit=ns default
metric calls integer
profile q "main => f" time calls=2 incl=5 excl=5
profile p main time calls=1 subcalls=2 incl=10 excl=5
profile p f time calls=2 incl=5 excl=5 flat
atomic p main calls count=2 min=1 max=3 mean=2 sumsq=10
link message p -> q untimed count=7 size=56
`, `
location process p rank=0
location process q rank=1
link message p -> q untimed size=56 count=7
metric time unit=ns default
metric calls integer
profile p f time calls=2 subcalls=0 incl=5 excl=5 flat
profile p main time calls=1 subcalls=2 incl=10 excl=5
profile q "main => f" time calls=2 subcalls=0 incl=5 excl=5
atomic p main calls count=2 min=1 max=3 mean=2 sumsq=10
`},
	{"communicators, topologies and properties follow the new numbers of locations", `
property creator test
location process b rank=1 order=2
location process a rank=0 order=1
communicator WORLD a b
communicator half parent=WORLD b
topology grid 2x1 names=x,y periodic=true,false
  at b 1,0
  at a 0,0
`, `
location process a rank=0
location process b rank=1
communicator WORLD a b
communicator half parent=WORLD b
topology grid 2x1 names=x,y periodic=true,false
  at b 1,0
  at a 0,0
`},
	{"recorded moments move with the origin", `
location thread t
  1000..1010 main
moments t compute 1002..1008 weight=3 mean=2 m2=1.5
`, `
location thread t
  0..10 main
moments t compute 2..8 weight=3 mean=2 m2=1.5
`},
}
