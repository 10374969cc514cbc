package tracetest_test

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
)

const everything = `# end 125, origin 0, depth 2; 4 locations, 2 with intervals, 2 ranks
# 7 regions, 5 intervals, 1 instants, 2 samples, 2 links, 2 profile rows
property creator "Score-P 8.4"
region MPI_Recv role=communication
region MPI_Send role=communication category=MPI file=a.c line=12 colour=red
region checkpoint role=annotation
region "long name" role=compute
region main role=compute
region twice role=compute
region twice role=idle as=twice~2 category=other
location machine node0
  location process "rank 0" rank=0 cores=8 model="3"
    location thread main
      0..100 main
        10..20 MPI_Send bytes=8 share=0.5
      35 ! checkpoint
      counter "L1 misses" unit=ops monotone
      40 "L1 misses"=12.5
      50 "L1 misses"=13
  location process "rank 1" rank=1
    0..100 twice~2
    lane 1
    15..125 MPI_Recv what="two words"
      90..125 "long name"
communicator WORLD "node0/rank 0" "node0/rank 1"
communicator half parent=WORLD "node0/rank 0"
topology grid 2x1 names=x,y periodic=false,true
  at "node0/rank 0" 0,0
  at "node0/rank 1" 1,0
link message "node0/rank 0" -> "node0/rank 1" untimed size=56 count=7
link message 12 "node0/rank 0/main" -> 25 "node0/rank 1" size=8 tag=3 comm=WORLD from=MPI_Send@10 to=MPI_Recv@15
metric time unit=ns integer default description="wall clock"
metric size parent=time
profile "node0/rank 0" "main => MPI_Send" time calls=3 subcalls=0 incl=10 excl=10
profile "node0/rank 0" main time calls=1 subcalls=3 incl=100 excl=90 flat
atomic "node0/rank 0" - size count=2 min=1 max=3 mean=2 sumsq=10
moments "node0/rank 1" compute 0..100 weight=5 mean=50 m2=4 m8=1e+06
report repaired "leave without enter" 3 file:12
`

func TestADumpParsesToTheSameTrace(t *testing.T) {
	got := tracetest.Dump(storetest.Text(t, everything))
	if d := tracetest.Diff(everything, got); d != "" {
		t.Error(d)
	}
}

func TestADumpDoesNotDependOnTheOrderOfDefinition(t *testing.T) {
	a := `
location process p rank=0
  5..9 b
location process q rank=1
  0..9 a
`
	b := `
region a
location process q rank=1
  0..9 a
location process p rank=0
  5..9 b
`
	if d := tracetest.Diff(tracetest.Dump(storetest.Text(t, a)), tracetest.Dump(storetest.Text(t, b))); d != "" {
		t.Error(d)
	}
}

func TestRecordsOfAStreamAreGivenAsTheyStand(t *testing.T) {
	got := tracetest.Dump(storetest.Text(t, `
location thread t
  stream ordered
  enter 1us outer
  enter 2us inner x=1
  leave 3us outer
  leave 4us outer
  enter 5us last
  leave 6us
`))
	want := `# end 5000, origin 1000, depth 2; 1 locations, 1 with intervals, 0 ranks
# 3 regions, 3 intervals, 0 instants, 0 samples, 0 links, 0 profile rows
region inner role=compute
region last role=compute
region outer role=compute
location thread t
  0..2000 outer
    1000..2000 inner x=1
  4000..5000 last
report repaired "intervals closed because an outer one was left" 1 ""
report skipped "leave records without an open interval" 1 ""
`
	if d := tracetest.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestALongDumpIsCutAndSaysSo(t *testing.T) {
	r := storetest.Text(t, "location thread t\n  1..2 a\n  2..3 a\n  3..4 a\n  4..5 a\n")
	if got := tracetest.DumpSome(r, 1); !strings.Contains(got, "  0..1 a\n  # 3 more\n") {
		t.Error(got)
	}
}

func TestWrongTextIsRefusedWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown statement":     {"locatoin thread t", `line 1: "locatoin thread t": unknown statement "locatoin"`},
		"record outside":        {"0..1 main", "not in a location"},
		"child outside parent":  {"location thread t\n  0..10 a\n    5..11 b", "line 3: \"5..11 b\": does not lie in 0..10"},
		"unknown place":         {"link message 1 a -> 2 b", `no location "a"`},
		"open quote":            {`property a "b`, "quoted text"},
		"interval without name": {"location thread t\n  0..1", "want a region"},
		"unknown role":          {"region a role=busy", `unknown role "busy"`},
		"bad time":              {"location thread t\n  1parsec..2 a", `time "1parsec"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := tracetest.Parse(storetest.NewMemory(), c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestDiffShowsWhatIsOnlyOnOneSide(t *testing.T) {
	got := tracetest.Diff("a\nb\nc\nd\ne", "a\nb\nx\nd\ny\ne")
	want := "from line 1:\n  a\n  b\n- c\n+ x\n  d\n+ y\n  e\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
