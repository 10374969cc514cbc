package services_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/services"
)

// shop is requests through a front, a cart and a database. The cart asks the database twice and tells a queue, for which nobody
// waits and which calls the front again; every fourth call of the database fails.
func shop(n int) string {
	var front, cart, base, queue, links strings.Builder
	for i := range n {
		at := i * 100_000
		failed := ""
		if i%4 == 1 {
			failed = ` "error"="true"`
		}
		fmt.Fprintf(&front, "  %dns..%dns \"GET /\" \"trace\"=\"t%d\" \"span\"=\"1\"\n", at, at+9000+i, i)
		fmt.Fprintf(&cart, "  %dns..%dns add \"trace\"=\"t%d\" \"span\"=\"2\" \"parent span\"=\"1\"\n", at+1000, at+8000, i)
		fmt.Fprintf(&base, "  %dns..%dns select \"trace\"=\"t%d\" \"span\"=\"3\" \"parent span\"=\"2\"\n", at+2000, at+3000, i)
		fmt.Fprintf(&base, "  %dns..%dns select \"trace\"=\"t%d\" \"span\"=\"4\" \"parent span\"=\"2\"%s\n", at+4000, at+6000, i, failed)
		fmt.Fprintf(&queue, "  %dns..%dns take \"trace\"=\"t%d\" \"span\"=\"5\" \"parent span\"=\"2\"\n", at+20000, at+30000, i)
		fmt.Fprintf(&front, "  %dns..%dns mail \"trace\"=\"t%d\" \"span\"=\"6\" \"parent span\"=\"5\"\n", at+21000, at+22000, i)
		fmt.Fprintf(&links, "link spawn %dns front -> %dns cart from=\"GET /\" to=add\n", at, at+1000)
		for _, b := range []int{2000, 4000} {
			fmt.Fprintf(&links, "link spawn %dns cart -> %dns database from=add to=select\n", at+1000, at+b)
		}
		fmt.Fprintf(&links, "link spawn %dns cart -> %dns queue from=add to=take\n", at+1000, at+20000)
		fmt.Fprintf(&links, "link spawn %dns queue -> %dns front from=take to=mail\n", at+20000, at+21000)
	}
	return "region \"GET /\" category=server role=compute\nregion take category=consumer role=compute\nlocation service front\n" + front.String() + "location service cart\n" + cart.String() +
		"location service database\n" + base.String() + "location service queue\n" + queue.String() + links.String()
}

func TestView(t *testing.T) {
	viewtest.Run(t, services.View,
		viewtest.Case{Name: "shop", Trace: shop(40)},
		viewtest.Case{Name: "two alone", Trace: shop(4), Options: map[string][]string{"top": {"2"}}},
		viewtest.Case{Name: "failed", Trace: shop(40), Options: map[string][]string{"request": {"errors"}}},
	)
}

func data(t *testing.T, c viewtest.Case, r store.Reader) services.Data {
	t.Helper()
	return viewtest.Decoded[services.Data](t, c.Compute(t, services.View, r))
}

func TestCallsBetweenServicesAreAddedUp(t *testing.T) {
	c := viewtest.Case{Trace: shop(40)}
	d := data(t, c, c.Open(t))
	if d.Requests != 40 || len(d.Rows) != 9 {
		t.Fatalf("%d requests, %d services and edges", d.Requests, len(d.Rows))
	}
	got := ""
	for _, x := range d.Rows[4:] {
		got += fmt.Sprintf("%s>%s %d calls, %d fail, %d apart, p50 %v p95 %v; ", x.From, x.Service, x.Calls, x.Errors, x.Apart, x.P50, x.P95)
	}
	want := ">front 40 calls, 0 fail, 0 apart, p50 9019.5 p95 9037.05; cart>database 80 calls, 10 fail, 0 apart, p50 1500 p95 2000; " +
		"cart>queue 40 calls, 0 fail, 40 apart, p50 10000 p95 10000; front>cart 40 calls, 0 fail, 0 apart, p50 7000 p95 7000; queue>front 40 calls, 0 fail, 0 apart, p50 1000 p95 1000; "
	if got != want {
		t.Errorf("edges are\n%s\nwant\n%s", got, want)
	}
	if x := d.Rows[2]; x.Service != "front" || x.Calls != 80 || *x.Spans != 80 || math.Abs(x.Rate-80/d.Seconds) > 1e-9 {
		t.Errorf("front: %+v", x)
	}
}

// Numbers of real files are those that a Python program finds in the raw JSON.
func TestNumbersAreThoseOfTheRawFile(t *testing.T) {
	b, err := os.ReadFile("testdata/recomputed.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]struct {
		Kind, From, Service string
		Calls, Errors       int64
		P50, P95, P99       float64
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"yelp.json": "testdata/yelp.json", "15.json": "../criticalpath/testdata/crisp/15.json", "16.json": "../criticalpath/testdata/crisp/16.json",
		"ride.json": "../../../docs/tutorials/data/ride.json", "smartthings-mobile-web-install.json": "../../../../shared/data/public/zipkin/smartthings/smartthings-mobile-web-install.json"} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err != nil && strings.Contains(path, "shared") {
				t.Skip("the file is not here")
			} else if err != nil {
				t.Fatal(err)
			}
			r := viewtest.ImportBytes(t, "x.json", raw)
			d := data(t, viewtest.Case{Reader: func(testing.TB) store.Reader { return r }}, r)
			rows := map[string]services.Row{}
			for _, x := range d.Rows {
				rows[x.Kind+" "+x.From+">"+x.Service] = x
			}
			if len(rows) != len(all[name]) {
				t.Errorf("%d services and edges, recomputed %d", len(rows), len(all[name]))
			}
			for _, w := range all[name] {
				x, ok := rows[w.Kind+" "+w.From+">"+w.Service]
				if !ok || x.Calls != w.Calls || x.Errors != w.Errors || math.Abs(x.P50-w.P50) > 0.5 || math.Abs(x.P95-w.P95) > 0.5 || math.Abs(x.P99-w.P99) > 0.5 {
					t.Errorf("%s: %+v\nrecomputed %+v", name, x, w)
				}
			}
		})
	}
}

// many is a graph of so many services in four layers: all but the first are called by one before them.
func many(n int) string {
	var b, links strings.Builder
	b.WriteString("region work category=server role=compute\n")
	for i := range n {
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf(` "parent span"="%d"`, (i-1)/6+1)
			fmt.Fprintf(&links, "link spawn %dns \"s%d\" -> %dns \"s%d\" from=work to=work\n", (i-1)/6, (i-1)/6, i, i)
		}
		fmt.Fprintf(&b, "location service s%d\n  %dns..%dns work \"trace\"=\"a\" \"span\"=\"%d\"%s\n", i, i, 4*n-i, i+1, parent)
	}
	return b.String() + links.String()
}

// Boxes do not lie over each other, whatever their number, and those that are drawn as one are said to be.
func TestServicesFitWhateverTheirNumber(t *testing.T) {
	for _, n := range []int{1, 3, 30, 100, 400} {
		c := viewtest.Case{Trace: many(n)}
		r := c.Compute(t, services.View, c.Open(t))
		for _, size := range []scene.Size{{Width: 1200, Height: 700}, {Width: 420, Height: 260}} {
			s := r.Scene(size)
			var boxes *scene.Rect
			for _, l := range s.Layers {
				if l.Name == "boxes" {
					boxes = l.Marks[0].(*scene.Rect)
				}
			}
			stand := 0
			for i := range boxes.X {
				if i < len(boxes.Count) && boxes.Count[i] > 1 {
					stand += int(boxes.Count[i])
				} else {
					stand++
				}
				for k := range i {
					if boxes.X[i] < boxes.X[k]+boxes.W[k] && boxes.X[k] < boxes.X[i]+boxes.W[i] && boxes.Y[i] < boxes.Y[k]+boxes.H[k] && boxes.Y[k] < boxes.Y[i]+boxes.H[i] {
						t.Fatalf("%d services at %v: boxes %d and %d lie over each other", n, size, i, k)
					}
				}
			}
			if stand != n {
				t.Errorf("%d services at %v: boxes stand for %d", n, size, stand)
			}
			if said := strings.Contains(strings.Join(s.Notes, " "), "drawn with others"); said != (len(boxes.X) < n) {
				t.Errorf("%d services at %v in %d boxes: notes %q", n, size, len(boxes.X), s.Notes)
			}
		}
	}
}

func TestArrowsAndBoxesAreFound(t *testing.T) {
	c := viewtest.Case{Trace: shop(40), Size: scene.Size{Width: 900, Height: 400}}
	r := c.Compute(t, services.View, c.Open(t))
	s := r.Scene(c.Size)
	found := map[string]bool{}
	for y := 0.0; y < 400; y += 3 {
		for x := 0.0; x < 900; x += 3 {
			if f, ok, _ := view.PickAt(r, s, x, y); ok {
				found[f.Title] = true
			}
		}
	}
	for _, want := range []string{"front", "cart", "database", "queue", "front → cart", "cart → database", "cart → queue", "queue → front"} {
		if !found[want] {
			t.Errorf("%q is nowhere to be found among %v", want, found)
		}
	}
}

// Where names have no room, the word that most of them end with goes first, so that each still tells which service it is.
func TestNamesWithoutRoomLoseTheWordThatTheyShare(t *testing.T) {
	text := "region get category=server role=compute\n"
	for i, name := range []string{"gateway", "user-timeline-service", "home-timeline-service", "social-graph-service"} {
		parent := ""
		if i > 0 {
			parent = ` "parent span"="1"`
		}
		text += fmt.Sprintf("location service %s\n  %dns..%dns get \"trace\"=\"t\" \"span\"=\"%d\"%s\n", name, 100*i, 1000-100*i, i+1, parent)
		if i > 0 {
			text += fmt.Sprintf("link spawn 0ns gateway -> %dns %s from=get to=get\n", 100*i, name)
		}
	}
	c := viewtest.Case{Trace: text, Size: scene.Size{Width: 300, Height: 400}}
	r := storetest.Text(t, text)
	var names []string
	for _, m := range marksOf(c.Compute(t, services.View, r).Scene(c.Size)) {
		if x, ok := m.(*scene.Text); ok {
			names = append(names, x.Text...)
		}
	}
	all := strings.Join(names, "\n")
	for _, want := range []string{"user-timeline", "home-timeline", "social-graph"} {
		if !strings.Contains(all, want) || strings.Contains(all, want+"-service") {
			t.Errorf("%q is not there, or whole:\n%s", want, all)
		}
	}
}

// Five calls must lie beyond a percentile, or neither box nor arrow nor what is said of them states it.
func TestPercentilesNeedEnoughCalls(t *testing.T) {
	for _, x := range []struct {
		requests             int
		box, arrow, said, no string // of cart and of front → cart, which have a call a request
		note                 string
	}{
		{1, "1 call, 7.00 µs", "1 call, 7.00 µs", "shortest", "p50", "4 of 4 services: too few calls for p95, beyond which at least five must lie"},
		{9, "9 calls, 7.00 µs", "9 calls, 7.00 µs", "shortest", "p50", "4 of 4 services: too few calls for p95"},
		{10, "10 calls, p50 7.00 µs", "10 calls, p50 7.00 µs", "p50", "p95", "4 of 4 services: too few calls for p95"},
		{60, "p50 7.00 µs", "p50 7.00 µs", "p50", "p95", "2 of 4 services: too few calls for p95"}, // front and database are called twice a request
		{100, "p95 7.00 µs", "p95 7.00 µs", "p95", "p99", ""},
		{500, "p95 7.00 µs", "p95 7.00 µs", "p99", "p50 of one", ""},
	} {
		c := viewtest.Case{Trace: shop(x.requests), Size: scene.Size{Width: 1600, Height: 500}}
		r := c.Compute(t, services.View, c.Open(t))
		s := r.Scene(c.Size)
		texts := map[string][]string{}
		for _, l := range s.Layers {
			for _, m := range l.Marks {
				if words, ok := m.(*scene.Text); ok {
					texts[l.Name] = append(texts[l.Name], words.Text...)
				}
			}
		}
		for layer, want := range map[string]string{"names": x.box, "numbers": x.arrow} {
			if all := strings.Join(texts[layer], "\n"); !strings.Contains(all, want) || strings.Contains(want, "p50") && strings.Contains(all, "p95 7.00 µs") {
				t.Errorf("%d requests: %s are %q, want %q", x.requests, layer, all, want)
			}
		}
		seen := false
		for y := 0.0; y < 500; y += 3 {
			for at := 0.0; at < 1600; at += 3 {
				f, ok, _ := view.PickAt(r, s, at, y)
				if !ok || f.Title != "front → cart" && f.Title != "cart" {
					continue
				}
				seen = true
				b, err := json.Marshal(f)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(b), `"`+x.said+`"`) || strings.Contains(string(b), `"`+x.no+`"`) {
					t.Fatalf("%d requests: %s says %s; want %s, not %s", x.requests, f.Title, b, x.said, x.no)
				}
			}
		}
		if !seen {
			t.Errorf("%d requests: no cart", x.requests)
		}
		if notes := strings.Join(r.Notes(), "\n"); !strings.Contains(notes, x.note) || x.note == "" && strings.Contains(notes, "too few") {
			t.Errorf("%d requests: notes are %q, want %q", x.requests, notes, x.note)
		}
	}
}

func marksOf(s *scene.Scene) (out []scene.Mark) {
	for _, l := range s.Layers {
		out = append(out, l.Marks...)
	}
	return out
}
