package derived_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/query/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/criticalpath"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// ask gives the rows of a query as text.
func ask(t *testing.T, r store.Reader, text string) (rows []string, err error) {
	t.Helper()
	d := &query.Database{Runs: []*table.Run{{Name: "run", Store: r}}, More: derived.Tables}
	found, err := d.Query(context.Background(), text, query.Limits{Time: time.Hour})
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var cells []string
		for _, c := range found.Row() {
			cells = append(cells, query.Cell(c))
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows, found.Err()
}

func mustAsk(t *testing.T, r store.Reader, text string) []string {
	t.Helper()
	rows, err := ask(t, r, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return rows
}

// shop is two requests: one through two services, one whose root is not in the source.
const shop = `
region "GET /" category=server role=compute
region "list" category=client role=communication
region "select" category=server role=compute
location service front
  0us..100us "GET /" "trace"="a1" "span"="1"
    10us..80us "list" "trace"="a1" "span"="2" "parent span"="1"
  200us..300us "GET /" "trace"="b2" "span"="1"
location service database
  20us..50us "select" "trace"="a1" "span"="3" "parent span"="2" "error"="true"
link spawn 10us "front" -> 20us "database" from=list to=select
`

func TestACriticalPathLiesEndToEnd(t *testing.T) {
	r := storetest.Text(t, shop)
	got := strings.Join(mustAsk(t, r, "select request, service, region, begin, \"end\", failed from critical_path('a1')"), "\n")
	want := "a1|front|GET /|0|10000|0\na1|front|list|10000|20000|0\na1|database|select|20000|50000|1\na1|front|list|50000|80000|0\na1|front|GET /|80000|100000|0"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := mustAsk(t, r, "select distinct request from critical_path(null, 150000)"); len(got) != 1 || got[0] != "b2" {
		t.Errorf("requests from 150 µs on: %v", got)
	}
	joined := mustAsk(t, r, "select sum(c.duration), count(*) from critical_path() c join intervals i on i.location = c.location and i.lane = c.lane and i.row = c.row and i.region_id = c.region_id")
	if joined[0] != "200000|6" {
		t.Errorf("sections with their intervals: %v", joined)
	}
	if _, err := ask(t, r, "select * from critical_path('slow:200%')"); err == nil || !strings.Contains(err.Error(), "slow:SHARE") {
		t.Errorf("a condition that is none: %v", err)
	}
}

// The function and the view are two ways to the same numbers, here over random requests.
func TestCriticalPathsAreThoseOfTheView(t *testing.T) {
	r := viewtest.ImportBytes(t, "spans.json", viewtest.WriteSpans("jaeger", viewtest.RandomSpans(7, 400)))
	c := viewtest.Case{Options: map[string][]string{"by": {"operation"}}}
	d := c.Compute(t, criticalpath.View, r).Data().(criticalpath.Data)
	want := map[string]trace.Time{}
	for _, x := range d.By {
		want[x.Service+"|"+x.Region] += x.Time
	}
	got := mustAsk(t, r, "select service, region, sum(duration) from critical_path() where region is not null group by 1, 2")
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d operations on critical paths, the view has %d", len(got), len(want))
	}
	for _, line := range got {
		at := strings.LastIndex(line, "|")
		if line[at+1:] != fmt.Sprint(int64(want[line[:at]])) {
			t.Errorf("%s: the view has %d", line, want[line[:at]])
		}
	}
}

// gpu is two steps that launch a kernel each and wait for it.
const gpu = `
region ProfilerStep#1 category=user_annotation role=annotation
region ProfilerStep#2 category=user_annotation role=annotation
region aten::mm category=cpu_op role=compute
region cudaLaunchKernel category=cuda_runtime role=overhead
region cudaDeviceSynchronize category=cuda_runtime role=synchronization
region gemm category=kernel role=compute
location process "rank 0" rank=0
  location thread main
    0us..50us ProfilerStep#1
      5us..15us aten::mm
        8us..12us cudaLaunchKernel
      20us..45us cudaDeviceSynchronize
    60us..99us ProfilerStep#2
      62us..80us aten::mm
        70us..72us cudaLaunchKernel
      85us..98us cudaDeviceSynchronize
  location device "GPU 0"
    location stream "stream 7"
      14us..44us gemm
      74us..95us gemm
link spawn 8us "rank 0/main" -> 14us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=gemm
link spawn 70us "rank 0/main" -> 74us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=gemm
`

// So it is with the steps of a GPU job.
func TestCriticalPathsOfStepsAreThoseOfTheView(t *testing.T) {
	r := storetest.Text(t, gpu)
	c := viewtest.Case{Options: map[string][]string{"by": {"operation"}}}
	d := c.Compute(t, criticalpath.View, r).Data().(criticalpath.StepData)
	want := map[string]trace.Time{}
	for _, x := range d.By {
		want[x.Kind+"|"+x.Region] += x.Time
	}
	got := mustAsk(t, r, "select service, coalesce(region, ''), sum(duration) from critical_path() group by 1, 2")
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d operations on critical paths, the view has %d", len(got), len(want))
	}
	for _, line := range got {
		at := strings.LastIndex(line, "|")
		if line[at+1:] != fmt.Sprint(int64(want[line[:at]])) {
			t.Errorf("%s: the view has %d", line, want[line[:at]])
		}
	}
}

// A step by its name, stretch by stretch.
func TestTheStepsOfAGPUJobCanBeAskedFor(t *testing.T) {
	got := strings.Join(mustAsk(t, storetest.Text(t, gpu), "select service, region, begin, duration from critical_path('*#2')"), "\n")
	want := "nothing recorded|ProfilerStep#2|60000|2000\non the host|aten::mm|62000|8000\ncall|cudaLaunchKernel|70000|2000\nlaunch|gemm|72000|2000\nkernel|gemm|74000|21000\nreturn|cudaDeviceSynchronize|95000|3000\nnothing recorded|ProfilerStep#2|98000|1000"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestARunWithoutSpansSaysSo(t *testing.T) {
	r := storetest.Text(t, "region work\nlocation thread main\n  0..10 work\n")
	if _, err := ask(t, r, "select * from critical_path()"); err == nil || !strings.Contains(err.Error(), "needs spans") {
		t.Errorf("got %v", err)
	}
}

func TestFindingsAreThoseOfTheView(t *testing.T) {
	planted, _ := demo.Find("stencil")
	r := viewtest.Local(t, func(w trace.Writer) {
		if err := planted.Write(t.Context(), planted.Options, w); err != nil {
			t.Fatal(err)
		}
	})
	c := viewtest.Case{}
	d := c.Compute(t, findings.View, r).Data().(findings.Data)
	got := mustAsk(t, r, "select kind, lost, text from findings()")
	if len(got) == 0 || len(got) != len(d.Findings) {
		t.Fatalf("%d findings, the view has %d", len(got), len(d.Findings))
	}
	for i, f := range d.Findings {
		if want := fmt.Sprintf("%s|%d|%s", f.Kind, int64(f.Lost), f.Text); got[i] != want {
			t.Errorf("%d: %s, the view says %s", i, got[i], want)
		}
	}
	if got := mustAsk(t, storetest.Text(t, ""), "select * from findings()"); len(got) != 0 {
		t.Errorf("an empty run has findings: %v", got)
	}
}
