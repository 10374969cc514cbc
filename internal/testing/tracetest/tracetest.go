// Package tracetest holds traces written as text: parse into any trace.Writer,
// dump from any store.Reader, compare line by line. A dump parses again.
//
// One line is one thing. Indentation shows nesting: locations in locations, records in locations, intervals in the
// interval around them.
//
//	# a comment
//	property creator "Score-P 8.4"
//	region MPI_Send role=communication category=MPI file=a.c line=12 colour=red
//	location machine node0
//	  location process "rank 0" rank=0 key=p0 order=2 cores=8
//	    location thread main
//	      0..100 main                   an interval [0, 100) in region main
//	        10..20 MPI_Send bytes=8     a child, with an attribute
//	      35 ! checkpoint               an instant
//	      counter flops unit=ops monotone
//	      40 flops=12.5                 a sample
//
// Names that hold blanks, quotes or "=", or begin with a digit, are quoted as in
// Go. Values without quotes are integers or numbers where they look like one,
// otherwise text. Times are in nanoseconds, or have a unit: 5us, 1.5ms, 2s.
// Regions and counters need a line of their own only to say more than a name;
// the role of a region is decided by its name unless it is given. Regions that
// share a name get another one for the text by as=.
//
// Raw records of a stream, for tests of repairs by a store:
//
//	stream byname                       or ordered; unordered unless said
//	enter 10 main bytes=8
//	leave 20 main                       or "leave 20": the innermost
//	lane 1                              said by dumps, ignored when read
//
// Records between locations come after them and name them by path (names joined by slashes), or as #n, the n-th
// location line of the text:
//
//	communicator WORLD node0/p0 node0/p1
//	topology grid 2x2 names=x,y periodic=false,true
//	  at node0/p0 0,1
//	link message 12 node0/p0 -> 25 node0/p1 size=8 tag=3 comm=WORLD count=2 from=MPI_Send to=MPI_Recv
//	link message node0/p0 -> node0/p1 untimed count=7 size=56
//	metric time unit=ns integer default parent=all description="…"
//	profile node0/p0 "main => MPI_Send" time calls=3 subcalls=0 incl=10 excl=10 flat
//	sourceline node0/p0 "main => MPI_Send" time line=12 file=x.h callee="main => f" calls=3 incl=10 excl=10 flat
//	atomic node0/p0 - size count=2 min=1 max=3 mean=2 sumsq=10
//	moments node0/p0 compute 0..100 weight=5 mean=50 m2=4 m3=0
//	report repaired "leave without enter" 3 "file:12"
//
// In a dump from= and to= also say when the interval begins: from=MPI_Send@10.
package tracetest

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Write parses text into w and fails the test if the text is wrong.
func Write(tb testing.TB, w trace.Writer, text string) {
	tb.Helper()
	if err := Parse(w, text); err != nil {
		tb.Fatal(err)
	}
}
