package callmatrix_test

import (
	"bufio"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
)

var printed = regexp.MustCompile(`^(ENTER|LEAVE)\s+(\d+)\s+(\d+)\s+Region: "([^"]*)"`)

// peerCalls replays what otf2-print prints with a stack of its own, and gives the
// inclusive times of calls by "rank caller>callee".
func peerCalls(t *testing.T, anchor string) map[string][]float64 {
	t.Helper()
	tool, err := exec.LookPath("otf2-print")
	if err != nil {
		t.Skip("otf2-print is not installed (Debian: otf2-tools)")
	}
	cmd := exec.Command(tool, anchor)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	type frame struct {
		name string
		at   float64
	}
	stacks := map[string][]frame{}
	calls := map[string][]float64{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		m := printed.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		at, _ := strconv.ParseFloat(m[3], 64)
		s := stacks[m[2]]
		if m[1] == "ENTER" {
			stacks[m[2]] = append(s, frame{m[4], at})
			continue
		}
		caller := ""
		if len(s) > 1 {
			caller = s[len(s)-2].name
		}
		key := fmt.Sprintf("%s %s>%s", m[2], caller, m[4])
		calls[key] = append(calls[key], at-s[len(s)-1].at)
		stacks[m[2]] = s[:len(s)-1]
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return calls
}

// TestCellsAgreeWithThePeer holds counts, totals and quantiles of every bucket
// against otf2-print: exactly where they are exact, else within the stated bound.
func TestCellsAgreeWithThePeer(t *testing.T) {
	want := peerCalls(t, filepath.Join(viewtest.Shared(t, "data", "otf2-hpl16-deep-a"), "traces.otf2"))
	r := viewtest.Import(t, "data", "otf2-hpl16-deep-a")
	c := viewtest.Case{Options: map[string][]string{"metric": {"inclusive"}}}
	d := c.Compute(t, callmatrix.View, r).Data().(callmatrix.Data)
	if len(d.Cells) != len(want) {
		t.Errorf("%d buckets, the peer has %d", len(d.Cells), len(want))
	}
	sketched := 0
	for _, x := range d.Cells {
		key := fmt.Sprintf("%d %s>%s", r.Locations().Rank[*x.Location], x.Caller, x.Callee)
		values := want[key]
		sort.Float64s(values)
		total := 0.0
		for _, v := range values {
			total += v
		}
		if x.Count != float64(len(values)) || x.Total != total {
			t.Errorf("%s: %v calls, %v ns; the peer has %d, %v", key, x.Count, x.Total, len(values), total)
			continue
		}
		bound := 1e-12
		if !x.Exact {
			sketched++
			bound = quantile.RelativeError
		}
		for k, got := range []float64{*x.Q02, *x.Q25, *x.Q50, *x.Q75, *x.Q98} {
			h := float64(len(values)-1) * quantile.Box[k]
			i := int(h)
			exp := values[i]
			if i+1 < len(values) {
				exp += (h - float64(i)) * (values[i+1] - values[i])
			}
			if math.Abs(got-exp) > bound*exp+1e-6 {
				t.Errorf("%s: quantile %v is %v, the peer's %v", key, quantile.Box[k], got, exp)
			}
		}
	}
	t.Logf("%d buckets, %d of them by sketches", len(d.Cells), sketched)
}
