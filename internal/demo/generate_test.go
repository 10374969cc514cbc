package demo

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A jsonRecord is a trace event as the standard library reads it: the peer that
// the hand-written JSON is held against.
type jsonRecord struct {
	Phase    string          `json:"ph"`
	Category string          `json:"cat"`
	Name     string          `json:"name"`
	PID      json.RawMessage `json:"pid"`
	TID      json.RawMessage `json:"tid"`
	TS       json.Number     `json:"ts"`
	Duration json.Number     `json:"dur"`
	ID       int64           `json:"id"`
	Args     map[string]any  `json:"args"`
}

type jsonFile struct {
	Base        int64        `json:"baseTimeNanoseconds"`
	Records     []jsonRecord `json:"traceEvents"`
	Distributed struct {
		Rank   int `json:"rank"`
		World  int `json:"world_size"`
		Groups []struct {
			Ranks []int `json:"ranks"`
		} `json:"pg_config"`
	} `json:"distributedInfo"`
}

func generate(t testing.TB, name, format, path string) string {
	t.Helper()
	d, ok := Find(name)
	if !ok {
		t.Fatalf("no demo %q", name)
	}
	path = filepath.Join(t.TempDir(), path)
	if _, err := Generate(context.Background(), d, format, Options{}, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func readJSON(t testing.TB, path string) jsonFile {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	var f jsonFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&f); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return f
}

// nanoseconds reads microseconds with three decimals exactly.
func nanoseconds(t testing.TB, n json.Number) trace.Time {
	t.Helper()
	whole, part, _ := strings.Cut(string(n), ".")
	v, err := strconv.ParseInt(whole+part, 10, 64)
	if err != nil || len(part) != 3 {
		t.Fatalf("time %q", n)
	}
	return trace.Time(v)
}

// lines are the intervals of a file, one a line: row, extent, region and those
// args that the trace gave as attributes.
func (f *jsonFile) lines(t testing.TB, row func(pid, tid string) string, start trace.Time, keys map[string]bool) (list []string) {
	t.Helper()
	type open struct {
		begin trace.Time
		jsonRecord
	}
	stacks := map[string][]open{}
	add := func(r jsonRecord, at string, begin, end trace.Time) {
		args := []string{}
		for k, v := range r.Args {
			if keys[k] {
				args = append(args, fmt.Sprintf("%s=%v", k, v))
			}
		}
		sort.Strings(args)
		list = append(list, fmt.Sprintln(at, begin, end, r.Category, r.Name, args))
	}
	for _, r := range f.Records {
		if len(r.PID) > 0 && r.PID[0] == '"' || r.Phase == "M" {
			continue
		}
		at := row(string(r.PID), string(r.TID))
		now := trace.Time(0)
		if r.TS != "" {
			now = nanoseconds(t, r.TS) - start
		}
		switch r.Phase {
		case "X":
			add(r, at, now, now+nanoseconds(t, r.Duration))
		case "B":
			stacks[at] = append(stacks[at], open{now, r})
		case "E":
			s := stacks[at]
			add(s[len(s)-1].jsonRecord, at, s[len(s)-1].begin, now)
			stacks[at] = s[:len(s)-1]
		}
	}
	return list
}

// lines are the same of a trace in memory.
func (c *collected) lines(row func(trace.LocationID) string) (list []string) {
	for at, r := range c.rows {
		for _, i := range r.intervals {
			args := []string{}
			for _, a := range i.attributes {
				args = append(args, fmt.Sprintf("%s=%v", a.Key, a.Value))
			}
			sort.Strings(args)
			region := c.regions[i.region]
			list = append(list, fmt.Sprintln(row(at), i.begin, i.end, region.Category, region.Name, args))
		}
	}
	return list
}

func (c *collected) keys() map[string]bool {
	keys := map[string]bool{}
	for _, a := range c.attributes {
		keys[a] = true
	}
	return keys
}

func diffLines(t *testing.T, got, want []string) {
	t.Helper()
	sort.Strings(got)
	sort.Strings(want)
	if len(got) != len(want) {
		t.Errorf("%d intervals, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("interval %d:\n got %s\nwant %s", i, got[i], want[i])
		}
	}
}

func TestChromeHoldsTheWholeTrace(t *testing.T) {
	for _, name := range []string{"stencil", "training?locations=4&intervals=20000", "uniform?locations=20&intervals=30000"} {
		c := collect(t, name, Options{})
		f := readJSON(t, generate(t, name, "chrome", "run.json"))
		got := f.lines(t, func(pid, tid string) string { return pid + "/" + tid }, 0, c.keys())
		diffLines(t, got, c.lines(func(at trace.LocationID) string {
			tid := c.locations[at].Key
			if tid == "" {
				tid = "0"
			}
			return fmt.Sprintf("%d/%s", c.rank(at), tid)
		}))
		flows := map[string]map[int64]int{"s": {}, "f": {}}
		samples, instants := 0, 0
		for _, r := range f.Records {
			switch {
			case r.Phase == "s" || r.Phase == "f":
				flows[r.Phase][r.ID]++
			case r.Phase == "C":
				samples++
			case r.Name == "[memory]":
				samples += 2 // what is allocated, and what is reserved
			case r.Phase == "i":
				instants++
			}
		}
		if len(flows["s"]) != len(c.links) || cmp.Diff(flows["s"], flows["f"]) != "" {
			t.Errorf("%s: %d flows begin, %d end, want %d", name, len(flows["s"]), len(flows["f"]), len(c.links))
		}
		wantSamples, wantInstants := 0, 0
		for _, r := range c.rows {
			wantSamples, wantInstants = wantSamples+len(r.samples), wantInstants+len(r.instants)
		}
		if samples != wantSamples || instants != wantInstants {
			t.Errorf("%s: %d samples and %d instants, want %d and %d", name, samples, instants, wantSamples, wantInstants)
		}
	}
}

func TestKinetoHoldsTheWholeTrace(t *testing.T) {
	for _, directory := range []string{"run", "run.gz"} {
		const name = "training?locations=10&intervals=20000"
		c := collect(t, name, Options{})
		path := generate(t, name, "kineto", directory)
		suffix := filepath.Ext(directory)
		var got []string
		for rank := range 10 {
			f := readJSON(t, filepath.Join(path, fmt.Sprintf("rank%d.json%s", rank, suffix)))
			if f.Distributed.Rank != rank || f.Distributed.World != 10 || len(f.Distributed.Groups) != 1 || len(f.Distributed.Groups[0].Ranks) != 10 || f.Base == 0 {
				t.Errorf("rank %d: header says %+v, base %d", rank, f.Distributed, f.Base)
			}
			got = append(got, f.lines(t, func(pid, tid string) string {
				if len(pid) < 4 {
					return fmt.Sprintf("%d/gpu%s/%s", rank, pid, tid)
				}
				return fmt.Sprintf("%d/%s", rank, tid)
			}, 3_800_000_000_000_000, c.keys())...)
			checkKinetoFlows(t, rank, f)
		}
		diffLines(t, got, c.lines(func(at trace.LocationID) string {
			l := c.locations[at]
			if l.Kind == trace.KindStream {
				return fmt.Sprintf("%d/gpu%s/%s", c.rank(at), c.locations[l.Parent].Key, l.Key)
			}
			return fmt.Sprintf("%d/%s", c.rank(at), l.Key)
		}))
	}
}

// checkKinetoFlows holds ids of flows against the correlations of launches and kernels.
func checkKinetoFlows(t *testing.T, rank int, f jsonFile) {
	t.Helper()
	begin := map[string]json.Number{} // "category correlation" → ts
	for _, r := range f.Records {
		if c, ok := r.Args["correlation"]; ok {
			begin[fmt.Sprintf("%v %v", r.Category == "cuda_runtime", c)] = r.TS
		}
	}
	flows := 0
	for _, r := range f.Records {
		if r.Category == "ac2g" {
			flows++
			if want := begin[fmt.Sprintf("%v %v", r.Phase == "s", r.ID)]; want != r.TS {
				t.Fatalf("rank %d: flow %d %s at %s, want %s", rank, r.ID, r.Phase, r.TS, want)
			}
		}
	}
	if flows == 0 {
		t.Errorf("rank %d has no flows", rank)
	}
}

func TestSameArgumentsGiveTheSameBytes(t *testing.T) {
	for _, c := range []struct{ name, format, path string }{
		{"stencil", "chrome", "a.json"}, {"training", "chrome", "a.json.gz"}, {"training", "kineto", "a"}, {"training", "kineto", "a.gz"},
		{"uniform?locations=50&intervals=60000", "chrome", "a.json"}, {"uniform?locations=50&intervals=60000", "kineto", "a"},
	} {
		one, two := hashFiles(t, generate(t, c.name, c.format, c.path)), hashFiles(t, generate(t, c.name, c.format, c.path))
		if one != two {
			t.Errorf("%s as %s: two runs differ", c.name, c.format)
		}
	}
}

func hashFiles(t *testing.T, root string) string {
	t.Helper()
	h := fnv.New64a()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintln(h, filepath.Base(path), len(data))
		h.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func TestGenerateSaysWhatItCannotDo(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "precious"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, format, path, want string }{
		{"stencil", "kineto", filepath.Join(t.TempDir(), "x"), "messages between ranks"},
		{"stencil", "nosuch", filepath.Join(t.TempDir(), "x"), `unknown format "nosuch"; there are chrome, kineto`},
		{"stencil", "chrome", full, "is a directory"},
		{"training", "kineto", full, "not empty"},
		{"training", "kineto", filepath.Join(full, "precious"), "is a file"},
		{"training", "chrome", filepath.Join(full, "no", "such", "x"), "no such file"},
	}
	for _, c := range cases {
		d, _ := Find(c.name)
		_, err := Generate(context.Background(), d, c.format, Options{}, c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s as %s in %s: %v, want %q", c.name, c.format, filepath.Base(c.path), err, c.want)
		}
		checkNothingLeft(t, c.path)
	}
}

func TestGenerateLeavesNothingWhenItIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, format := range []string{"chrome", "kineto"} {
		path := filepath.Join(t.TempDir(), "x")
		d, _ := Find("training")
		if _, err := Generate(ctx, d, format, Options{}, path); err == nil {
			t.Errorf("%s: no error", format)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a half file stands under its name", format)
		}
		checkNothingLeft(t, path)
	}
}

func checkNothingLeft(t *testing.T, path string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestGenerateReplacesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	d, _ := Find("stencil")
	if _, err := Generate(context.Background(), d, "chrome", Options{Intervals: 1000, Locations: 4}, path); err != nil {
		t.Fatal(err)
	}
	if f := readJSON(t, path); len(f.Records) < 1000 {
		t.Errorf("%d records", len(f.Records))
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, c := range []struct{ name, format, path string }{
		{"stencil?intervals=2000000", "chrome", "a.json"},
		{"uniform?intervals=3000000", "chrome", "a.json"},
		{"training?intervals=1000000", "kineto", "a"},
		{"training?intervals=1000000", "kineto", "a.gz"},
	} {
		b.Run(c.name+"/"+c.format+"/"+c.path, func(b *testing.B) {
			for range b.N {
				path := generate(b, c.name, c.format, c.path)
				size := int64(0)
				filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
					if info, e := d.Info(); e == nil && !d.IsDir() {
						size += info.Size()
					}
					return err
				})
				b.SetBytes(size)
				b.StopTimer()
				os.RemoveAll(path)
				b.StartTimer()
			}
		})
	}
}

// discard is a Writer that keeps nothing: what a demo itself costs.
type discard struct {
	trace.Writer
	region, location trace.LocationID
}

func (d *discard) Location(trace.Location) trace.LocationID { d.location++; return d.location - 1 }
func (d *discard) Region(trace.Region) trace.RegionID {
	d.region++
	return trace.RegionID(d.region - 1)
}
func (d *discard) Attribute(string) trace.AttributeID                        { return 0 }
func (d *discard) Counter(trace.Counter) trace.CounterID                     { return 0 }
func (d *discard) Communicator(trace.Communicator) trace.CommunicatorID      { return 0 }
func (d *discard) Topology(trace.Topology)                                   {}
func (d *discard) Property(string, string)                                   {}
func (d *discard) Link(trace.Link)                                           {}
func (d *discard) Stream(trace.LocationID, trace.StreamOptions) trace.Stream { return nothing{} }

type nothing struct{}

func (nothing) Enter(trace.Time, trace.RegionID)                {}
func (nothing) Leave(trace.Time, trace.RegionID)                {}
func (nothing) Interval(trace.Time, trace.Time, trace.RegionID) {}
func (nothing) Instant(trace.Time, trace.RegionID)              {}
func (nothing) Sample(trace.CounterID, trace.Time, float64)     {}
func (nothing) Attribute(trace.AttributeID, trace.Value)        {}
func (nothing) Close() error                                    { return nil }

func BenchmarkWrite(b *testing.B) {
	for _, d := range Demos {
		b.Run(d.Name, func(b *testing.B) {
			n := int64(4_000_000)
			if d == millionDemo {
				n = d.Options.Intervals
			}
			for range b.N {
				if err := d.Write(context.Background(), Options{Intervals: n}, &discard{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mintervals/s")
		})
	}
}
