package history_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/history"
)

// night is one run of a program with a noise of half a percent; solve takes longer by slower.
func night(seed uint64, slower float64) string {
	draw := rand.New(rand.NewPCG(seed, 5))
	noise := func(mean float64) int { return int(mean * (1 + 0.005*draw.NormFloat64())) }
	assemble, solve, write := noise(300000), noise(500000*(1+slower)), noise(100000)
	return fmt.Sprintf("region assemble role=compute\nregion solve role=compute\nregion write role=io\nlocation process p rank=0\n  0..%d assemble\n  %d..%d solve\n  %d..%d write\n",
		assemble, assemble, assemble+solve, assemble+solve, assemble+solve+write)
}

// nights are n runs of which those from at on are slower in solve.
func nights(seed uint64, n, at int, slower float64) (out []string) {
	for i := range n {
		more := 0.0
		if i >= at {
			more = slower
		}
		out = append(out, night(1000*seed+uint64(i), more))
	}
	return out
}

func TestView(t *testing.T) {
	list := nights(1, 24, 15, 0.05)
	viewtest.Run(t, history.View,
		viewtest.Case{Name: "a change", Trace: list[0], Others: list[1:]},
		viewtest.Case{Name: "few runs", Trace: list[0], Others: list[1:4], Options: map[string][]string{"top": {"1"}}},
	)
}

func shown(t *testing.T, texts []string, options map[string][]string, key func(int) string) (history.Data, error) {
	t.Helper()
	values, err := view.NewValues(history.View, options)
	if err != nil {
		t.Fatal(err)
	}
	q := &view.Request{Values: values, Size: scene.Size{Width: 800, Height: 500}}
	for i, text := range texts {
		run := view.Run{Name: fmt.Sprintf("night%02d", i), Source: fmt.Sprint(i), Store: storetest.Text(t, text, all.Summaries...)}
		if key != nil {
			run.Keys = map[string]string{"build": key(i)}
		}
		q.Runs = append(q.Runs, run)
	}
	if q.Selection, err = (view.Spec{}).Resolve(q.Store()); err != nil {
		t.Fatal(err)
	}
	r, err := history.View.Compute(context.Background(), q)
	if err != nil {
		return history.Data{}, err
	}
	return r.Data().(history.Data), nil
}

func TestAnInjectedChangeIsFoundAtItsPlace(t *testing.T) {
	d, err := shown(t, nights(3, 30, 18, 0.03), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Series {
		want := []int{}
		if s.Region == "solve" || s.Metric == "length" {
			want = []int{18}
		}
		if !slices.Equal(s.Changes, want) {
			t.Errorf("%s changes at %v, want %v", s.Region, s.Changes, want)
		}
	}
	if p := d.Series[0].Points[0]; p.From != "night17" || p.To != "night18" {
		t.Errorf("the change is between %s and %s", p.From, p.To)
	}
	if !strings.Contains(d.Text, "solve") || !strings.Contains(d.Text, "from night17 to night18") {
		t.Errorf("the text is %q", d.Text)
	}
}

func TestNightsWithoutAChangeHaveNone(t *testing.T) {
	wrong := 0
	for seed := range uint64(20) {
		d, err := shown(t, nights(50+seed, 20, 99, 0), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Series {
			if len(s.Changes) > 0 {
				wrong++
				break
			}
		}
	}
	if wrong > 1 {
		t.Errorf("%d of 20 histories without a change have one, want at most 1", wrong)
	}
}

// Builds are given out of order; 10 comes after 9.
func TestAKeyPutsRunsInOrder(t *testing.T) {
	texts := nights(7, 12, 99, 0)
	d, err := shown(t, texts, map[string][]string{"order": {"build"}}, func(i int) string { return fmt.Sprint((i*5)%12 + 1) })
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range d.Runs {
		if x.Key != fmt.Sprint(i+1) {
			t.Fatalf("run %d has key %s", i, x.Key)
		}
	}
	if _, err := shown(t, texts, map[string][]string{"order": {"commit"}}, nil); err == nil || !strings.Contains(err.Error(), "--key commit=") {
		t.Errorf("the error of a key that is not there is %v", err)
	}
}

func TestOneUnusualNightIsAnOutlierAndNoChange(t *testing.T) {
	texts := nights(9, 20, 99, 0)
	texts[13] = night(1, 0.2)
	d, err := shown(t, texts, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := d.Series[0]; len(s.Changes) != 0 || !slices.Equal(s.Outside, []int{13}) {
		t.Errorf("changes at %v, outside %v, want none and 13", s.Changes, s.Outside)
	}
}
