package findings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// A gpuText puts a job of one GPU together. Times are in µs.
type gpuText struct {
	host, work, links strings.Builder
}

func (g *gpuText) call(name string, begin, end int) *gpuText {
	fmt.Fprintf(&g.host, "    %dus..%dus %q\n", begin, end, name)
	return g
}

// inside is a call within the one before.
func (g *gpuText) inside(name string, begin, end int) *gpuText {
	fmt.Fprintf(&g.host, "      %dus..%dus %q\n", begin, end, name)
	return g
}

// kernel runs on the GPU; it is launched at a time, or without a record of that if it is negative.
func (g *gpuText) kernel(name string, launched, begin, end int) *gpuText {
	if launched >= 0 {
		g.inside("cudaLaunchKernel", launched, launched+5)
		fmt.Fprintf(&g.links, "link spawn %dus \"rank 0/main\" -> %dus \"rank 0/GPU/stream\" from=cudaLaunchKernel to=%q\n",
			launched, begin, name)
	}
	fmt.Fprintf(&g.work, "      %dus..%dus %q\n", begin, end, name)
	return g
}

func (g *gpuText) String() string {
	text := `region cudaLaunchKernel category=cuda_runtime role=overhead
region cudaDeviceSynchronize category=cuda_runtime role=synchronization
region gemm category=kernel role=compute
region Memcpy category=gpu_memcpy role=copy
region ncclDevKernel_AllReduce category=kernel role=communication
region prepare category=python_function role=compute
region "aten::add" category=cpu_op role=compute
`
	for k := range 6 {
		text += fmt.Sprintf("region \"ProfilerStep#%d\" category=user_annotation role=annotation\n", k)
	}
	return text + "location process \"rank 0\" rank=0\n  location thread main\n" + g.host.String() +
		"  location device GPU\n    location stream stream\n" + g.work.String() + g.links.String()
}

// steps makes six steps of 20 ms, each by a function that is told where it begins.
func steps(each func(g *gpuText, at int)) string {
	g := &gpuText{}
	for k := range 6 {
		at := 20_000 * k
		g.call(fmt.Sprintf("ProfilerStep#%d", k), at, at+20_000)
		each(g, at)
	}
	return g.String()
}

// alone are ranks that work by themselves: the spans of each, in ms.
func alone(n int, spans func(rank int) string) string {
	text := "region solve role=compute\nregion tune role=compute\n"
	for r := range n {
		text += fmt.Sprintf("location process \"rank %d\" rank=%d\n%s", r, r, spans(r))
	}
	return text
}

// madeCases are small runs, one a kind that has no planted fault with a cost.
func madeCases() map[finding.Kind]string {
	starving := (&goText{}).processor("main.work 0 100000").processor("main.work 0 50000", "idle 50000 100000")
	for i := range 3 {
		turns(starving, "main.work", "running", 900+10*i, "waiting: sync", 100-10*i)
	}
	starving.goroutine("main.work", 0, 100_000, "running 0 2000", "waiting: sync 2000 98000", "running 98000 98500", "waiting: sync 98500 100000")
	sleeping := (&goText{}).processor("main.work 0 30000", "idle 30000 100000").
		goroutine("main.work", 0, 100_000, "running 0 30000", "waiting: network 30000 95000", "running 95000 100000")
	return map[finding.Kind]string{
		finding.SynchronizationBound: steps(func(g *gpuText, at int) {
			for i := range 20 {
				b := at + 1000*i
				g.kernel("gemm", b+10, b+20, b+600).inside("cudaDeviceSynchronize", b+20, b+610).
					inside("aten::add", b+620, b+990)
			}
		}),
		finding.CopyBound: steps(func(g *gpuText, at int) {
			g.kernel("Memcpy", at+10, at+20, at+8000).kernel("gemm", at+30, at+8001, at+19_990)
		}),
		finding.ExposedCommunication: steps(func(g *gpuText, at int) {
			g.kernel("gemm", at+10, at+20, at+10_000).kernel("ncclDevKernel_AllReduce", at+30, at+10_001, at+19_990)
		}),
		finding.GPUIdle: steps(func(g *gpuText, at int) {
			g.kernel("gemm", -1, at+20, at+5000).kernel("gemm", -1, at+15_000, at+19_990)
		}),
		finding.HostBound: steps(func(g *gpuText, at int) {
			g.kernel("gemm", at+10, at+20, at+5000).inside("prepare", at+100, at+14_000).kernel("gemm", at+14_010, at+14_030, at+19_990)
		}),
		finding.IdleEnd: alone(16, func(r int) string {
			if r == 5 {
				return "  0ms..60ms solve\n"
			}
			return "  0ms..100ms solve\n"
		}),
		finding.IdleStart: alone(16, func(r int) string {
			if r == 5 {
				return "  40ms..100ms solve\n"
			}
			return "  0ms..100ms solve\n"
		}),
		finding.Heterogeneous: alone(16, func(r int) string {
			text, solve := "", 9
			if r == 5 {
				solve = 6
			}
			for k := range 10 {
				text += fmt.Sprintf("  %dms..%dms solve\n  %dms..%dms tune\n", 10*k, 10*k+solve, 10*k+solve, 10*k+10)
			}
			return text
		}),
		finding.Starvation:     starving.String(),
		finding.IdleProcessors: sleeping.String(),
	}
}

// Each kind has a small run that shows it. Its sentence is in testdata/sentences.txt, so that a change of words is read
// as such; the other tests match kinds, selections and evidence.
func TestEachKindHasAMadeCase(t *testing.T) {
	var lines []string
	add := func(kind finding.Kind, d *findings.Data) {
		i := slices.IndexFunc(d.Findings, func(f finding.Finding) bool { return f.Kind == kind })
		if i < 0 {
			t.Errorf("%s is not found: %q", kind, texts(d))
			return
		}
		f := &d.Findings[i]
		numbersAreEvidence(t, string(kind), d)
		if f.Next == "" || f.Show == "" || f.Link == "" || f.Title == "" {
			t.Errorf("%s: next %q, show %q, link %q", kind, f.Next, f.Show, f.Link)
		}
		lines = append(lines, fmt.Sprintf("%s, %s\n  %s\n  %s\n", kind, f.Severity, f.Text, f.Next))
	}
	for kind, text := range madeCases() {
		d := dataOf(t, viewtest.Case{Trace: text})
		add(kind, &d)
	}
	seen := map[finding.Kind]bool{}
	for _, p := range otherPlants() {
		if !seen[p.want] {
			d := read(t, p.run.store(t))
			add(p.want, &d)
			seen[p.want] = true
		}
	}
	slices.Sort(lines)
	golden(t, "sentences.txt", strings.Join(lines, "\n"))
}

// golden compares a text with a file of testdata, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if viewtest.Updating() {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; -update writes it anew:\n%s", path, got)
	}
}
