package budget

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A vector is a run and its budget by the reference program.
type vector struct {
	Name  string
	Input struct {
		Ranks [][]struct {
			Name       string
			Begin, End trace.Time
		}
		Messages []struct {
			From, To  int32
			SendBegin trace.Time `json:"send_begin"`
			RecvEnd   trace.Time `json:"recv_end"`
			Sync      *bool
		}
		Collectives []struct {
			Name    string
			Root    *int32
			Members []struct {
				Rank       int32
				Begin, End trace.Time
			}
		}
	}
	Expected struct {
		Total       trace.Time
		ByKind      map[string]trace.Time `json:"by_kind"`
		Unexplained trace.Time
		Clipped     int64
		Budget      []struct {
			Rank                     *int32
			Region, Kind             string
			Direct, Indirect, Caused trace.Time
		}
		Waits []struct {
			Rank, Late int32
			Kind       string
			Begin, End trace.Time
			Since      *trace.Time
		}
	}
}

const nothing, inconsistent = "(nothing recorded)", "(inconsistent)"

// names numbers the regions in order of their names.
func (v *vector) names() []string {
	list := []string{nothing}
	for _, r := range v.Input.Ranks {
		for _, e := range r {
			if !slices.Contains(list, e.Name) {
				list = append(list, e.Name)
			}
		}
	}
	slices.Sort(list[1:])
	return list
}

// load feeds a vector, in steps of time where step is above 0.
func (v *vector) load(step trace.Time, keep func(Wait, trace.Time)) (*Budget, []string) {
	names := v.names()
	number := func(name string) int32 { return int32(slices.Index(names, name)) }
	first, last := trace.Time(1<<62), trace.Time(0)
	for _, r := range v.Input.Ranks {
		for _, e := range r {
			first, last = min(first, e.Begin), max(last, e.End)
		}
	}
	b := New(len(v.Input.Ranks), len(names), min(first, last), last)
	b.Keep = keep
	f := NewFinder(b)
	isSync := map[[2]trace.Time]bool{}
	for _, m := range v.Input.Messages {
		if m.Sync != nil {
			isSync[[2]trace.Time{m.SendBegin, m.RecvEnd}] = *m.Sync
		}
	}
	f.Sync = func(s, _ *Call, m *Message) bool {
		if x, ok := isSync[[2]trace.Time{m.Sent, m.Received}]; ok {
			return x
		}
		return names[s.Region] == "MPI_Ssend"
	}
	if step == 0 {
		step = last + 1
	}
	seen := make([]int, len(v.Input.Ranks))
	flats := make([][]flat, len(v.Input.Ranks))
	for i, r := range v.Input.Ranks {
		var list []flat
		for _, e := range r {
			list = append(list, flat{e.Begin, e.End, number(e.Name)})
		}
		flats[i] = flatten(list)
	}
	for from := min(first, last); from <= last; from += step {
		to := from + step
		for i, r := range v.Input.Ranks {
			for _, s := range flats[i] {
				if s.begin >= from && s.begin < to {
					b.Add(int32(i), s.begin, s.end, s.region)
				}
			}
			for _, e := range r {
				if len(e.Name) > 4 && e.Name[:4] == "MPI_" && e.Begin >= from && e.Begin < to {
					f.Call(int32(i), Call{e.Begin, e.End, number(e.Name), NoGroup})
				}
			}
		}
		for _, m := range v.Input.Messages {
			if m.RecvEnd >= from && m.RecvEnd < to {
				f.Message(Message{m.From, m.To, m.SendBegin, m.RecvEnd, LateSender, 0})
			}
		}
		settled := f.Advance(to-1, seen)
		for _, c := range v.Input.Collectives {
			style := map[string]Style{"MPI_Bcast": OneToAll, "MPI_Scatter": OneToAll, "MPI_Scatterv": OneToAll, "MPI_Reduce": AllToOne, "MPI_Gather": AllToOne, "MPI_Gatherv": AllToOne}[c.Name]
			root := NoActor
			if c.Root != nil {
				root = *c.Root
			}
			var members []Member
			begun, came := trace.Time(1<<62), trace.Time(0)
			for _, m := range c.Members {
				begun, came = min(begun, m.Begin), max(came, m.Begin)
				members = append(members, Member{m.Rank, Call{m.Begin, m.End, number(c.Name), NoGroup}})
			}
			if came >= from && came < to {
				f.Meet(members, style, root)
			} else if begun < to && came >= to {
				settled = min(settled, begun)
			}
		}
		b.Settle(settled)
	}
	f.Advance(1<<62, seen)
	b.Ends()
	return b, names
}

type flat struct {
	begin, end trace.Time
	region     int32
}

// flatten gives stretches with one region innermost.
func flatten(list []flat) (out []flat) {
	slices.SortStableFunc(list, func(a, b flat) int {
		if a.begin != b.begin {
			return cmp.Compare(a.begin, b.begin)
		}
		return cmp.Compare(b.end, a.end)
	})
	var stack []flat
	at := trace.Time(0)
	upto := func(x trace.Time) {
		if x > at && len(stack) > 0 {
			out = append(out, flat{at, x, stack[len(stack)-1].region})
		}
		at = max(at, x)
	}
	pop := func() { upto(stack[len(stack)-1].end); stack = stack[:len(stack)-1] }
	for _, e := range list {
		for len(stack) > 0 && stack[len(stack)-1].end <= e.begin {
			pop()
		}
		upto(e.begin)
		stack = append(stack, e)
	}
	for len(stack) > 0 {
		pop()
	}
	return out
}

func vectors(t *testing.T) []*vector {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join("testdata", "vectors", "*.json"))
	if len(paths) == 0 {
		t.Fatal("the vectors of the reference program are not here")
	}
	var out []*vector
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		v := &vector{}
		if err := json.Unmarshal(data, v); err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		out = append(out, v)
	}
	return out
}

// The budget of every vector equals that of the reference program to the nanosecond: total,
// kinds, rows, waits and where their histories part. It does so whether the run comes
// at once or in steps.
func TestTheBudgetEqualsTheReference(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			for _, step := range []trace.Time{0, 3_000_017, 400_009} {
				if step > 0 && v.Expected.Total < 1000 {
					continue
				}
				check(t, v, step)
			}
		})
	}
}

func check(t *testing.T, v *vector, step trace.Time) {
	t.Helper()
	kept := map[Wait]trace.Time{}
	var keep func(Wait, trace.Time)
	if step == 0 { // in steps all workers take part
		keep = func(w Wait, since trace.Time) { kept[w] = since }
	}
	b, names := v.load(step, keep)
	r := b.Result()
	if r.Total != v.Expected.Total || r.Unexplained != v.Expected.Unexplained || r.Clipped != v.Expected.Clipped {
		t.Errorf("step %d: total %d, unexplained %d, clipped %d; want %d, %d, %d", step, r.Total, r.Unexplained, r.Clipped, v.Expected.Total, v.Expected.Unexplained, v.Expected.Clipped)
	}
	for k := range kinds {
		if got, want := r.Kinds[k], v.Expected.ByKind[k.String()]; got != want {
			t.Errorf("step %d: %s is %d, want %d", step, k, got, want)
		}
	}
	type key struct {
		rank         int32
		region, kind string
	}
	got := map[key][2]trace.Time{}
	for i := range r.Rows {
		row := &r.Rows[i]
		region := names[row.Region]
		if row.Actor == NoActor {
			region = inconsistent
		}
		for k := range kinds {
			if row.Of(k) > 0 {
				got[key{row.Actor, region, k.String()}] = [2]trace.Time{row.Direct[k], row.Indirect[k]}
			}
		}
	}
	for _, e := range v.Expected.Budget {
		rank := NoActor
		if e.Rank != nil {
			rank = *e.Rank
		}
		k := key{rank, e.Region, e.Kind}
		if got[k] != [2]trace.Time{e.Direct, e.Indirect} {
			t.Errorf("step %d: %v is %v, want %d and %d", step, k, got[k], e.Direct, e.Indirect)
		}
		delete(got, k)
	}
	for k, x := range got {
		t.Errorf("step %d: %v is %v, want none", step, k, x)
	}
	if step != 0 {
		return
	}
	for _, w := range v.Expected.Waits {
		found := false
		for x, since := range kept {
			if x.Actor == w.Rank && x.Late == w.Late && x.Begin == w.Begin && x.End == w.End && x.Kind.String() == w.Kind {
				found = w.Since == nil || since == *w.Since
			}
		}
		if !found {
			t.Errorf("no wait %+v", w)
		}
	}
	if len(kept) != len(v.Expected.Waits) {
		t.Errorf("%d waits, want %d", len(kept), len(v.Expected.Waits))
	}
}
