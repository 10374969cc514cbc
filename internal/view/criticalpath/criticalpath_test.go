package criticalpath_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/criticalpath"
)

// shop is three requests through three services. The second is slow in the database, the third fails there.
const shop = `
region "GET /" category=server role=compute
region "list" category=client role=communication
region "select" category=server role=compute
location service front
  0us..100us "GET /" "trace"="a1" "span"="1"
    10us..80us "list" "trace"="a1" "span"="2" "parent span"="1"
  200us..500us "GET /" "trace"="b2" "span"="1"
    210us..480us "list" "trace"="b2" "span"="2" "parent span"="1"
  600us..680us "GET /" "trace"="c3" "span"="1"
    610us..670us "list" "trace"="c3" "span"="2" "parent span"="1"
location service database
  location process db-1
    20us..50us "select" "trace"="a1" "span"="3" "parent span"="2"
    220us..470us "select" "trace"="b2" "span"="3" "parent span"="2"
  location process db-2
    620us..660us "select" "trace"="c3" "span"="3" "parent span"="2" "error"="true"
link spawn 10us "front" -> 20us "database/db-1" from=list to=select
link spawn 210us "front" -> 220us "database/db-1" from=list to=select
link spawn 610us "front" -> 620us "database/db-2" from=list to=select
`

func TestView(t *testing.T) {
	viewtest.Run(t, criticalpath.View,
		viewtest.Case{Name: "call paths", Trace: shop},
		viewtest.Case{Name: "services", Trace: shop, Options: map[string][]string{"by": {"service"}}},
		viewtest.Case{Name: "one request", Trace: shop, Options: map[string][]string{"request": {"b2"}}},
	)
}

func data(t *testing.T, c viewtest.Case, r store.Reader) criticalpath.Data {
	t.Helper()
	return viewtest.Decoded[criticalpath.Data](t, c.Compute(t, criticalpath.View, r))
}

func TestTimeAddsUpOverRequests(t *testing.T) {
	c := viewtest.Case{Trace: shop}
	d := data(t, c, c.Open(t))
	if d.Length != 480_000 || d.Requests != 3 || d.Request != "b2" || len(d.By) != 3 {
		t.Fatalf("length %d of %d requests, shown %q, %d rows", d.Length, d.Requests, d.Request, len(d.By))
	}
	x := d.By[0]
	if x.Region != "select" || x.Service != "database" || x.CallPath != "front: GET / > front: list > database: select" || x.Time != 320_000 || x.Requests != 3 || x.P50 != 40_000 || x.P99 != 250_000 || x.Failed != 1 {
		t.Errorf("first row %+v", x)
	}
	sum := trace.Time(0)
	for _, x := range d.By {
		sum += x.Time
	}
	if sum != d.Length {
		t.Errorf("rows add up to %d of %d", sum, d.Length)
	}
}

func TestRequestsAreChosenByWords(t *testing.T) {
	for word, want := range map[string]int{"a1": 1, "*": 3, "slow": 1, "slow:60%": 2, "errors": 1, ">90us": 2, "<90us": 1, "root:GET*": 3, "root:POST": 0, "span=1": 3, "span=7": 0} {
		c := viewtest.Case{Trace: shop, Options: map[string][]string{"request": {word}}}
		if want == 0 {
			if _, err := criticalpath.View.Compute(t.Context(), c.Request(t, criticalpath.View, c.Open(t))); err == nil {
				t.Errorf("%s: no error", word)
			}
			continue
		}
		if d := data(t, c, c.Open(t)); d.Requests != want {
			t.Errorf("%s: %d requests, want %d", word, d.Requests, want)
		}
	}
}

// The published answers of CRISP, to the microsecond and with the service.
func TestCRISPCases(t *testing.T) {
	files, err := filepath.Glob("testdata/crisp/*.json")
	if err != nil || len(files) != 20 {
		t.Fatalf("%d cases: %v", len(files), err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := viewtest.ImportBytes(t, "x.json", b)
		got := map[string]float64{}
		for _, x := range data(t, viewtest.Case{Reader: func(testing.TB) store.Reader { return r }}, r).By {
			got["["+x.Service+"] "+x.Region] += float64(x.Time) / 1000
		}
		for op, want := range published(t, b) {
			if got[op] != want {
				t.Errorf("%s: %s has %v µs on the critical path, want %v", filepath.Base(name), op, got[op], want)
			}
		}
	}
}

// published reads the answers: those of a case are a list, an object, or a part of one.
func published(t *testing.T, b []byte) map[string]float64 {
	t.Helper()
	var file struct{ Testing json.RawMessage }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	list := []map[string]any{{}}
	if strings.HasPrefix(string(file.Testing), "{") {
		if err := json.Unmarshal(file.Testing, &list[0]); err != nil {
			t.Fatal(err)
		}
	} else if err := json.Unmarshal(file.Testing, &list); err != nil {
		t.Fatal(err)
	}
	from := list[0]
	if inner, ok := from["opTimeExclusive"].(map[string]any); ok {
		from = inner
	}
	out := map[string]float64{}
	for k, v := range from {
		if x, ok := v.(float64); ok && strings.HasPrefix(k, "[") {
			out[k] = x
		}
	}
	if len(out) == 0 {
		t.Fatal("the case has no answers")
	}
	return out
}
