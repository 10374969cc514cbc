package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	statistics "github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// iterations writes a run of some iterations, of which solve takes a multiple of its time.
func iterations(t *testing.T, dir, name string, seed uint64, count int, factor float64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	events := []string{`{"ph":"M","pid":0,"name":"process_name","args":{"name":"rank 0"}}`}
	now := 0.0
	add := func(name string, begin, duration float64) {
		events = append(events, fmt.Sprintf(`{"ph":"X","pid":0,"tid":0,"ts":%.3f,"dur":%.3f,"name":%q}`, begin, duration, name))
	}
	for i := range count {
		begin := now
		for _, part := range []struct {
			name string
			time float64
		}{{"assemble", 3000}, {"solve", 9000 * factor}, {"write", 500}} {
			d := part.time * (1 + 0.008*r.NormFloat64())
			add(part.name, now, d)
			now += d
		}
		add(fmt.Sprint("iteration ", i), begin, now-begin)
		now += 20
	}
	path := filepath.Join(dir, name+".json")
	if err := os.WriteFile(path, []byte("["+strings.Join(events, ",\n")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompareIsAGate(t *testing.T) {
	dir := t.TempDir()
	series := func(name string, n int, seed uint64, count int, factor float64) (out []string) {
		for i := range n {
			out = append(out, iterations(t, dir, fmt.Sprint(name, i), seed+uint64(i), count, factor))
		}
		return out
	}
	old, slow, same, longer := series("a", 5, 0, 12, 1), series("s", 5, 100, 12, 1.3), series("n", 5, 200, 12, 1), series("l", 5, 300, 18, 1)
	for _, c := range []struct {
		what   string
		a, b   []string
		limits []string
		status int
	}{
		{"two slow runs", old[:2], slow[:2], []string{"--fail-on", "length=5%"}, 1},
		{"three slow runs, by region", old[:3], slow[:3], []string{"--fail-on", "solve=10%"}, 1},
		{"five slow runs", old, slow, []string{"--fail-on", "length=5%"}, 1},
		{"slow steps", old[:3], slow[:3], []string{"--fail-on", "step=5%"}, 1},
		{"as slow steps, but more", old, longer, []string{"--fail-on", "step=5%"}, 0},
		{"no change", old, same, []string{"--fail-on", "length=5%", "--fail-on", "changed=0"}, 0},
		{"one slow run", old[:1], slow[:1], []string{"--fail-on", "length=5%"}, 4},
		{"one run as long as the other", old[:1], same[:1], []string{"--fail-on", "length=5%"}, 4},
		{"slower, perhaps by that", old[:3], slow[:3], []string{"--fail-on", "length=21.5%"}, 4},
		{"one run, any change", old[:1], same[:1], []string{"--fail-on", "changed=0"}, 4},
		{"one slow run, let pass", old[:1], slow[:1], []string{"--fail-on", "length=5%", "--cannot-tell", "pass"}, 0},
		{"one slow run, to fail", old[:1], slow[:1], []string{"--fail-on", "length=5%", "--cannot-tell", "fail"}, 1},
		{"a misspelt limit", old, slow, []string{"--fail-on", "lengthh=5%"}, 2},
		{"an unknown region", old, slow, []string{"--fail-on", "no_such_region=5%"}, 2},
		{"a call path", old, slow, []string{"--fail-on", "iteration … → solve=10%"}, 1},
		{"an unknown call path", old, slow, []string{"--fail-on", "iteration … → slove=10%"}, 2},
		{"a misspelt word", old, slow, []string{"--fail-on", "length=5%", "--cannot-tell", "fial"}, 2},
		{"more iterations of the same code", old, longer, []string{"--fail-on", "length=5%", "--fail-on", "changed=0"}, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			args := append(append(append(append([]string{"compare"}, c.a...), "--"), c.b...), c.limits...)
			var stdout, stderr bytes.Buffer
			status := run(context.Background(), append(args, "--cache", filepath.Join(dir, "cache")), &stdout, &stderr)
			out, problem := stdout.String(), stderr.String()
			if status != c.status {
				t.Errorf("status %d, want %d: %s%s", status, c.status, out, problem)
			}
			if c.status == 4 && !strings.Contains(out, "CANNOT TELL") {
				t.Errorf("it does not say that it cannot tell: %s", out)
			}
			if c.what == "a misspelt limit" && !strings.Contains(problem, `"length"`) && !strings.Contains(problem, "length?") {
				t.Errorf("it does not name the nearest: %s", problem)
			}
		})
	}
}

// spansWith writes requests of which the slowest twentieth takes a multiple of its time.
func spansWith(t *testing.T, path string, seed uint64, factor float64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	var spans []string
	for i := range 200 {
		d := 1e6 * (1 + 0.02*r.NormFloat64())
		if i%20 == 0 {
			d *= 5 * factor
		}
		spans = append(spans, fmt.Sprintf(`{"traceId":"%032x","spanId":"%016x","name":"GET /","kind":2,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"}`,
			i+1, i+1, 1790857026000000000+int64(i)*10_000_000, 1790857026000000000+int64(i)*10_000_000+int64(d)))
	}
	text := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"front"}}]},"scopeSpans":[{"spans":[` +
		strings.Join(spans, ",") + `]}]}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// jobWith writes a GPU's job whose kernels take a share of each step, with a counter of memory.
func jobWith(t *testing.T, path string, seed uint64, busy, memory float64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 11))
	events := []string{}
	for i := range 10 {
		at := 1000 * float64(i)
		events = append(events,
			fmt.Sprintf(`{"ph":"X","cat":"user_annotation","pid":1,"tid":1,"ts":%.3f,"dur":990,"name":"ProfilerStep#%d"}`, at, i),
			fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","pid":1,"tid":1,"ts":%.3f,"dur":5,"name":"cudaLaunchKernel","args":{"correlation":%d}}`, at+10, i+1),
			fmt.Sprintf(`{"ph":"X","cat":"kernel","pid":0,"tid":7,"ts":%.3f,"dur":%.3f,"name":"gemm","args":{"device":0,"stream":7,"correlation":%d}}`, at+20, 900*busy*(1+0.003*r.NormFloat64()), i+1),
			fmt.Sprintf(`{"ph":"i","cat":"cpu_instant_event","s":"t","pid":1,"tid":1,"ts":%.3f,"name":"[memory]","args":{"Device Type":1,"Device Id":0,"Addr":%d,"Bytes":1024,"Total Allocated":%.0f,"Total Reserved":%.0f}}`, at+15, i+1, memory*1e9*(1+0.001*r.Float64()), memory*1.1e9*(1+0.001*r.Float64())))
	}
	text := `{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU","totalGlobalMem":16000000000}],"distributedInfo":{"rank":0},"traceEvents":[` + strings.Join(events, ",\n") + `]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Measures of a run, each with a test of its own, are limits too.
func TestLimitsOnMeasures(t *testing.T) {
	dir := t.TempDir()
	var spans, slower, jobs, idler []string
	for i := range 3 {
		name := func(s string) string { return filepath.Join(dir, fmt.Sprint(s, i, ".json")) }
		spans = append(spans, spansWith(t, name("s"), uint64(i), 1))
		slower = append(slower, spansWith(t, name("t"), uint64(i+50), 1.4))
		jobs = append(jobs, jobWith(t, name("j"), uint64(i), 0.9, 1))
		idler = append(idler, jobWith(t, name("k"), uint64(i+50), 0.6, 2))
	}
	for _, c := range []struct {
		what   string
		a, b   []string
		limit  string
		status int
		says   string
	}{
		{"slow ones", spans, slower, "requests-p99=5%", 1, "ms"},
		{"the median stays", spans, slower, "requests-p50=5%", 0, ""},
		{"one run a side", spans[:1], slower[:1], "requests-p99=5%", 4, "with 1 and 1 runs"},
		{"no steps", spans, slower, "step=5%", 2, "has no steps"},
		{"one GPU", jobs, idler, "load-balance=5%", 2, "it needs several"},
		{"no requests", jobs, idler, "requests-p99=5%", 2, "has no requests"},
		{"idle GPU", jobs, idler, "gpu-busy=5%", 1, "%"},
		{"busier GPU", idler, jobs, "gpu-busy=5%", 0, ""},
		{"no GPU", spans, slower, "gpu-busy=5%", 2, "has no work of a GPU"},
		{"memory", jobs, idler, "memory=10%", 1, "GiB"},
		{"less memory", idler, jobs, "memory=10%", 0, ""},
		{"no memory", spans, slower, "memory=10%", 2, "no counter of memory"},
		{"a misspelt measure", jobs, idler, "memroy=10%", 2, "memory"},
	} {
		t.Run(c.what, func(t *testing.T) {
			args := append(append(append([]string{"compare"}, c.a...), "--"), c.b...)
			status, out, problem := parallax(t, append(args, "--fail-on", c.limit)...)
			if status != c.status || !strings.Contains(out+problem, c.says) {
				t.Errorf("status %d, want %d and %q: %s%s", status, c.status, c.says, out, problem)
			}
		})
	}
}

// Factors of POP are the numbers that check prints, of ranks and of GPUs.
func TestFactorsAreThoseOfCheck(t *testing.T) {
	for _, name := range []string{"stencil", "training"} {
		_, out, _ := parallax(t, "check", "demo:"+name, "--json")
		var found struct{ Data findings.Data }
		if err := json.Unmarshal([]byte(out), &found); err != nil {
			t.Fatal(err)
		}
		for limit, want := range map[string]*float64{"load-balance": found.Data.POP.LoadBalance,
			"communication-efficiency": found.Data.POP.Communication, "parallel-efficiency": found.Data.POP.Parallel} {
			status, out, problem := parallax(t, "compare", "demo:"+name, "--", "demo:"+name+"?balanced", "--fail-on", limit+"=3%")
			if want == nil || status != 4 || !strings.Contains(out, limit+"=3%: "+view.FormatShare(*want)+" to ") {
				t.Errorf("%s of %s: status %d, want %v: %s%s", limit, name, status, want, out, problem)
			}
		}
	}
}

// A limit is broken, or holds, where the interval of the change says so; elsewhere the runs cannot tell.
func TestLimitsAreHeldAgainstTheInterval(t *testing.T) {
	near := compare.Row{ValuesA: []float64{100, 101, 99}, ValuesB: []float64{107, 104, 110}}
	for _, c := range []struct {
		what   string
		length compare.Row
		limit  float64
		answer statistics.Answer
		says   string
	}{
		{"surely longer, but not by that", near, 0.05, statistics.CannotTell, "beyond the limit, with 3 and 3 runs not for certain; about"},
		{"surely longer by that", near, 0.001, statistics.Broken, "+7.00% (+0.6 … +13.8 % with 95 % confidence)"},
		{"perhaps longer by that", near, 0.10, statistics.CannotTell, "within the limit, with 3 and 3 runs not for certain; about"},
		{"surely not longer by that", near, 0.20, statistics.Holds, "+7.00%"},
		{"as long as the limit", compare.Row{ValuesA: []float64{100, 103, 98, 101}, ValuesB: []float64{105, 108.2, 103, 106}}, 0.05,
			statistics.CannotTell, "about as large as the limit"},
		{"one run a side", compare.Row{ValuesA: []float64{100}, ValuesB: []float64{101}}, 0.05, statistics.CannotTell,
			"with 1 and 1 runs not for certain; two or three runs per side can show"},
		{"new", compare.Row{ValuesA: []float64{0, 0, 0}, ValuesB: []float64{10, 11, 12}}, 0.05, statistics.Broken, "new"},
		{"none", compare.Row{ValuesA: []float64{0}, ValuesB: []float64{0}}, 0.05, statistics.Holds, ""},
	} {
		d := &compare.Data{Unit: "ns", Length: c.length, A: make([]compare.Run, len(c.length.ValuesA)), B: make([]compare.Run, len(c.length.ValuesB))}
		g := judgeLimits([]changeLimit{{text: "length", what: "length", value: c.limit}}, d)
		if x := g.Limits[0]; x.Answer != c.answer || !strings.Contains(x.Text, c.says) {
			t.Errorf("%s: %+v, want %s and %q", c.what, x, c.answer, c.says)
		}
		if len(g.Failed) > 0 != (c.answer == statistics.Broken) || len(g.CannotTell) > 0 != (c.answer == statistics.CannotTell) {
			t.Errorf("%s: %+v", c.what, g)
		}
	}
}

// A region that is on several call paths is one question: the sum of its times.
func TestALimitOnARegionAddsItsCallPaths(t *testing.T) {
	d := &compare.Data{Unit: "ns", A: make([]compare.Run, 3), B: make([]compare.Run, 3), Rows: []compare.Row{
		{Kind: "path", Region: "solve", CallPath: "a → solve", ValuesA: []float64{100, 101, 99}, ValuesB: []float64{150, 151, 149}},
		{Kind: "path", Region: "solve", CallPath: "b → solve", ValuesA: []float64{150, 151, 149}, ValuesB: []float64{100, 101, 99}},
	}}
	for what, answer := range map[string]statistics.Answer{"solve": statistics.Holds, "a → solve": statistics.Broken} {
		if got, text := (&changeLimit{text: what, what: what, value: 0.05}).judge(d); got != answer {
			t.Errorf("%s: %s (%s), want %s", what, got, text, answer)
		}
	}
}
