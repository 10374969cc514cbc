package fingerprint

import (
	"context"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostUnits bounds how many units are kept, an even sample of more.
const mostUnits = 2048

// takeUnits returns the useful time of the locations that are alike: the threads or
// processes of a job, not its GPUs, nor samples. O(locations).
func (p *Print) takeUnits(ctx context.Context, r store.Reader) error {
	t := r.Locations()
	if runfacts.HasGPU(t) {
		return nil // host threads of GPU jobs are no peers
	}
	if !p.Timed {
		return p.profileUnits(ctx, r)
	}
	var ids []trace.LocationID
	for i := range t.Len() {
		if id := trace.LocationID(i); t.Holds[id] && (p.Ranks == 0 || t.Rank[id] != trace.NoRank) {
			ids = append(ids, id)
		}
	}
	edges := []trace.Time{0, r.Info().End}
	times, err := store.RoleTimes(ctx, r, ids, edges)
	if err != nil {
		return err
	}
	for k, id := range ids {
		u := Unit{Name: t.Name[id], Rank: t.Rank[id]}
		for role, x := range times[k*trace.RoleCount : (k+1)*trace.RoleCount] {
			u.add(trace.Role(role), float64(x))
		}
		p.Units = append(p.Units, u)
	}
	err = p.takeCounts(ctx, r)
	p.thin()
	return err
}

func (u *Unit) add(role trace.Role, t float64) {
	switch {
	case role.Busy():
		u.Useful += t
	case role == trace.RoleCommunication || role == trace.RoleSynchronization || role == trace.RoleIdle:
		u.Waiting += t
	}
}

func (p *Print) profileUnits(ctx context.Context, r store.Reader) error {
	t := r.Locations()
	metric := runfacts.DefaultMetric(r.Metrics())
	err := runfacts.Totals(ctx, r, store.Window{}, metric, func(list []runfacts.Total) {
		id := list[0].Location
		u := Unit{Name: t.Name[id], Rank: t.Rank[id]}
		all := 0.0
		for _, x := range list {
			if g := &r.Regions()[x.Region]; !runfacts.Sampled(g) {
				u.add(g.Role, x.Exclusive)
				all += x.Exclusive
			}
		}
		p.longest = max(p.longest, all)
		p.Units = append(p.Units, u)
	})
	p.thin()
	return err
}

// thin keeps an even sample of too many units.
func (p *Print) thin() {
	n := len(p.Units)
	if n <= mostUnits {
		return
	}
	out := make([]Unit, mostUnits)
	for k := range out {
		out[k] = p.Units[k*n/mostUnits]
	}
	p.Units = out
}

// A count is the sum of the counters of one name in useful time.
type count struct {
	words []string
	to    *float64
}

// takeCounts adds up instructions and cycles in useful time. A sample holds the count since the one before;
// for a counter that only grows, the growth. Counts while a location was partly useful are shared by time.
func (p *Print) takeCounts(ctx context.Context, r store.Reader) error {
	counts := []count{{[]string{"TOT_INS", "instructions", "INST_RETIRED"}, &p.Instructions},
		{[]string{"TOT_CYC", "cycles", "CPU_CLK"}, &p.Cycles}}
	all := r.Counters()
	of := map[trace.CounterID]*float64{}
	var ids []trace.CounterID
	taken := map[[2]int]bool{} // one counter of a name a location
	for i := range all {
		for k := range counts {
			key := [2]int{int(all[i].Location), k}
			if matches(all[i].Name, counts[k].words) && !taken[key] && all[i].Location != trace.NoLocation {
				taken[key] = true
				of[trace.CounterID(i)] = counts[k].to
				ids = append(ids, trace.CounterID(i))
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var mu sync.Mutex
	last := map[trace.CounterID]struct {
		at    trace.Time
		value float64
		any   bool
	}{}
	return r.Samples(ctx, ids, 0, r.Info().End+1, func(c *store.SampleColumns) error {
		mu.Lock()
		defer mu.Unlock()
		x := last[c.Counter]
		edges, values := []trace.Time{x.at}, []float64{}
		for i, t := range c.Time {
			v := c.Value[i]
			if k := &all[c.Counter]; k.Monotone || k.Grows {
				v, x.value = v-x.value, v
				if !x.any {
					v = 0
				}
			}
			x.any = true
			if t <= edges[len(edges)-1] {
				if len(values) > 0 {
					values[len(values)-1] += v
				}
				continue
			}
			edges, values = append(edges, t), append(values, v)
		}
		x.at = edges[len(edges)-1]
		last[c.Counter] = x
		if len(values) == 0 {
			return nil
		}
		times, err := r.RoleTime(ctx, []trace.LocationID{all[c.Counter].Location}, edges)
		if err != nil {
			return err
		}
		for k, v := range values {
			useful := trace.Time(0)
			for role, t := range times[k*trace.RoleCount : (k+1)*trace.RoleCount] {
				if trace.Role(role).Busy() {
					useful += t.Time() // of one location
				}
			}
			*of[c.Counter] += v * float64(useful) / float64(edges[k+1]-edges[k])
		}
		return nil
	})
}

// matches reports whether a counter is one of those that words name.
func matches(name string, words []string) bool {
	name = strings.ToLower(name)
	for _, w := range words {
		w = strings.ToLower(w)
		if strings.Contains(w, "_") && strings.Contains(name, w) && !strings.Contains(name, "ref") {
			return true
		}
		if name == w || strings.HasSuffix(name, ":"+w) || strings.HasSuffix(name, "::"+w) {
			return true
		}
	}
	return false
}
