package otf2

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// made are the sets with a listing of what a correct reader must find.
var made = []string{
	"otf2-pingpong4", "otf2-hpl8", "otf2-hpl32", "otf2-lammps-imbalanced16", "otf2-lammps-balanced16", "otf2-xz-pthread",
	"otf2-hpl16-deep-a", "otf2-hpl16-deep-b",
}

// public are sets of other projects.
var public = []string{"public/otf2/ping-pong-2ranks", "public/otf2/ping-pong-papi-2ranks", "public/otf2/sst-macro-mpi-coverage-10ranks"}

// A listing is a golden.txt.
type listing struct {
	numbers map[string]int64    // by the words around them
	types   map[string]int64    // events
	regions map[string][3]int64 // calls, inclusive, exclusive
}

func readListing(t *testing.T, dir string) *listing {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "golden.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := &listing{numbers: map[string]int64{}, types: map[string]int64{}, regions: map[string][3]int64{}}
	section := ""
	region := regexp.MustCompile(`^  (\S.*?)  (\d+)  (\d+)  (\d+)$`)
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		if m := region.FindStringSubmatch(line); m != nil && section == "regions" {
			l.regions[m[1]] = [3]int64{integer(m[2]), integer(m[3]), integer(m[4])}
			continue
		}
		if f := strings.Fields(line); section == "types" && strings.HasPrefix(line, "  ") && len(f) == 2 {
			l.types[f[0]] = integer(f[1])
			continue
		}
		section = ""
		switch {
		case line == "event types:":
			section = "types"
		case strings.HasPrefix(line, "regions (merged"):
			section = "regions"
		default:
			l.find(line)
		}
	}
	return l
}

// find takes the numbers of a line apart.
func (l *listing) find(line string) {
	for what, pattern := range map[string]string{
		"events":    `^events (\d+)`,
		"locations": `^locations (\d+)`,
		"span":      `span (\d+) ticks`,
		"depth":     `^max call depth (\d+)`,
		"stray":     `leave without enter (\d+)`,
		"matched":   `messages matched by \(sender,receiver,tag\) order (\d+)`,
		"backwards": `of which received before sent (\d+)`,
		"comms":     `COMM (\d+)`,
	} {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(line); m != nil {
			l.numbers[what] = integer(m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(\S[^:,;]*?) (\d+)`).FindAllStringSubmatch(line, -1) {
		if strings.HasPrefix(strings.TrimSpace(line), "frames closed by an outer leave") {
			l.numbers["forced"] += integer(m[2])
		}
	}
}

func integer(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// wordOf turns MPI_IRECV_REQUEST into MpiIrecvRequest.
func camel(peer string) string {
	var b strings.Builder
	for _, part := range strings.Split(peer, "_") {
		b.WriteString(part[:1] + strings.ToLower(part[1:]))
	}
	return b.String()
}

func TestMadeSetsHoldWhatTheirListingsSay(t *testing.T) {
	for _, name := range made {
		t.Run(name, func(t *testing.T) {
			dir := importertest.Shared(t, name)
			want := readListing(t, dir)
			r := importertest.Import(t, Format, dir)
			i, report := r.Info(), importertest.Report(r.Info().Report)
			for _, c := range []struct {
				what string
				got  int64
				want int64
			}{
				{"events", integer(i.Properties["otf2 events"]), want.numbers["events"]},
				{"locations with calls", int64(i.Rows), want.numbers["locations"]},
				{"span", int64(i.End), want.numbers["span"]},
				{"depth", int64(i.Depth), want.numbers["depth"]},
				{"calls closed by an outer leave", report["repaired intervals closed because an outer one was left"], want.numbers["forced"]},
				{"leaves without enter", report["skipped leave records without an open interval"], want.numbers["stray"]},
				{"communicators", int64(len(r.Communicators())), want.numbers["comms"]},
			} {
				if c.got != c.want {
					t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
				}
			}
			for peer, n := range want.types {
				if got := integer(i.Properties["otf2 events "+camel(peer)]); got != n {
					t.Errorf("%d events %s, want %d", got, peer, n)
				}
			}
			if n, complete := want.numbers["matched"]; complete && i.Links != n {
				t.Errorf("%d links, want %d", i.Links, n)
			}
			checkRegions(t, r, want.regions)
		})
	}
}

// checkRegions compares calls and times; a tick of these sets is a nanosecond.
func checkRegions(t *testing.T, r store.Reader, want map[string][3]int64) {
	t.Helper()
	info, err := view.InfoOf(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][3]int64{}
	for _, x := range info.RegionTable {
		got[x.Name] = [3]int64{int64(*x.Calls), int64(x.Inclusive), int64(x.Exclusive)}
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: calls, inclusive and exclusive are %v, want %v", name, got[name], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d regions in use, want %d", len(got), len(want))
	}
}

func TestPublicSets(t *testing.T) {
	for _, c := range []struct {
		name, program                                        string
		definitions, events, enters, links, samples, regions int64
		rows, comms                                          int
		end                                                  trace.Time
	}{
		{"public/otf2/ping-pong-2ranks", "score-p", 533, 120, 42, 16, 0, 237, 2, 3, 199_604_460},
		{"public/otf2/ping-pong-papi-2ranks", "score-p", 544, 204, 42, 16, 252, 237, 2, 3, 215_546_191},
		{"public/otf2/sst-macro-mpi-coverage-10ranks", "", 725, 22180, 7010, 1440, 0, 277, 10, 8, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := importertest.Import(t, Format, importertest.Shared(t, c.name))
			i := r.Info()
			p := func(key string) int64 { return integer(i.Properties[key]) }
			if p("otf2 definitions") != c.definitions || p("otf2 events") != c.events || p("otf2 events Enter") != c.enters {
				t.Errorf("%d definitions, %d events, %d enters", p("otf2 definitions"), p("otf2 events"), p("otf2 events Enter"))
			}
			if i.Links != c.links || i.Samples != c.samples || int64(len(r.Regions())) < c.regions || i.Rows != c.rows || len(r.Communicators()) != c.comms {
				t.Errorf("%d links, %d samples, %d regions, %d rows, %d communicators", i.Links, i.Samples, len(r.Regions()), i.Rows, len(r.Communicators()))
			}
			if c.end != 0 && i.End != c.end {
				t.Errorf("end %d, want %d", i.End, c.end)
			}
		})
	}
}

func TestTenNodesLieOnOneAxis(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/otf2/sst-macro-mpi-coverage-10ranks"))
	const want = 1.248 // seconds, where raw clocks are 513,411 s apart
	if end := float64(r.Info().End) / 1e9; math.Abs(end-want) > 0.01 {
		t.Errorf("the trace is %v s long, want about %v", end, want)
	}
	var messages, bytes int64
	pairs := map[[3]uint32]bool{}
	err := r.Links(t.Context(), store.Window{Begin: 0, End: r.Info().End + 1}, func(c *store.LinkColumns) error {
		for i := range c.Kind {
			messages++
			bytes += c.Size[i]
			pairs[[3]uint32{uint32(c.FromLocation[i]), uint32(c.ToLocation[i]), uint32(c.Communicator[i])}] = true
			if c.ToTime[i] < c.FromTime[i] {
				t.Errorf("a message sent at %d is received at %d", c.FromTime[i], c.ToTime[i])
			}
		}
		return nil
	})
	if err != nil || messages != 1440 || bytes != 23_592_600 || len(pairs) != 78 {
		t.Errorf("%d messages of %d bytes between %d pairs: %v", messages, bytes, len(pairs), err)
	}
}

func TestNamesAndKindsOfLocations(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/otf2/sst-macro-mpi-coverage-10ranks"))
	tree := r.Locations()
	kinds := map[trace.Kind]int{}
	names := map[string]bool{}
	for id := range tree.Len() {
		kinds[tree.Kind[id]]++
		if tree.Kind[id] == trace.KindThread {
			names[tree.Name[id]] = true
		}
	}
	if kinds[trace.KindCluster] != 1 || kinds[trace.KindMachine] != 10 || kinds[trace.KindProcess] != 10 || kinds[trace.KindThread] != 10 {
		t.Errorf("kinds %v", kinds)
	}
	if !names["MPI Rank 3"] || len(names) != 10 {
		t.Errorf("threads that are all called alike are named %v", names)
	}
}

// The Memory store and a counter see the same.
func TestCountsDoNotDependOnTheWriter(t *testing.T) {
	dir := importertest.Shared(t, "otf2-hpl16-deep-b")
	s, err := importer.NewSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	c, m := importertest.NewCount(), storetest.NewMemory()
	if err := runs[0].Import(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := runs[0].Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if i := m.Reader().Info(); c.Enters != i.Intervals || c.Links[trace.LinkMessage] != i.Links {
		t.Errorf("%d enters and %v links, %d intervals and %d links", c.Enters, c.Links, i.Intervals, i.Links)
	}
	if fmt.Sprint(len(c.Communicators)) != "1" {
		t.Errorf("%d communicators", len(c.Communicators))
	}
}
