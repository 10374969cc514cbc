package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestArrangementsOfLocationsAreParsed(t *testing.T) {
	for _, c := range []struct{ text, want, bad string }{
		{"", "<nil>", ""},
		{"tree", "<nil>", ""},
		{"groups", "both 0 0 auto ..", ""},
		{"groups:k=3,similarity=time", "time 3 0 auto ..", ""},
		{"groups:k=3,alike=time", "time 3 0 auto ..", ""}, // its name before
		{"groups:threshold=0.8,group=locations,time=1s..2s", "both 0 0.8 locations 1s..2s", ""},
		{"groups:location=rank:0-3,location=re:a{1%2C2},region=solve,closure=dynamic", "both 0 0 auto .. [rank:0-3 re:a{1,2}] [solve] true", ""},
		{"rank", "", "want tree, groups"},
		{"groups:k=many", "", "k is a number"},
		{"groups:similarity=size", "", "similarity is both"},
		{"groups:threshold=2", "", "from 0 to 1"},
		{"groups:time=1s", "", "FROM..TO"},
		{"groups:colour=red", "", `there is no "colour"`},
	} {
		a, err := parseArrange(c.text)
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%q: error %v, want %q", c.text, err, c.bad)
			}
			continue
		}
		got := "<nil>"
		if a != nil {
			got = fmt.Sprintf("%s %d %g %s %s..%s", a.By, a.K, a.Threshold, a.group, a.from, a.to)
			if a.Closure {
				got += fmt.Sprint(" ", a.locations, " ", a.regions, " ", a.Closure)
			}
		}
		if err != nil || got != c.want {
			t.Errorf("%q: %s, %v; want %s", c.text, got, err, c.want)
		}
	}
}

func TestOrderByGroupsIsOneOptionEverywhere(t *testing.T) {
	for _, options := range [][]Option{Use("order=differs", "arrange"), Use("arrange")} {
		v, err := NewValues(&View{Name: "x", Options: options}, map[string][]string{"order": {"groups:k=2"}})
		if err != nil || v.Text("arrange") != "groups:k=2" || v.Set("order") {
			t.Errorf("--order groups:k=2 is %v, %v", v.All(), err)
		}
	}
	if _, err := NewValues(&View{Name: "x", Options: Use("arrange")}, map[string][]string{"arrange": {"ranks"}}); err == nil {
		t.Error("--arrange ranks is accepted")
	}
}

// Ranks 0 and 2 are one group, rank 1 is another; host0 holds ranks 0 and 1.
func TestLocationsAreArrangedAtEveryLevel(t *testing.T) {
	tr := tree() // site(host0(rank 0(main) rank 1) host1(rank 2))
	tr.Holds = []bool{false, false, false, true, true, false, true}
	holders := []trace.LocationID{3, 4, 6}
	a := newArrangement(tr, holders, []int32{0, 1, 2}, []trace.LocationID{2, 4, 6}, []int32{2, 0, 1}, []int32{0, 1, 0})
	for _, c := range []struct{ ids, want []trace.LocationID }{
		{[]trace.LocationID{3, 4, 6}, []trace.LocationID{6, 3, 4}}, // threads and processes that hold calls
		{[]trace.LocationID{2, 4, 6}, []trace.LocationID{6, 2, 4}},
		{[]trace.LocationID{1, 5}, []trace.LocationID{5, 1}}, // hosts, at the first of their own
	} {
		ids := slices.Clone(c.ids)
		if a.Sort(ids); !slices.Equal(ids, c.want) {
			t.Errorf("%v are %v, want %v", c.ids, ids, c.want)
		}
	}
	for id, want := range map[trace.LocationID]int{3: 0, 2: 0, 4: 1, 6: 0, 5: 0, 1: 0, 99: -1} {
		if g := a.Group(id); g != want {
			t.Errorf("location %d is in group %d, want %d", id, g, want)
		}
	}
	of, members, groups := a.Partition([]trace.LocationID{4})
	if !slices.Equal(of, []int32{0}) || len(members) != 1 || !slices.Equal(groups, []int{1}) {
		t.Errorf("rank 1 alone: %v %v %v", of, members, groups)
	}
	h, err := HierarchyOf(a, "tree", tr, nil, tr.Holds)
	if err != nil || shape(h) != "all(group 1(rank 2 main) group 2(rank 1))" {
		t.Errorf("hierarchy %s, %v", shape(h), err)
	}
	if _, err := HierarchyOf(a, "ranks:2", tr, nil, tr.Holds); err == nil {
		t.Error("two hierarchies at once are accepted")
	}
}

func TestTheTreeIsAnArrangementToo(t *testing.T) {
	var a *Arrangement
	ids := []trace.LocationID{3, 1, 2}
	a.Sort(ids)
	if !slices.Equal(ids, []trace.LocationID{3, 1, 2}) || !slices.Equal(a.Places(ids), []int32{0, 1, 2}) || a.Group(1) != -1 || a.Gutter() != 0 || a.AddNote(nil) != nil {
		t.Error("without an arrangement something is arranged")
	}
}

func TestTheBestCutIsReadInEveryView(t *testing.T) {
	for _, text := range []string{"optimal", "optimal:p=0.3", "optimal:p=1,group=ranks,time=0..5"} {
		if a, err := parseArrange(text); err != nil || a == nil || a.By != "optimal" {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
	for _, text := range []string{"optimal:p=2", "optimal:k=3", "groups:p=0.1", "optimum"} {
		if _, err := parseArrange(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	v := &View{Name: "rows", Options: Use("arrange")}
	values, err := NewValues(v, map[string][]string{"group": {"optimal"}})
	if err != nil || values.Text("arrange") != "optimal" {
		t.Errorf("--group optimal is --arrange %q, %v", values.Text("arrange"), err)
	}
}
