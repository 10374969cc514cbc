package trace_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A table collects the rows of a Builder and checks what a sink may rely on.
type table struct {
	lanes  [][]trace.LaneRow
	closed int
	faults []string
}

func (t *table) fault(format string, args ...any) {
	t.faults = append(t.faults, fmt.Sprintf(format, args...))
}

func (t *table) Open(r *trace.LaneRow) {
	for int(r.Lane) >= len(t.lanes) {
		t.lanes = append(t.lanes, nil)
	}
	lane := &t.lanes[r.Lane]
	if int(r.Row) != len(*lane) {
		t.fault("lane %d: row %d opens as number %d", r.Lane, r.Row, len(*lane))
	}
	if n := len(*lane); n > 0 && (*lane)[n-1].Begin > r.Begin {
		t.fault("lane %d: row %d begins before the one before it", r.Lane, r.Row)
	}
	row := *r
	row.Duration = -1
	*lane = append(*lane, row)
}

func (t *table) Close(r *trace.LaneRow) {
	t.closed++
	row := &t.lanes[r.Lane][r.Row]
	if row.Duration != -1 {
		t.fault("lane %d: row %d closes twice", r.Lane, r.Row)
	}
	want := *r
	want.Duration, want.Exclusive, want.Unclosed = row.Duration, row.Exclusive, row.Unclosed
	if *row != want {
		t.fault("lane %d: row %d opens as %+v, closes as %+v", r.Lane, r.Row, *row, *r)
	}
	*row = *r
}

func (t *table) String() string {
	var b strings.Builder
	for l, rows := range t.lanes {
		if l > 0 {
			b.WriteString("| ")
		}
		for _, r := range rows {
			fmt.Fprintf(&b, "%s%c %d-%d(%d) ", strings.Repeat("/", int(r.Depth)), 'a'+rune(r.Region), r.Begin, r.Begin+r.Duration, r.Exclusive)
		}
	}
	return strings.TrimSpace(b.String())
}

// run gives a Builder records written as text: "+a5" enters a at 5, "-a7" leaves a,
// "-7" leaves anything, "a5-9" is an interval.
func run(t *testing.T, opt trace.BuilderOptions, records string) (*table, trace.Repairs) {
	t.Helper()
	var b trace.Builder
	out := new(table)
	b.Reset(opt, out)
	for _, f := range strings.Fields(records) {
		var x, y int64
		var region rune
		if n, _ := fmt.Sscanf(f, "+%c%d", &region, &x); n == 2 {
			b.Enter(trace.Time(x), trace.RegionID(region-'a'))
		} else if n, _ := fmt.Sscanf(f, "-%d", &x); n == 1 {
			b.Leave(trace.Time(x), trace.NoRegion)
		} else if n, _ := fmt.Sscanf(f, "-%c%d", &region, &x); n == 2 {
			b.Leave(trace.Time(x), trace.RegionID(region-'a'))
		} else if n, _ := fmt.Sscanf(f, "%c%d-%d", &region, &x, &y); n == 3 {
			b.Interval(trace.Time(x), trace.Time(y), trace.RegionID(region-'a'))
		} else {
			t.Fatalf("record %q", f)
		}
	}
	repairs, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range out.faults {
		t.Error(f)
	}
	return out, repairs
}

func TestBuilderRules(t *testing.T) {
	byName := trace.StreamOptions{ByName: true}
	unordered := trace.StreamOptions{Unordered: true}
	for _, c := range []struct {
		name    string
		opt     trace.StreamOptions
		records string
		want    string
		repairs trace.Repairs
	}{
		{name: "calls nest", records: "+a0 +b2 +c3 -c5 -b6 -a9", want: "a 0-9(5) /b 2-6(2) //c 3-5(2)"},
		{name: "recursion", records: "+a0 +a1 +a2 -a3 -a4 -a5", want: "a 0-5(2) /a 1-4(2) //a 2-3(1)"},
		{name: "a leave without a region closes the innermost", records: "+a0 +b2 -3 -4", want: "a 0-4(3) /b 2-3(1)"},
		{name: "a leave of an outer region closes the inner ones first", records: "+a0 +b1 +c2 -a5",
			want: "a 0-5(1) /b 1-5(1) //c 2-5(3)", repairs: trace.Repairs{Forced: 2}},
		{name: "a leave of a region that is not open is ignored", records: "+a0 -b1 -a2 -a3",
			want: "a 0-2(2)", repairs: trace.Repairs{Stray: 2}},
		{name: "a leave of a region never seen is ignored", records: "-z1", want: "", repairs: trace.Repairs{Stray: 1}},
		{name: "what stays open ends with the trace", records: "+a0 +b10",
			want: "a 0-100(10) /b 10-100(90)", repairs: trace.Repairs{Unclosed: 2}},
		{name: "empty calls are kept where they were made", records: "+a0 +b5 -b5 +c5 -c5 +d9 -d9 -a9 +e9 -e9",
			want: "a 0-9(9) /b 5-5(0) /c 5-5(0) /d 9-9(0) e 9-9(0)"},
		{name: "time that runs backwards stands still", records: "+a5 +b3 -b4 -a8",
			want: "a 5-8(3) /b 5-5(0)", repairs: trace.Repairs{Backwards: 2}},
		{name: "unordered records are sorted, equal times as they came", opt: unordered, records: "-a9 +b5 -b7 +a0",
			want: "a 0-9(7) /b 5-7(2)"},
		{name: "unordered empty calls", opt: unordered, records: "+b5 -b5 +c5 -c6 +a0 -a9",
			want: "a 0-9(8) /b 5-5(0) /c 5-6(1)"},

		{name: "by name crossing intervals get lanes", opt: byName, records: "+a0 +b3 -a5 -b8", want: "a 0-5(5) | b 3-8(5)"},
		{name: "by name the nearest enter counts", opt: byName, records: "+a0 +a2 +b3 -a5 -b6 -a9", want: "a 0-9(6) /a 2-5(3) | b 3-6(3)"},
		{name: "by name without a region the innermost counts", opt: byName, records: "+a0 +b2 -3 -4", want: "a 0-4(3) /b 2-3(1)"},
		{name: "by name stray and open", opt: byName, records: "-a1 +a2 +b3 -c4 -a5",
			want: "a 2-5(3) | b 3-100(97)", repairs: trace.Repairs{Stray: 2, Unclosed: 1}},

		{name: "intervals nest by containment", records: "b2-4 a0-9 c3-3", want: "a 0-9(7) /b 2-4(2) //c 3-3(0)"},
		{name: "equal intervals nest as they came", records: "b2-4 a2-4 c2-3", want: "b 2-4(0) /a 2-4(1) //c 2-3(1)"},
		{name: "overlap takes the first lane that fits", records: "a0-4 b2-6 c3-8 d4-5 e6-7",
			want: "a 0-4(4) d 4-5(1) e 6-7(1) | b 2-6(4) | c 3-8(5)"},
		{name: "what ends before it begins is empty", records: "a5-3", want: "a 5-5(0)", repairs: trace.Repairs{Negative: 1}},
		{name: "empty intervals at one time are siblings", records: "a1-1 b1-1", want: "a 1-1(0) b 1-1(0)"},
		{name: "calls and intervals mixed", records: "+a0 b2-4 +c3 -c8 -a9", want: "a 0-9(7) /b 2-4(2) | c 3-8(5)"},
		{name: "an interval around calls", records: "+a2 -a4 x0-9 +b5 -b6", want: "x 0-9(6) /a 2-4(2) /b 5-6(1)"},
		{name: "unordered calls and intervals", opt: unordered, records: "-a9 b2-4 +a0", want: "a 0-9(7) /b 2-4(2)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := trace.BuilderOptions{StreamOptions: c.opt, End: 100}
			for _, f := range strings.Fields(c.records) {
				opt.Intervals = opt.Intervals || f[0] != '+' && f[0] != '-'
			}
			got, repairs := run(t, opt, c.records)
			if got.String() != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if repairs != c.repairs {
				t.Errorf("repairs %+v, want %+v", repairs, c.repairs)
			}
		})
	}
}

func TestBuilderIsReusable(t *testing.T) {
	var b trace.Builder
	for i, intervals := range []bool{false, true, false, true} {
		out := new(table)
		b.Reset(trace.BuilderOptions{Intervals: intervals, End: 50}, out)
		b.Enter(0, 1)
		if intervals {
			for k := range trace.Time(20) {
				b.Interval(k, k+30, 2)
			}
		}
		b.Enter(3, 4)
		b.Leave(5, 4)
		repairs, err := b.Finish()
		if err != nil || repairs.Unclosed != 1 {
			t.Errorf("round %d: %+v, %v", i, repairs, err)
		}
		if want := map[bool]int{false: 1, true: 20}[intervals]; len(out.lanes) != want {
			t.Errorf("round %d: %d lanes, want %d", i, len(out.lanes), want)
		}
	}
}

// slowLanes is the rule of lanes by the book.
func slowLanes(spans []trace.Span) [][]trace.Span {
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b trace.Span) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(b.End, a.End), cmp.Compare(a.Seq, b.Seq))
	})
	var lanes [][]trace.Span
	for _, s := range spans {
		l := 0
		for ; l < len(lanes); l++ {
			fits := true
			for _, o := range lanes[l] { // every interval open at its begin must hold it
				if o.End > s.Begin && o.End < s.End {
					fits = false
				}
			}
			if fits {
				break
			}
		}
		if l == len(lanes) {
			lanes = append(lanes, nil)
		}
		lanes[l] = append(lanes[l], s)
	}
	return lanes
}

func TestBuilderFindsTheFirstLaneThatFits(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		n, reach := 1+rnd.IntN(300), 1+rnd.IntN(200)
		var spans []trace.Span
		var b trace.Builder
		out := new(table)
		b.Reset(trace.BuilderOptions{Intervals: true}, out)
		for i := range n {
			begin := trace.Time(rnd.IntN(300))
			s := trace.Span{Begin: begin, End: begin + trace.Time(rnd.IntN(reach)), Region: trace.RegionID(i % 7), Seq: uint32(i)}
			spans = append(spans, s)
			b.Interval(s.Begin, s.End, s.Region)
		}
		if _, err := b.Finish(); err != nil {
			t.Fatal(err)
		}
		want := slowLanes(spans)
		if len(want) != len(out.lanes) {
			t.Fatalf("seed %d: %d lanes, want %d", seed, len(out.lanes), len(want))
		}
		for l := range want {
			for i, s := range want[l] {
				r := out.lanes[l][i]
				if r.Seq != s.Seq || r.Begin != s.Begin || r.Duration != s.End-s.Begin {
					t.Fatalf("seed %d, lane %d, row %d: %+v, want %+v", seed, l, i, r, s)
				}
				checkParent(t, out.lanes[l], i)
			}
		}
		if out.closed != n || len(out.faults) > 0 {
			t.Fatalf("seed %d: %d of %d rows closed, %v", seed, out.closed, n, out.faults)
		}
	}
}

// checkParent holds the parent and exclusive time of a row against the definition.
func checkParent(t *testing.T, lane []trace.LaneRow, i int) {
	t.Helper()
	r := lane[i]
	parent, exclusive := int32(-1), r.Duration
	for k, o := range lane {
		if k < i && o.Begin+o.Duration > r.Begin {
			parent = int32(k)
		}
		if o.Parent == int32(i) {
			exclusive -= o.Duration
		}
	}
	if r.Parent != parent || r.Exclusive != exclusive {
		t.Fatalf("row %d: parent %d, exclusive %d; want %d, %d", i, r.Parent, r.Exclusive, parent, exclusive)
	}
}

func TestBuilderManyLanesStayFast(t *testing.T) {
	const n = 100_000
	var b trace.Builder
	out := new(table)
	b.Reset(trace.BuilderOptions{Intervals: true}, out)
	for i := range trace.Time(n) { // all overlap, none nests
		b.Interval(i, n+i, 0)
	}
	if _, err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	if len(out.lanes) != n {
		t.Errorf("%d lanes, want %d", len(out.lanes), n)
	}
}

func TestBuilderByNameForgetsWhatIsClosed(t *testing.T) {
	var b trace.Builder
	out := new(table)
	b.Reset(trace.BuilderOptions{StreamOptions: trace.StreamOptions{ByName: true}}, out)
	b.Enter(0, 0)
	for i := range trace.Time(10_000) { // always two open, crossing
		b.Enter(i, trace.RegionID(1+i%2))
		if i > 0 {
			b.Leave(i, trace.RegionID(1+(i-1)%2))
		}
	}
	repairs, err := b.Finish()
	if err != nil || repairs != (trace.Repairs{Unclosed: 2}) {
		t.Errorf("%+v, %v", repairs, err)
	}
}

// The oracle's replay of calls: inclusive and exclusive time of each, its caller,
// and how many had to be repaired.
func TestBuilderAgreesWithTheOracle(t *testing.T) {
	b, err := os.ReadFile("testdata/builder_callmatrix.json")
	if err != nil {
		t.Fatal(err)
	}
	var oracle struct {
		Traces []struct {
			Name      string
			End       trace.Time `json:"trace_end"`
			Processes map[string]struct {
				Events   [][3]any
				Problems struct{ Forced, Stray, Open int64 }
				Calls    [][7]any
			}
		}
	}
	if err := json.Unmarshal(b, &oracle); err != nil {
		t.Fatal(err)
	}
	for _, tr := range oracle.Traces {
		for rank, p := range tr.Processes {
			t.Run(tr.Name+"/"+rank, func(t *testing.T) {
				var names []string
				id := func(name any) trace.RegionID {
					i := slices.Index(names, name.(string))
					if i < 0 {
						i = len(names)
						names = append(names, name.(string))
					}
					return trace.RegionID(i)
				}
				out := new(table)
				var b trace.Builder
				b.Reset(trace.BuilderOptions{End: tr.End}, out)
				for _, e := range p.Events {
					if e[1] == "E" {
						b.Enter(trace.Time(e[0].(float64)), id(e[2]))
					} else {
						b.Leave(trace.Time(e[0].(float64)), id(e[2]))
					}
				}
				repairs, err := b.Finish()
				if err != nil {
					t.Fatal(err)
				}
				if want := (trace.Repairs{Forced: p.Problems.Forced, Stray: p.Problems.Stray, Unclosed: p.Problems.Open}); repairs != want {
					t.Errorf("repairs %+v, want %+v", repairs, want)
				}
				var got, want []string
				for _, lane := range out.lanes {
					for _, r := range lane {
						caller := ""
						if r.Parent >= 0 {
							caller = names[lane[r.Parent].Region]
						}
						got = append(got, fmt.Sprint(names[r.Region], " from ", caller, " ", r.Begin, " ", r.Begin+r.Duration, " ", r.Duration, " ", r.Exclusive))
					}
				}
				for _, c := range p.Calls {
					want = append(want, fmt.Sprint(c[0], " from ", c[1], " ", c[2], " ", c[3], " ", c[4], " ", c[5]))
				}
				if !slices.Equal(got, want) {
					t.Errorf("calls\n got %q\nwant %q", got, want)
				}
			})
		}
	}
}

func TestBuilderDepthSaturates(t *testing.T) {
	var b trace.Builder
	out := new(table)
	b.Reset(trace.BuilderOptions{}, out)
	const n = 1<<16 + 5
	for i := range trace.Time(n) {
		b.Enter(i, 0)
	}
	for i := range trace.Time(n) {
		b.Leave(n+i, 0)
	}
	repairs, err := b.Finish()
	if err != nil || repairs != (trace.Repairs{Deep: 5}) {
		t.Errorf("%+v, %v", repairs, err)
	}
	if r := out.lanes[0][n-1]; r.Depth != 1<<16-1 || r.Parent != n-2 || r.Duration != 1 {
		t.Errorf("deepest row is %+v", r)
	}
}

func TestBuilderNestingWithoutEndIsBounded(t *testing.T) {
	const most, more = 1 << 20, 10 // as the Builder keeps open at the most
	var b trace.Builder
	out := new(table)
	b.Reset(trace.BuilderOptions{}, out)
	for i := range trace.Time(most + more) {
		b.Enter(i, trace.RegionID(i%3))
	}
	for i := range trace.Time(most + more) {
		b.Leave(most+more+i, trace.RegionID((most+more-1-i)%3))
	}
	repairs, err := b.Finish()
	if err != nil || repairs.Forced != 0 || repairs.Stray != 0 || repairs.Unclosed != 0 {
		t.Errorf("%+v, %v", repairs, err)
	}
	rows := out.lanes[0]
	if n := len(rows); n != most+more || out.closed != n {
		t.Errorf("%d rows, %d closed, want %d", n, out.closed, most+more)
	}
	if r := rows[most-1]; r.Begin+r.Duration != most+more+more {
		t.Errorf("the deepest that is kept is %+v", r)
	}
	if r := rows[most]; r.Duration != 0 || r.Parent != most-1 {
		t.Errorf("the first past it is %+v", r)
	}
}
