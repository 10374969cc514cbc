package requests_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/requests"
)

// shop is requests through a front and a database. Every fifth comes from "eu", asks the database eight
// times instead of once and takes that much longer; every seventh fails.
func shop(n int) string {
	var front, base, links strings.Builder
	for i := range n {
		at := i * 100_000
		asks, region := 1, "us"
		if i%5 == 4 {
			asks, region = 8, "eu"
		}
		length := 2000 + i%3*100 + asks*1000
		fmt.Fprintf(&front, "  %dns..%dns \"GET /\" \"trace\"=\"t%d\" \"span\"=\"1\" \"region\"=\"%s\" \"tenant\"=\"%d\"\n", at, at+length, i, region, i%2)
		for k := range asks {
			b := at + 1000 + k*1000
			failed := ""
			if i%7 == 3 && k == 0 {
				failed = ` "error"="true"`
			}
			fmt.Fprintf(&base, "  %dns..%dns select \"trace\"=\"t%d\" \"span\"=\"%d\" \"parent span\"=\"1\"%s\n", b, b+900, i, k+2, failed)
			fmt.Fprintf(&links, "link spawn %dns front -> %dns database from=\"GET /\" to=select\n", at, b)
		}
	}
	return "region \"GET /\" category=server role=compute\nregion select category=client role=communication\nlocation service front\n" + front.String() + "location service database\n" + base.String() + links.String()
}

func TestView(t *testing.T) {
	viewtest.Run(t, requests.View,
		viewtest.Case{Name: "over time", Trace: shop(40)},
		viewtest.Case{Name: "chosen", Trace: shop(40), Options: map[string][]string{"request": {"region=eu"}}},
		viewtest.Case{Name: "one", Trace: shop(5), Options: map[string][]string{"request": {"t4"}}},
		viewtest.Case{Name: "expanded", Trace: shop(5), Options: map[string][]string{"request": {"t4"}, "expand": {"select"}}},
	)
}

func data(t *testing.T, c viewtest.Case, r store.Reader) requests.Data {
	t.Helper()
	return viewtest.Decoded[requests.Data](t, c.Compute(t, requests.View, r))
}

func TestRowsTellOfRequests(t *testing.T) {
	c := viewtest.Case{Trace: shop(40)}
	d := data(t, c, c.Open(t))
	if len(d.Rows) != 40 || len(d.Spans) != 0 || len(d.Differs) != 0 {
		t.Fatalf("%d rows, %d spans, %d differences", len(d.Rows), len(d.Spans), len(d.Differs))
	}
	x := d.Rows[4]
	if x.ID != "t4" || x.Root != "GET /" || x.Service != "front" || x.Duration != 10_100 || x.Spans != 9 || x.Services != 2 || x.Errors != 0 || len(x.Critical) != 2 ||
		x.Critical[0].Service != "database" || x.Critical[0].Region != "select" || x.Critical[0].Time != 7200 || x.Critical[1].Time != 2900 {
		t.Errorf("row %+v", x)
	}
	if d.Rows[3].Errors != 1 {
		t.Errorf("the fourth fails, not: %+v", d.Rows[3])
	}
	if s := d.Self[0]; s.Region != "GET /" || s.Calls != 40 {
		t.Errorf("most self time: %+v", s)
	}
}

// What was planted is found, first the largest effect; what is the same on both sides is not.
func TestAttributesThatSeparateSlowRequestsAreFound(t *testing.T) {
	c := viewtest.Case{Trace: shop(80), Options: map[string][]string{"request": {"slow:20%"}}}
	d := data(t, c, c.Open(t))
	found := map[string]requests.Differ{}
	for _, x := range d.Differs {
		found[x.Attribute+" "+x.Value] = x
	}
	for _, name := range []string{"region eu", "calls of database: select", "self time of database: select"} {
		if x, ok := found[name]; !ok || x.Effect != 1 || x.Q > 1e-6 {
			t.Errorf("%s: %+v", name, x)
		}
	}
	if x := found["region us"]; x.Effect != -1 || x.Inside != 0 || x.Outside != 1 {
		t.Errorf("us is outside: %+v", x)
	}
	if x := found["tenant 1"]; x.Q < 0.05 {
		t.Errorf("the tenant makes no difference: %+v", x)
	}
	if d.Tests != len(d.Differs) || d.Tests < 5 {
		t.Errorf("%d tests, %d differences", d.Tests, len(d.Differs))
	}
}

// Calls that one caller repeats are one row, unless they are asked for.
func TestRepeatedCallsAreOneRow(t *testing.T) {
	rows := func(options map[string][]string) int {
		c := viewtest.Case{Trace: shop(5), Options: options}
		return len(c.Compute(t, requests.View, c.Open(t)).Scene(c.Request(t, requests.View, c.Open(t)).Size).Frames[0].YScale.Rows)
	}
	if n := rows(map[string][]string{"request": {"t4"}}); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
	if n := rows(map[string][]string{"request": {"t4"}, "expand": {"select"}}); n != 9 {
		t.Errorf("%d rows expanded, want 9", n)
	}
}

// The twins hold every call of the request that is drawn, with its time on the critical path.
func TestOneRequestHasEachCallWithItsTimeOnTheCriticalPath(t *testing.T) {
	c := viewtest.Case{Trace: shop(5), Options: map[string][]string{"request": {"t4"}}}
	d := data(t, c, c.Open(t))
	sum := trace.Time(0)
	for _, s := range d.Spans {
		sum += s.Critical
	}
	if len(d.Spans) != 9 || sum != 10_100 || d.Spans[1].Parent == nil || *d.Spans[1].Parent != 0 || d.Spans[0].Self != 2900 {
		t.Errorf("%d spans, %d on the path, %+v", len(d.Spans), sum, d.Spans[0])
	}
}

// SmartThings' web install is one request: it is drawn at once.
func TestRealRequest(t *testing.T) {
	r := viewtest.Import(t, "data", "public", "zipkin", "smartthings", "smartthings-mobile-web-install.json")
	d := data(t, viewtest.Case{Reader: func(testing.TB) store.Reader { return r }}, r)
	sum := trace.Time(0)
	for _, s := range d.Spans {
		sum += s.Critical
	}
	if len(d.Rows) != 1 || int(d.Rows[0].Spans) != len(d.Spans) || sum != d.Rows[0].Duration {
		t.Errorf("%d requests, %d spans, %d on the path", len(d.Rows), len(d.Spans), sum)
	}
}

// Rows with the longest calls are shown, each with its caller's, and what a row stands for is counted.
func TestTheLongestRowsAreShownWithTheirCallers(t *testing.T) {
	c := viewtest.Case{Trace: shop(5), Options: map[string][]string{"request": {"t4"}, "expand": {"select"}}, Size: scene.Size{Width: 600, Height: 130}}
	s := c.Compute(t, requests.View, c.Open(t)).Scene(c.Size)
	var head string
	for _, l := range s.Layers {
		if l.Name == "head" {
			head = l.Marks[0].(*scene.Text).Text[0]
		}
	}
	rows := s.Frames[0].YScale.Rows
	if len(rows) < 2 || len(rows) >= 9 || rows[0].Label != "front: GET /" || !strings.Contains(head, fmt.Sprintf("the %d longest of 9 rows", len(rows))) {
		t.Errorf("%d rows, the first %q, under %q", len(rows), rows[0].Label, head)
	}
}

// Clocks that were moved are said to be.
func TestCorrectedClocksAreNoted(t *testing.T) {
	r := storetest.Text(t, "property \"clock alignment\" \"by calls, from 3 pairs of instances\"\n"+shop(10))
	c := viewtest.Case{Reader: func(testing.TB) store.Reader { return r }}
	notes := strings.Join(c.Compute(t, requests.View, r).Notes(), "\n")
	if !strings.Contains(notes, "clocks were fitted by calls, from 3 pairs of instances") {
		t.Errorf("said is:\n%s", notes)
	}
}
