package demo

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// labelled measures a demo's hierarchy with the kernel of the treemap, times in
// seconds. names are the paths of its nodes.
func labelled(c *collected, states ...string) (l *entropy.Labels, names []string) {
	children := map[trace.LocationID][]trace.LocationID{}
	for i, at := range c.locations {
		children[at.Parent] = append(children[at.Parent], trace.LocationID(i))
	}
	tree := &entropy.Tree{Parent: []int32{-1}, Last: []int32{0}}
	names = []string{""}
	values := make([][]float64, len(states))
	for x := range values {
		values[x] = []float64{0}
	}
	var grow func(id trace.LocationID, parent int32, path string)
	grow = func(id trace.LocationID, parent int32, path string) {
		node := int32(len(names))
		path += c.locations[id].Name
		names = append(names, path)
		tree.Parent, tree.Last = append(tree.Parent, parent), append(tree.Last, node)
		for x, state := range states {
			sum := trace.Time(0)
			if r := c.rows[id]; r != nil {
				for _, i := range r.intervals {
					if c.regions[i.region].Name == state {
						sum += i.end - i.begin
					}
				}
			}
			values[x] = append(values[x], float64(sum)/1e9)
		}
		for _, child := range children[id] {
			grow(child, node, path+"/")
		}
		tree.Last[node] = int32(len(names) - 1)
	}
	for _, top := range children[trace.NoLocation] {
		grow(top, 0, "")
	}
	tree.Last[0] = int32(len(names) - 1)
	return entropy.Label(tree, values, entropy.GainValues), names
}

// cutAt lists the parts of the best aggregation at p, in plain units.
func cutAt(l *entropy.Labels, names []string, p float64) (parts []string) {
	star, _ := l.Thresholds()
	for _, i := range l.Best(star, l.Odds(p, entropy.Plain)).Parts {
		parts = append(parts, names[i])
	}
	return parts
}

// byDepth counts the nodes below the root by how deep they lie.
func byDepth(names []string) (out []int) {
	for _, path := range names[1:] {
		depth := strings.Count(path, "/")
		for len(out) <= depth {
			out = append(out, 0)
		}
		out[depth]++
	}
	return out
}

func TestG5K188IsCutAsInThePaper(t *testing.T) {
	for _, name := range []string{"g5k188", "g5k188?seed=2", "g5k188?intervals=400"} {
		l, names := labelled(collect(t, name, Options{}), "RUN", "STEAL")
		if got := byDepth(names); !slices.Equal(got, []int{5, 9, 188}) {
			t.Errorf("%s has %v sites, clusters and processes", name, got)
		}
		wantDetail := []string{"site0", "site1", "site2", "site3"}
		for p := 154; p < 188; p++ {
			wantDetail = append(wantDetail, fmt.Sprintf("site4/cluster8/p%d", p))
		}
		for _, c := range []struct {
			p    float64
			want []string
		}{
			{0.1, wantDetail},
			{0.4, []string{"site0", "site1", "site2", "site3", "site4/cluster8"}},
			{0.536, []string{""}},
		} {
			if got := cutAt(l, names, c.p); strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("%s, p = %v: %d parts %v", name, c.p, len(got), got)
			}
		}
		if got := cutAt(l, names, 0.53); len(got) == 1 {
			t.Errorf("%s: all is one at p = 0.53 already", name)
		}
		if got := cutAt(l, names, 0); len(got) != 188 {
			t.Errorf("%s: %d parts at p = 0", name, len(got))
		}
	}
}

// Random stealing ignores locality (E41): of all steals as many are within a site as there are pairs of processes within
// one.
func TestStealsIgnoreSites(t *testing.T) {
	c := collect(t, "g5k188?intervals=60000", Options{})
	site := func(id trace.LocationID) trace.LocationID {
		for c.locations[id].Parent != trace.NoLocation {
			id = c.locations[id].Parent
		}
		return id
	}
	size, processes := map[trace.LocationID]float64{}, 0.0
	for id := range c.locations {
		if c.locations[id].Kind == trace.KindProcess {
			size[site(trace.LocationID(id))]++
			processes++
		}
	}
	want := 0.0
	for _, n := range size {
		want += n * (n - 1) / (processes * (processes - 1))
	}
	within, steals := 0.0, 0.0
	for _, l := range c.links {
		if l.Kind != trace.LinkSteal {
			continue
		}
		steals++
		if site(l.From.Location) == site(l.To.Location) {
			within++
		}
	}
	if len(size) != 5 || steals < 10_000 || math.Abs(within/steals-want) > 5*math.Sqrt(want*(1-want)/steals) {
		t.Errorf("%v of %v steals are within one of %d sites, want a share of %v", within, steals, len(size), want)
	}
}

func TestG5K433IsCutAsInThePaper(t *testing.T) {
	for _, name := range []string{"g5k433", "g5k433?seed=2", "g5k433?intervals=1000"} {
		l, names := labelled(collect(t, name, Options{}), "RUN", "STEAL")
		if got := byDepth(names); !slices.Equal(got, []int{3, 50, 433}) {
			t.Errorf("%s has %v clusters, machines and processes", name, got)
		}
		for i, path := range names {
			if strings.Count(path, "/") == 1 && int(l.Leaves[i]) < 8 {
				t.Errorf("%s: %s has %v processes", name, path, l.Leaves[i])
			}
		}
		odd := []string{"cluster0/machine3", "cluster0/machine14", "cluster1/machine2", "cluster1/machine8", "cluster1/machine15", "cluster2/machine5", "cluster2/machine11"}
		whole := func(parts []string) (machines, processes map[string]bool) {
			machines, processes = map[string]bool{}, map[string]bool{}
			for _, p := range parts {
				if path := strings.Split(p, "/"); len(path) == 3 {
					processes[path[0]+"/"+path[1]] = true
				} else if len(path) == 2 {
					machines[p] = true
				} else {
					t.Errorf("%s: %q is one part", name, p)
				}
			}
			return machines, processes
		}
		machines, detailed := whole(cutAt(l, names, 0.1))
		if len(machines) != 43 || len(detailed) != 7 {
			t.Errorf("%s, p = 0.1: %d machines as one, detailed %v", name, len(machines), detailed)
		}
		for _, m := range odd {
			if !detailed[m] {
				t.Errorf("%s, p = 0.1: %s is not detailed", name, m)
			}
		}
		machines, detailed = whole(cutAt(l, names, 0.3))
		if len(machines) != 49 || len(detailed) != 1 || !detailed["cluster1/machine8"] {
			t.Errorf("%s, p = 0.3: %d machines as one, detailed %v", name, len(machines), detailed)
		}
	}
}

func TestStealingBalancedIsAlikeEverywhere(t *testing.T) {
	l, names := labelled(collect(t, "g5k188?balanced", Options{}), "RUN", "STEAL")
	if got := cutAt(l, names, 0.1); len(got) != 1 {
		t.Errorf("g5k188 balanced has %d parts at p = 0.1", len(got))
	}
	l, names = labelled(collect(t, "g5k433?balanced", Options{}), "RUN", "STEAL")
	if got := cutAt(l, names, 0.1); len(got) != 50 {
		t.Errorf("g5k433 balanced has %d parts at p = 0.1, want its machines", len(got))
	}
}

func TestStealingProcessesLastEquallyLong(t *testing.T) {
	for _, name := range []string{"g5k188", "g5k433"} {
		c := collect(t, name, Options{})
		d, _ := Find(name)
		if c.count() != d.Options.Intervals || len(c.links) != int(d.Options.Intervals/2) {
			t.Errorf("%s has %d intervals and %d links", name, c.count(), len(c.links))
		}
		for at, r := range c.rows {
			if end := r.intervals[len(r.intervals)-1].end; end != 60*second {
				t.Errorf("%s: location %d ends at %d", name, at, end)
			}
		}
	}
}
