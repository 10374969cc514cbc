package findings_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// A spanText is a call from one time to another, in µs.
type spanText struct {
	service, op string
	from, to    int
	failed      bool
	calls       []spanText
}

// requestText writes requests one after the other.
func requestText(n int, request func(i int) spanText) string {
	rows, links := map[string]*strings.Builder{}, &strings.Builder{}
	var write func(at, id int, parent string, s *spanText) int
	write = func(at, id int, parent string, s *spanText) int {
		if rows[s.service] == nil {
			rows[s.service] = &strings.Builder{}
		}
		own := fmt.Sprint(id)
		if parent != "" {
			parent = fmt.Sprintf(` "parent span"="%s"`, parent)
		}
		if s.failed {
			parent += ` "error"="true"`
		}
		fmt.Fprintf(rows[s.service], "  %dus..%dus %q \"trace\"=\"t%d\" \"span\"=\"%s\"%s\n", at+s.from, at+s.to, s.op, at, own, parent)
		for i := range s.calls {
			c := &s.calls[i]
			fmt.Fprintf(links, "link spawn %dus %s -> %dus %s from=%q to=%q\n", at+s.from, s.service, at+c.from, c.service, s.op, c.op)
			id = write(at, id+1, own, c)
		}
		return id
	}
	for i := range n {
		s := request(i)
		write(i*100_000, 1, "", &s)
	}
	out := ""
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		out += "location service " + name + "\n" + rows[name].String()
	}
	return out + links.String()
}

// one is a request that asks a database once, in the middle of its own work.
func one(length int, failed bool) spanText {
	return spanText{"front", "GET /", 0, 1500 + length, false, []spanText{{"base", "select", 1000, 1000 + length, failed, nil}}}
}

// What was planted is found, with what it costs; nothing else is.
func TestInjectedFaultsOfRequestsHaveTheirCost(t *testing.T) {
	for _, c := range []struct {
		name     string
		request  func(i int) spanText
		kind     finding.Kind
		lost     trace.Time // µs
		evidence map[string]float64
	}{
		{"nothing", func(i int) spanText { return one(480+i%5*10, false) }, "", 0, nil},
		{"every tenth select takes ten times as long", func(i int) spanText {
			if i%10 == 0 {
				return one(5000, false)
			}
			return one(500, false)
		}, finding.SlowOperation, 4 * 4500, map[string]float64{"slow calls": 4, "calls": 40, "mean of the slow calls": 5e6, "median of all calls": 5e5, "requests that lose by it": 4, "lost, of the time of those requests": 18000.0 / 26000}},
		{"every fourth request selects eight times", func(i int) spanText {
			if i%4 != 0 {
				return one(500, false)
			}
			s := spanText{"front", "GET /", 0, 4000, false, nil}
			for k := range 8 {
				s.calls = append(s.calls, spanText{"base", "select", 500 + k*350, 800 + k*350, false, nil})
			}
			return s
		}, finding.RepeatedCalls, 10 * 7 * 300, map[string]float64{"calls": 80, "callers": 10, "calls of one caller": 8, "requests that lose by it": 10, "lost, of the time of those requests": 21000.0 / 40000}},
		{"three calls in any order", func(i int) spanText {
			s := spanText{"front", "GET /", 0, 2000, false, nil}
			at := 200
			for k := range 3 {
				length := []int{600, 400, 500}[(i+k)%3]
				s.calls = append(s.calls, spanText{[]string{"mail", "pay", "stock"}[(i+k)%3], "do", at, at + length, false, nil})
				at += length + 10
			}
			return s
		}, finding.SerialCalls, 40 * 900, map[string]float64{"callers that make them otherwise": 14, "requests that lose by it": 40, "lost, of the time of those requests": 36000.0 / 80000}},
		{"three calls in one order, without a pause", func(int) spanText {
			return spanText{"front", "GET /", 0, 2000, false, []spanText{{"mail", "do", 200, 800, false, nil}, {"pay", "do", 805, 1205, false, nil}, {"stock", "do", 1210, 1710, false, nil}}}
		}, finding.SerialCalls, 40 * 900, map[string]float64{"requests that lose by it": 40}},
		{"three calls with work between them may need each other", func(int) spanText {
			return spanText{"front", "GET /", 0, 2000, false, []spanText{{"mail", "do", 200, 700, false, nil}, {"pay", "do", 800, 1200, false, nil}, {"stock", "do", 1300, 1710, false, nil}}}
		}, "", 0, nil},
		{"every fifth charge is made again", func(i int) spanText {
			if i%5 != 0 {
				return one(500, false)
			}
			return spanText{"front", "GET /", 0, 3000, false, []spanText{{"base", "select", 500, 1500, true, nil}, {"base", "select", 1700, 2200, false, nil}}}
		}, finding.Retry, 8 * 1200, map[string]float64{"calls made again": 8, "requests that lose by it": 8, "lost, of the time of those requests": 9600.0 / 24000}},
		{"a select is made again after another call: that call is not lost", func(i int) spanText {
			if i%5 != 0 {
				return one(500, false)
			}
			return spanText{"front", "GET /", 0, 3400, false, []spanText{{"base", "select", 500, 800, true, nil}, {"price", "quote", 800, 2600, false, nil}, {"base", "select", 2700, 3100, false, nil}}}
		}, finding.Retry, 8 * 400, map[string]float64{"calls made again": 8, "requests that lose by it": 8, "lost, of the time of those requests": 3200.0 / 27200}},
		{"every tenth select fails", func(i int) spanText { return one(500, i%10 == 0) }, finding.FailedCalls, 4 * 500, map[string]float64{"failed calls": 4, "share of the requests": 0.1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := dataOf(t, viewtest.Case{Trace: requestText(40, c.request)})
			numbersAreEvidence(t, c.name, &d)
			if c.kind == "" {
				if len(d.Findings) > 0 {
					t.Fatalf("found %+v", d.Findings)
				}
				return
			}
			if len(d.Findings) != 1 || d.Findings[0].Kind != c.kind || d.Findings[0].Lost != c.lost*1000 {
				t.Fatalf("want %s with %d µs lost, got %+v", c.kind, c.lost, d.Findings)
			}
			got := map[string]float64{}
			for _, e := range d.Findings[0].Evidence {
				got[e.Name] = e.Value
			}
			for name, want := range c.evidence {
				if v, ok := got[name]; !ok || v-want > 1e-9 || want-v > 1e-9 {
					t.Errorf("%s is %v, want %v: %s", name, v, want, d.Findings[0].Text)
				}
			}
		})
	}
}

// The demo has all five, in the order of what they cost; without faults it has none.
func TestTheShopHasItsFiveFindings(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"shop", "repeated-calls catalog, serial-calls gateway, slow-operation pricing/pricing-2, retry payment, failed-calls stock"},
		{"shop?seed=9", "repeated-calls catalog, serial-calls gateway, slow-operation pricing/pricing-2, retry payment, failed-calls stock"},
		{"shop?balanced", ""}, {"shop?balanced&seed=2", ""}, {"shop?balanced&seed=3", ""},
	} {
		demo, _ := demo.Find(c.name)
		r := viewtest.Local(t, func(w trace.Writer) {
			if err := demo.Write(t.Context(), demo.Options, w); err != nil {
				t.Fatal(err)
			}
		})
		d := dataOf(t, viewtest.Case{Reader: func(testing.TB) store.Reader { return r }})
		numbersAreEvidence(t, c.name, &d)
		var got []string
		for _, f := range d.Findings {
			got = append(got, string(f.Kind)+" "+d.run.Locations().Path(f.Subjects[0]))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: found %q, want %q", c.name, text, c.want)
		}
	}
}

func dataOf(t *testing.T, c viewtest.Case) answers {
	t.Helper()
	r := c.Open(t)
	return answers{c.Compute(t, findings.View, r).Data().(findings.Data), r}
}
