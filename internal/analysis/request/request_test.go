package request

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A span of a fake run: parent is another's place, -1 for none; orphan says that it names one that is not there.
type span struct {
	service    trace.LocationID
	begin, end trace.Time
	parent     int
	trace      string
	orphan     bool
	facts      map[string]string
}

// A fake run has a lane for each span.
type fake []span

func (f fake) lane(i int) (lane int) {
	for _, s := range f[:i] {
		if s.service == f[i].service {
			lane++
		}
	}
	return lane
}

// A fakeStore is a store of it.
type fakeStore struct {
	store.Reader
	fake
	names []string // of attributes
}

func (f fake) source() *runfacts.SpanSource {
	return runfacts.SpanSourceOf(context.Background(), f.store())
}

func (f fake) store() fakeStore {
	x := fakeStore{fake: f, names: []string{attributeTrace, attributeParent}}
	for _, s := range f {
		for name := range s.facts {
			if !slices.Contains(x.names, name) {
				x.names = append(x.names, name)
			}
		}
	}
	return x
}

func (f fakeStore) Info() *store.Info    { return &store.Info{End: 1 << 40} }
func (f fakeStore) Attributes() []string { return f.names }

func (f fakeStore) Regions() []trace.Region {
	out := make([]trace.Region, len(f.fake))
	for i := range out {
		out[i].Name = fmt.Sprint("s", i)
	}
	return out
}

func (f fakeStore) Lanes() []uint32 {
	out := []uint32{0}
	for _, s := range f.fake {
		for int(s.service)+1 >= len(out) {
			out = append(out, 0)
		}
		out[s.service+1]++
	}
	for i := 1; i < len(out); i++ {
		out[i] += out[i-1]
	}
	return out
}

func (f fakeStore) Locations() *store.Tree {
	t := &store.Tree{}
	for range len(f.Lanes()) - 1 {
		t.Kind, t.Parent = append(t.Kind, runfacts.KindService), append(t.Parent, trace.NoLocation)
	}
	return t
}

func (f fakeStore) Intervals(_ context.Context, _ store.Window, do func(*trace.Columns) error) error {
	for i, s := range f.fake {
		if err := do(&trace.Columns{Location: s.service, Lane: f.lane(i), Begin: []trace.Time{s.begin}, Duration: []trace.Time{s.end - s.begin}, Region: []trace.RegionID{trace.RegionID(i)}, Parent: []int32{-1}}); err != nil {
			return err
		}
	}
	return nil
}

func (f fakeStore) Links(_ context.Context, _ store.Window, do func(*store.LinkColumns) error) error {
	for i, s := range f.fake {
		if s.parent < 0 {
			continue
		}
		l := &store.LinkColumns{Kind: []trace.LinkKind{trace.LinkSpawn}, FromLocation: []trace.LocationID{f.fake[s.parent].service}, FromLane: []int32{int32(f.lane(s.parent))}, FromRow: []int32{0}, ToLocation: []trace.LocationID{s.service}, ToLane: []int32{int32(f.lane(i))}, ToRow: []int32{0}}
		if err := do(l); err != nil {
			return err
		}
	}
	return nil
}

func (f fakeStore) AttributeColumn(_ context.Context, _ store.Window, a trace.AttributeID, do func(*store.AttributeColumns) error) error {
	for i, s := range f.fake {
		v, ok := s.facts[f.names[a]]
		switch f.names[a] {
		case attributeTrace:
			v, ok = s.trace, true
		case attributeParent:
			v, ok = "gone", s.orphan
		}
		if !ok {
			continue
		}
		if err := do(&store.AttributeColumns{Location: s.service, Lane: f.lane(i), Row: []int32{0}, Value: []trace.Value{trace.Text(v)}}); err != nil {
			return err
		}
	}
	return nil
}

func gather(t *testing.T, f fake) (*Forest, []int32) {
	t.Helper()
	g, err := Gather(f.source())
	if err != nil {
		t.Fatal(err)
	}
	at := make([]int32, len(f))
	for i := range f {
		at[i] = g.Node(f[i].service, f.lane(i), 0)
		if at[i] < 0 || int(g.Region[at[i]]) != i {
			t.Fatalf("span %d is not found at its row", i)
		}
	}
	return g, at
}

// Self time is the duration less the union of the children in all services, held against one found nanosecond by nanosecond.
func TestSelfTimeIsLessTheUnionOfAllChildren(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var f fake
		for i := range 30 {
			b := trace.Time(rng.IntN(200))
			f = append(f, span{trace.LocationID(rng.IntN(4)), b, b + trace.Time(rng.IntN(90)), rng.IntN(i+1) - 1, "t", false, nil})
		}
		g, at := gather(t, f)
		for i, s := range f {
			self := trace.Time(0)
			for ns := s.begin; ns < s.end; ns++ {
				free := trace.Time(1)
				for _, c := range f {
					if c.parent == i && c.begin <= ns && ns < c.end {
						free = 0
					}
				}
				self += free
			}
			if g.Self[at[i]] != self {
				t.Errorf("seed %d: span %d has %d ns for itself, want %d", seed, i, g.Self[at[i]], self)
			}
			if up := g.Parent[at[i]]; s.parent < 0 && up != -1 || s.parent >= 0 && up != at[s.parent] {
				t.Errorf("seed %d: span %d hangs on %d", seed, i, up)
			}
		}
	}
}

func TestInvalidSpansAreCounted(t *testing.T) {
	for _, c := range []struct {
		name  string
		spans fake
		want  Counts
		check func(*Forest) string
	}{
		{"a circle of parents is cut", fake{{0, 0, 10, 1, "t", false, nil}, {1, 0, 10, 0, "t", false, nil}}, Counts{Cut: 1},
			func(f *Forest) string { return fmt.Sprint(len(f.Requests), f.Requests[0].Spans) }},
		{"a missing root leaves all of the time", fake{{0, 5, 10, -1, "t", true, nil}, {1, 20, 40, -1, "t", true, nil}}, Counts{Orphans: 2, Several: 1, Missing: 1},
			func(f *Forest) string {
				return fmt.Sprint(len(f.Requests), f.Requests[0].Begin, f.Requests[0].End, f.Requests[0].Root)
			}},
		{"of two roots the first counts", fake{{0, 5, 10, -1, "t", false, nil}, {1, 20, 40, -1, "t", false, nil}}, Counts{Several: 1},
			func(f *Forest) string { return fmt.Sprint(len(f.Requests), f.Requests[0].Begin, f.Requests[0].End) }},
		{"a true root counts before an orphan", fake{{0, 1, 90, -1, "t", true, nil}, {1, 20, 40, -1, "t", false, nil}}, Counts{Orphans: 1, Several: 1},
			func(f *Forest) string { return fmt.Sprint(len(f.Requests), f.Requests[0].Begin, f.Requests[0].End) }},
		{"children before their parents keep them", fake{{0, 10, 20, -1, "t", false, nil}, {1, 5, 15, 0, "t", false, nil}}, Counts{Late: 1},
			func(f *Forest) string { return fmt.Sprint(len(f.Requests), f.Requests[0].Spans) }},
	} {
		g, err := Gather(c.spans.source())
		if err != nil {
			t.Fatal(err)
		}
		if g.Counts != c.want {
			t.Errorf("%s: counted %+v, want %+v", c.name, g.Counts, c.want)
		}
		want := map[string]string{"a circle of parents is cut": "1 2", "a missing root leaves all of the time": "1 5 40 -1", "of two roots the first counts": "1 5 10",
			"a true root counts before an orphan": "1 20 40", "children before their parents keep them": "1 2"}[c.name]
		if got := c.check(g); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

func TestFailuresAreReadFromWhatSpansSay(t *testing.T) {
	for fact, want := range map[[2]string]int32{{"error", "true"}: 1, {"error", "false"}: 0, {"error", "timeout"}: 1, {"status", "error"}: 1, {"http.status_code", "503"}: 1, {"http.status_code", "404"}: 0,
		{"rpc.grpc.status_code", "0"}: 0, {"rpc.grpc.status_code", "14"}: 1} {
		g, _ := gather(t, fake{{0, 0, 10, -1, "t", false, nil}, {1, 1, 2, 0, "t", false, map[string]string{fact[0]: fact[1]}}})
		if g.Requests[0].Errors != want {
			t.Errorf("%s=%s: %d errors, want %d", fact[0], fact[1], g.Requests[0].Errors, want)
		}
	}
}

// Time on the path between orphans belongs to nobody, and all of it adds up.
func TestPathsAddUpWithoutARoot(t *testing.T) {
	g, _ := gather(t, fake{{0, 5, 10, -1, "t", true, nil}, {1, 20, 40, -1, "t", true, nil}, {1, 22, 30, 1, "t", false, nil}})
	c := g.CriticalPaths([]int32{0})
	if c.Length != 35 || c.Rootless != 10 || len(c.By) != 3 {
		t.Errorf("length %d, %d of it without a root, %d paths", c.Length, c.Rootless, len(c.By))
	}
}

func TestQuantiles(t *testing.T) {
	list := []trace.Time{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for q, want := range map[float64]trace.Time{0: 1, 0.5: 5, 0.95: 10, 0.1: 1, 0.11: 2, 1: 10} {
		if got := Quantile(list, q); got != want {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
}

// near is a store whose rows can be asked one by one.
type near struct {
	fakeStore
	store.Keeper
}

func (n near) IntervalAttributes(at store.Row) ([]trace.Attribute, error) {
	for i, s := range n.fake {
		if s.service == at.Location && n.lane(i) == at.Lane {
			out := []trace.Attribute{{Key: attributeTrace, Value: trace.Text(s.trace)}}
			if s.orphan {
				out = append(out, trace.Attribute{Key: attributeParent, Value: trace.Text("gone")})
			}
			return out, nil
		}
	}
	return nil, nil
}

// Whether roots are asked one by one or all attributes are read makes no difference.
func TestRootsSayTheSameOneByOne(t *testing.T) {
	var f fake
	for r := range 3 {
		root := len(f)
		at := trace.Time(1000 * r)
		f = append(f, span{trace.LocationID(r % 2), at, at + 500, -1, fmt.Sprint("t", r), r == 1, nil})
		for k := range 40 {
			f = append(f, span{trace.LocationID(k % 3), at + trace.Time(k), at + trace.Time(k+5), root, fmt.Sprint("t", r), false, nil})
		}
	}
	a, _ := gather(t, f)
	b, err := Gather(runfacts.SpanSourceOf(t.Context(), near{fakeStore: f.store()}))
	if err != nil {
		t.Fatal(err)
	}
	if a.Counts != b.Counts || fmt.Sprint(a.Requests) != fmt.Sprint(b.Requests) || len(a.Requests) != 3 || a.Requests[1].Root != NoRoot {
		t.Errorf("all at once %+v %+v\none by one %+v %+v", a.Counts, a.Requests, b.Counts, b.Requests)
	}
}

// Parts of many requests are walked on all cores; what comes out is what one core gives.
func TestCriticalPathsDoNotDependOnCores(t *testing.T) {
	var spans fake
	for r := range 3 * fewRequests {
		begin := trace.Time(1000 * r)
		spans = append(spans, span{service: 0, begin: begin, end: begin + 100, parent: -1, trace: fmt.Sprint(r)})
		if r%3 > 0 {
			spans = append(spans, span{service: 1, begin: begin + 10, end: begin + 20 + trace.Time(r%50), parent: len(spans) - 1, trace: fmt.Sprint(r)})
		}
	}
	f, err := Gather(spans.source())
	if err != nil {
		t.Fatal(err)
	}
	var all []int32
	for k := range f.Requests {
		all = append(all, int32(k))
	}
	for i := range f.Region {
		f.Region[i] %= 7 // few operations, in another order in each part
	}
	one, many := f.walkSome(all, make([]int32, f.Len())), f.CriticalPaths(all)
	for i := range one.By {
		one.By[i].finish()
	}
	slices.SortStableFunc(one.By, func(a, b OnPath) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Path, b.Path)) })
	if !reflect.DeepEqual(one.By, many.By) || !slices.Equal(one.Paths.List, many.Paths.List) || one.Length != many.Length || one.Requests != many.Requests {
		t.Errorf("by one core %+v, by all %+v", one.By[:2], many.By[:2])
	}
	if node := many.By[0]; len(node.each) != node.Requests || many.Paths.Of(1) < 0 {
		t.Errorf("%+v", node)
	}
}
