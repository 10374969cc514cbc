package requests_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/findings"
	"github.com/parallax-hpc/parallax/internal/view/requests"
)

// deployed is requests through a front and four instances of a service, of two versions in two zones: one version is
// slow, in one zone.
func deployed(n int) string {
	var front, links strings.Builder
	instances := [4]strings.Builder{}
	for i := range n {
		at, k := i*100_000, i*7/3%4
		slow := 0
		if k == 3 {
			slow = 40_000
		}
		length := 5000 + i%11*20 + slow
		fmt.Fprintf(&front, "  %dns..%dns \"GET /\" \"trace\"=\"t%d\" \"span\"=\"1\"\n", at, at+2000+length, i)
		fmt.Fprintf(&instances[k], "    %dns..%dns quote \"trace\"=\"t%d\" \"span\"=\"2\" \"parent span\"=\"1\"\n", at+1000, at+1000+length, i)
		fmt.Fprintf(&links, "link spawn %dns front -> %dns pricing/p%d from=\"GET /\" to=quote\n", at, at+1000, k)
	}
	text := "region \"GET /\" category=server role=compute\nregion quote category=server role=compute\n" +
		"location service front version=v1 zone=a\n" + front.String() + "location service pricing\n"
	for k := range instances {
		text += fmt.Sprintf("  location process p%d version=v%d zone=%c\n", k, 1+k/2, 'a'+k%2) + instances[k].String()
	}
	return text + links.String()
}

// Attributes of locations are tested like those of calls, and pairs of them where each matters beside the other.
func TestPairsOfAttributesSeparate(t *testing.T) {
	c := viewtest.Case{Trace: deployed(120), Options: map[string][]string{"request": {"took:20us..", "begin:..6ms"}}}
	d := data(t, c, c.Open(t))
	chosen := 0
	for _, r := range d.Rows {
		if r.Chosen != (r.Duration >= 20_000 && r.Begin <= 6_000_000) {
			t.Errorf("%s of %d ns at %d: chosen %v", r.ID, r.Duration, r.Begin, r.Chosen)
		}
		if r.Chosen {
			chosen++
		}
	}
	if chosen < 10 || chosen > 20 {
		t.Fatalf("%d chosen", chosen)
	}
	pairs := []requests.Differ{}
	for _, x := range d.Differs {
		if x.AndAttribute != "" {
			pairs = append(pairs, x)
		}
	}
	if len(pairs) != 1 || pairs[0].Attribute+pairs[0].Value+pairs[0].AndAttribute+pairs[0].AndValue != "versionv2zoneb" || pairs[0].Inside != 1 || pairs[0].Q > 1e-4 {
		t.Errorf("pairs: %+v", pairs)
	}
}

// The finding names what the slow requests share.
func TestTheFindingNamesThePair(t *testing.T) {
	c := viewtest.Case{Trace: deployed(120)}
	text := c.Compute(t, findings.View, c.Open(t)).Data().(findings.Data).Findings[0].Text
	if !strings.Contains(text, "version = v2 and zone = b: 30 of these 30 requests have it, and 0 of the other 90") {
		t.Errorf("it does not name the version and the zone: %s", text)
	}
}

// A root that ends long before its calls do is told.
func TestAsynchronousRequestsAreNoted(t *testing.T) {
	text := "region publish category=producer role=compute\nregion handle category=consumer role=compute\nlocation service a\n"
	var late, links strings.Builder
	for i := range 3 {
		at := i * 1_000_000
		text += fmt.Sprintf("  %dns..%dns publish \"trace\"=\"t%d\" \"span\"=\"1\"\n", at, at+1000, i)
		fmt.Fprintf(&late, "  %dns..%dns handle \"trace\"=\"t%d\" \"span\"=\"2\" \"parent span\"=\"1\"\n", at+500, at+500+400_000*(i%2), i)
		fmt.Fprintf(&links, "link spawn %dns a -> %dns b from=publish to=handle\n", at, at+500)
	}
	c := viewtest.Case{Trace: text + "location service b\n" + late.String() + links.String()}
	r := c.Open(t)
	if d := data(t, c, r); d.Rows[0].After != 0 || d.Rows[1].After != 399_500 {
		t.Errorf("after the root: %d and %d ns", d.Rows[0].After, d.Rows[1].After)
	}
	for _, notes := range [][]string{c.Compute(t, requests.View, r).Notes(), c.Compute(t, findings.View, r).Notes()} {
		if all := strings.Join(notes, "\n"); !strings.Contains(all, "1 of 3 requests is asynchronous") || !strings.Contains(all, "400 µs after a root of 1.00 µs") {
			t.Errorf("it is not told: %s", all)
		}
	}
}
