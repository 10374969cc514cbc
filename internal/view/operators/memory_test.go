package operators_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/operators"
)

// A record is a record of the profiler as its file has it.
type record struct {
	Name, Cat string
	Tid       any
	Ts, Dur   json.Number
	Args      map[string]any
}

// records reads those records of a file that have a word in them.
func records(t *testing.T, path string, words ...string) []record {
	t.Helper()
	f, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ TraceEvents []json.RawMessage }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	var out []record
	for _, raw := range file.TraceEvents {
		if !slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(raw, []byte(w)) }) {
			continue
		}
		var r record
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if d.Decode(&r) == nil {
			out = append(out, r)
		}
	}
	return out
}

func integer(t *testing.T, v any) int64 {
	t.Helper()
	n, err := v.(json.Number).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A replay of the file by hand: most of "Total Allocated", and the addresses that are taken then.
func replayed(t *testing.T, path string) (peak, held int64, blocks int, sizes []int64) {
	t.Helper()
	var list []record
	for _, r := range records(t, path, "[memory]") {
		if r.Name == "[memory]" && integer(t, r.Args["Device Type"]) == 1 {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b record) int {
		x, _ := a.Ts.Float64()
		y, _ := b.Ts.Float64()
		if x < y {
			return -1
		} else if x > y {
			return 1
		}
		return 0
	})
	live := map[int64]int64{}
	for _, r := range list {
		address, n := integer(t, r.Args["Addr"]), integer(t, r.Args["Bytes"])
		if n > 0 {
			live[address] = n
		} else {
			delete(live, address)
		}
		if total := integer(t, r.Args["Total Allocated"]); total > peak {
			peak, held, blocks, sizes = total, 0, len(live), nil
			for _, v := range live {
				held += v
				sizes = append(sizes, v)
			}
		}
	}
	slices.Sort(sizes)
	return peak, held, blocks, sizes
}

func open(t *testing.T, path string) store.Reader {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return viewtest.ImportBytes(t, filepath.Base(path), b)
}

// Who holds memory at the peak is what a replay of the file says, to the byte, on real traces.
func TestHoldersAtThePeakAreThoseOfAReplayOfTheFile(t *testing.T) {
	files := []string{filepath.Join("testdata", "h200-memory.json.gz")}
	for _, elem := range [][]string{{"h200", "eager-small.json.gz"}, {"tracelens", "h100-bert-small.json.gz"}, {"tracelens", "h100-qwen-unlinked.json.gz"}} {
		path := filepath.Join("..", "..", "..", "..", "shared", "data", "ml", elem[0], elem[1])
		if _, err := os.Stat(path); err == nil {
			files = append(files, path)
		}
	}
	for _, path := range files {
		peak, held, blocks, _ := replayed(t, path)
		d := data(t, viewtest.Case{}, open(t, path))
		if len(d.Memory) != 1 || peak == 0 {
			t.Errorf("%s: %d devices", path, len(d.Memory))
			continue
		}
		m := d.Memory[0]
		sum, n := int64(0), 0
		for _, h := range m.Holders {
			sum, n = sum+h.Bytes, n+h.Blocks
			if math.Abs(h.Share-float64(h.Bytes)/float64(peak)) > 1e-12 {
				t.Errorf("%s: %+v", path, h)
			}
		}
		if m.Peak != peak || m.Held != held || m.Before != peak-held || m.Blocks != blocks || sum != held || n != blocks {
			t.Errorf("%s: peak %d held %d blocks %d, holders %d in %d; replayed %d, %d, %d", path, m.Peak, m.Held, m.Blocks, sum, n, peak, held, blocks)
		}
		t.Logf("%s: peak %d, of which %d in %d blocks of %d holders, first %+v", filepath.Base(path), m.Peak, m.Held, m.Blocks, len(m.Holders), m.Holders[:min(1, len(m.Holders))])
	}
}

// In training what lives at the peak was made by the model's operators, and Adam's state by its step.
func TestHoldersHaveOperatorShapesAndModule(t *testing.T) {
	d := data(t, viewtest.Case{}, open(t, filepath.Join("testdata", "h200-memory.json.gz")))
	found := map[string]bool{}
	for _, h := range d.Memory[0].Holders {
		if strings.HasPrefix(h.Operator, "aten::empty") && h.Module == "" && h.Within == "" {
			t.Errorf("an allocator is no answer: %+v", h)
		}
		if h.Operator == "aten::addmm" && strings.HasPrefix(h.Module, "Linear_") && strings.Contains(h.Shapes, "[256,1024]") {
			found["activation"] = true
		}
		if strings.HasPrefix(h.Within, "Optimizer.step#Adam") {
			found["state"] = true
		}
	}
	if len(found) != 2 {
		t.Errorf("%v in %+v", found, d.Memory[0].Holders)
	}
}

// Ten replays of two graphs: each kernel under one launch is a node, and its times are those of the file.
func TestReplaysOfAGraphAreCompared(t *testing.T) {
	path := filepath.Join("testdata", "h200-graphs.json.gz")
	d := data(t, viewtest.Case{}, open(t, path))
	if len(d.Graphs) != 2 {
		t.Fatalf("%d graphs", len(d.Graphs))
	}
	launches := map[int64]bool{}
	byCall := map[int64][]record{}
	all := records(t, path, "GraphLaunch", "kernel", "gpu_memset")
	for _, r := range all {
		if strings.Contains(r.Name, "GraphLaunch") {
			launches[integer(t, r.Args["correlation"])] = true
		}
	}
	for _, r := range all {
		if r.Cat == "kernel" || r.Cat == "gpu_memset" {
			if c := integer(t, r.Args["correlation"]); launches[c] {
				byCall[c] = append(byCall[c], r)
			}
		}
	}
	want := map[int]float64{} // by number of nodes: all time of its pieces, ns
	for _, list := range byCall {
		for _, r := range list {
			us, _ := r.Dur.Float64()
			want[len(list)] += us * 1000
		}
	}
	for _, g := range d.Graphs {
		got := 0.0
		for _, n := range g.Nodes {
			got += n.Mean * float64(n.Count)
			if n.Count != 10 || float64(n.Min) > n.Mean || n.Mean > float64(n.Max) {
				t.Errorf("%+v", n)
			}
		}
		if len(g.Replays) != 10 || math.Abs(got-want[len(g.Nodes)]) > float64(len(g.Nodes)*10) {
			t.Errorf("%s: %d replays of %d nodes take %v, in the file %v", g.Graph, len(g.Replays), len(g.Nodes), got, want[len(g.Nodes)])
		}
		slow := g.Replays[g.SlowestReplay]
		if slow.End-slow.Begin != g.Span.Max || g.Span.Min > g.Span.Median || g.Span.Median > g.Span.Max {
			t.Errorf("%+v", g.Span)
		}
	}
	// While another stream has the GPU the replay takes longest.
	if g := d.Graphs[0]; len(g.Nodes) < len(d.Graphs[1].Nodes) || g.SlowestReplay != 6 {
		t.Errorf("%d nodes, slowest %d of %+v", len(g.Nodes), g.SlowestReplay, g.Replays)
	}
}

// Both pictures are drawn, and what is under the cursor is told.
func TestMemoryAndGraphsAreDrawn(t *testing.T) {
	for picture, file := range map[string]string{"memory": "h200-memory.json.gz", "graphs": "h200-graphs.json.gz"} {
		c := viewtest.Case{Options: map[string][]string{"picture": {picture}}}
		r := c.Compute(t, operators.View, open(t, filepath.Join("testdata", file)))
		s := r.Scene(scene.Size{Width: 900, Height: 500})
		f := s.Frames[0]
		fact, ok, _ := view.PickAt(r, s, float64(f.X+4), float64(f.Y+6))
		if !ok || len(fact.Lines) == 0 || len(f.YScale.Rows) < 3 {
			t.Errorf("%s: %+v %v", picture, fact, ok)
		}
		// Without such records it says so.
		r = c.Compute(t, operators.View, (&viewtest.Case{Trace: model}).Open(t))
		if s := r.Scene(scene.Size{Width: 900, Height: 500}); len(s.Frames) != 0 || len(s.Layers) != 1 {
			t.Errorf("%s of nothing: %+v", picture, s)
		}
	}
}
