package dumpi

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "bgp", Most: 20, ByName: true, Cuts: 60}, {Path: "made", ByName: true, Cuts: 120}})
}

func FuzzReader(f *testing.F) { importertest.Fuzz(f, Format, "x-0.bin", "testdata/made") }

// What sst-dumpi's own dumpi2ascii prints of the seven files: the calls by name, their time on both clocks, and the bytes of all sends.
// Every send finds its receive, though all are in a communicator of the program.
func TestCallsAreThoseOfDumpi2ascii(t *testing.T) {
	w := &sums{Count: importertest.NewCount()}
	importFiles(t, w, "testdata/bgp")
	byName := map[string]int64{}
	wall, around := trace.Time(0), int64(0)
	for id, n := range w.Calls {
		if w.Regions[id].Name == "program" { // around all calls of a rank
			around += n
			continue
		}
		byName[w.Regions[id].Name] += n
		wall += w.Time[id]
	}
	want := "map[MPI_Alltoall:49 MPI_Barrier:21 MPI_Comm_create:7 MPI_Comm_group:7 MPI_Comm_rank:203 MPI_Comm_size:7 MPI_Finalize:7 MPI_Group_incl:7 MPI_Init:7 MPI_Irecv:588 MPI_Isend:588 MPI_Waitall:98]"
	if got := fmt.Sprint(byName); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := fmt.Sprint(int64(wall), w.cpu.Load(), w.bytes, w.Count.Links[trace.LinkMessage], len(w.Reported)), fmt.Sprint(32519926, 32488000, 418656, 588, 0); got != want {
		t.Errorf("time on the wall's clock, on the CPU's, bytes, messages, words of the report %s, want %s", got, want)
	}
	if around != 7 {
		t.Errorf("%d of 7 ranks have their time outside MPI", around)
	}
	if len(w.Topologies) != 1 || fmt.Sprint(w.Topologies[0].Dims, w.Topologies[0].Coordinates[6].At) != "[4 2 2] [1 0 0]" {
		t.Errorf("topologies %v", w.Topologies)
	}
}

// sums adds up what Count does not.
type sums struct {
	*importertest.Count
	cpu   atomic.Int64
	bytes int64
	links []string
}

func (s *sums) Link(k trace.Link) {
	s.bytes += k.Size
	s.Count.Link(k)
	s.links = append(s.links, fmt.Sprintf("%s→%s tag %d size %d", s.Locations[k.From.Location].Name, s.Locations[k.To.Location].Name, k.Tag, k.Size))
}

// Links implements trace.LinkTaker.
func (s *sums) Links(list []trace.Link) {
	for _, k := range list {
		s.Link(k)
	}
}

func (s *sums) Stream(at trace.LocationID, o trace.StreamOptions) trace.Stream {
	return &sumStream{s.Count.Stream(at, o), s}
}

type sumStream struct {
	trace.Stream
	s *sums
}

func (s *sumStream) Attribute(a trace.AttributeID, v trace.Value) {
	n, _ := v.Integer()
	s.s.cpu.Add(n)
	s.Stream.Attribute(a, v)
}

func importFiles(t *testing.T, w trace.Writer, dir string) {
	t.Helper()
	s, err := importer.NewSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := runs[0].Import(context.Background(), w); err != nil {
		t.Fatal(err)
	}
}

// Receives are finished by seven kinds of calls, some of them for persistent requests, in communicators that split and turn ranks round.
func TestMessagesOfTheMadeRun(t *testing.T) {
	for rank := range 2 {
		if data, err := os.ReadFile(fmt.Sprintf("testdata/made/made-%04d.bin", rank)); err != nil || !bytes.Equal(data, made(rank)) {
			t.Errorf("rank %d: the sample is not what the encoder writes: %v", rank, err)
		}
	}
	w := &sums{Count: importertest.NewCount()}
	importFiles(t, w, "testdata/made")
	got := map[string]int{}
	for _, l := range w.links {
		got[l]++
	}
	want := map[string]int{
		"rank 0→rank 1 tag 9 size 64": 3, "rank 1→rank 0 tag 9 size 64": 3, // 8 of 8 bytes, told by the type
		"rank 0→rank 1 tag 3 size 24": 3, "rank 1→rank 0 tag 3 size 24": 3, // a type of the program: the status tells
		"rank 0→rank 1 tag 5 size 4": 3, "rank 1→rank 0 tag 5 size 4": 3,
		"thread 1→thread 1 tag 6 size 4": 6, "rank 0→rank 0 tag 6 size 4": 3, "rank 1→rank 1 tag 6 size 4": 3,
	}
	if !maps.Equal(got, want) {
		for _, l := range slices.Sorted(maps.Keys(got)) {
			t.Logf("%d × %s", got[l], l)
		}
		t.Errorf("want %v", want)
	}
	report := map[string]int64{"skipped receives whose source the trace does not tell": 6, "skipped messages in communicators whose members the trace does not tell": 6}
	if !maps.Equal(w.Reported, report) {
		t.Errorf("report %v", w.Reported)
	}
	if w.Samples != 2*2*(3*17+1) || w.Enters != 2 || w.Leaves != 2 {
		t.Errorf("%d samples, %d and %d ends of functions", w.Samples, w.Enters, w.Leaves)
	}
}

func TestIncompleteFilesAreReported(t *testing.T) {
	data := made(0)
	for want, data := range map[string][]byte{
		"the index at the end is missing": data[:len(data)-1],
		"version 0.6.8 of DUMPI":          bytes.Replace(data, []byte("\x01\x01\x00\x00\x00\x00\x00\x65\x53\xf1\x00"), []byte("\x00\x06\x08\x00\x00\x00\x00\x65\x53\xf1\x00"), 1),
	} {
		s, err := importer.NewSourceFS("x", fstest.MapFS{"x-0.bin": {Data: data}})
		if err != nil {
			t.Fatal(err)
		}
		runs, err := importer.Detect([]*importer.Format{Format}, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := runs[0].Import(context.Background(), importertest.NewCount()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

func TestEveryFunctionHasANumber(t *testing.T) {
	if len(calls) != allCalls {
		t.Fatalf("%d functions, want %d", len(calls), allCalls)
	}
	for n, name := range map[int]string{callSend: "MPI_Send", callIrecv: "MPI_Irecv", callWaitsome: "MPI_Waitsome", callRecvInit: "MPI_Recv_init", callCommSplit: "MPI_Comm_split", callCartCreate: "MPI_Cart_create", callGroupIncl: "MPI_Group_incl", 124: "MPI_Init", 281: "MPI_File_sync"} {
		if calls[n].name != name {
			t.Errorf("%d is %s, want %s", n, calls[n].name, name)
		}
	}
}
