package moment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// randomSegments tiles [t0, t0+…) with segments of random roles.
func randomSegments(rng *rand.Rand, n int) []trace.Segment {
	at := trace.Time(rng.Int64N(1 << 50))
	var out []trace.Segment
	for range n {
		end := at + 1 + trace.Time(rng.Int64N(1<<rng.IntN(20)))
		s := trace.Segment{Begin: at, End: end, Region: 0, Role: trace.Role(rng.IntN(trace.RoleCount))}
		if s.Role == trace.RoleNone {
			s.Region = trace.NoRegion
		}
		out = append(out, s)
		at = end
	}
	return out
}

func bars(list []trace.Segment, set RoleSet, t0, tf trace.Time) (out []Interval) {
	for _, s := range list {
		if b, e := max(s.Begin, t0), min(s.End, tf); b < e && set.Has(s.Role) {
			out = append(out, Interval{b, e})
		}
	}
	return out
}

// same holds a sketch against the direct computation, to 1e-11 of what it can be.
func same(t *testing.T, what string, got Cubic, want Sketch) {
	t.Helper()
	if want.Empty() != got.Empty() {
		t.Fatalf("%s: weight %v, want %v", what, got.Weight, want.Weight)
	}
	if want.Empty() {
		return
	}
	off := func(a, b, scale float64) bool { return math.Abs(a-b) > 1e-11*scale }
	m2 := want.M(2)
	if off(got.Weight, want.Weight, want.Weight) || off(float64(got.Origin-want.Origin)+got.Mean, want.Mean, m2) ||
		off(got.M2, want.Central[2], want.Central[2]) || off(got.M3, want.Central[3], want.Weight*m2*m2*m2) {
		t.Fatalf("%s: %+v, want %+v", what, got, want)
	}
}

func TestBlocksMergeToWhatTheSegmentsGive(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		list := randomSegments(rng, 1+rng.IntN(300))
		var blocks []trace.Block
		for at := 0; at < len(list); {
			end := min(len(list), at+1+rng.IntN(40))
			blocks = append(blocks, Summary{}.Build(nil, &trace.Stretch{Begin: list[at].Begin, End: list[end-1].End, Segments: list[at:end]}, nil))
			at = end
		}
		for len(blocks) > 1 {
			i := rng.IntN(len(blocks) - 1)
			blocks[i] = Summary{}.Merge(nil, blocks[i], blocks[i+1])
			blocks = slices.Delete(blocks, i+1, i+2)
		}
		for _, set := range []RoleSet{BusyRoles, Roles(trace.RoleCommunication), Roles(trace.RoleIdle, trace.RoleOverhead, trace.RoleIO)} {
			want := sketchOf(bars(list, set, 0, math.MaxInt64), 3)
			var got, direct Cubic
			if !got.AddBlock(blocks[0], set) {
				t.Fatal("the block does not decode")
			}
			direct.AddSegments(list, set)
			same(t, "block", got, want)
			same(t, "segments", direct, want)
		}
	}
}

func TestBlocksAreSmallAndBrokenOnesRefused(t *testing.T) {
	one := Summary{}.Build(nil, &trace.Stretch{Segments: []trace.Segment{{Begin: 5, End: 9, Role: trace.RoleCompute}}}, nil)
	if len(one) != 12 {
		t.Errorf("a block of one role takes %d bytes", len(one))
	}
	if none := (Summary{}).Build(nil, &trace.Stretch{Segments: []trace.Segment{{End: 9}}}, nil); len(none) != 1 {
		t.Errorf("a block without roles takes %d bytes", len(none))
	}
	var s Cubic
	for _, b := range []trace.Block{nil, one[:11], append(slices.Clone(one), 0), {0, 0}, {0x80}, make(trace.Block, 7)} {
		if s.AddBlock(b, BusyRoles) && len(b) != 1 {
			t.Errorf("%d bytes decode", len(b))
		}
	}
	if got := (Summary{}).Merge(nil, one, one[:5]); len(got) != 0 {
		t.Errorf("merging with a torn block gives %d bytes", len(got))
	}
}

func TestIndexAnswersForEveryWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const rows = 40
	lists := make([][]trace.Segment, rows)
	b := NewIndexBuilder(rows)
	for row := range lists {
		if row == 7 {
			continue // a row without anything
		}
		lists[row] = randomSegments(rng, 1+rng.IntN(1<<rng.IntN(12)))
		all := bars(lists[row], BusyRoles, 0, math.MaxInt64)
		for len(all) > 0 {
			n := 1 + rng.IntN(len(all))
			b.Add(row, all[:n])
			all = all[n:]
		}
	}
	x := b.Index()
	for row, list := range lists {
		if list == nil {
			if s := x.Cubic(row, 0, math.MaxInt64); !s.Empty() {
				t.Errorf("row %d: %+v", row, s)
			}
			continue
		}
		first, last := list[0].Begin, list[len(list)-1].End
		for range 40 {
			t0 := first - 5 + trace.Time(rng.Int64N(int64(last-first)+10))
			tf := t0 + 1 + trace.Time(rng.Int64N(int64(last-first)+10))
			want := sketchOf(bars(list, BusyRoles, t0, tf), 5)
			same(t, "index", x.Cubic(row, t0, tf), want)
			five := x.Sketch(row, t0, tf, 5)
			if math.Abs(five.M0()-want.M0()) > 1e-9*want.M0() || !want.Empty() && math.Abs(five.M(4)-want.M(4)) > 1e-9*want.M(4) {
				t.Fatalf("order 5: %+v, want %+v", five, want)
			}
		}
	}
}

func TestOneBarInManyPiecesHasNoSkew(t *testing.T) {
	var s Cubic
	for i := range trace.Time(1000) {
		s.Add(1<<60+i*7, 1<<60+(i+1)*7)
	}
	if m := s.Moments(1 << 60); m.M0 != 7000 || m.M3 != 0 || math.Abs(m.M2-3500) > 1e-9 {
		t.Errorf("moments %+v", m)
	}
}

func TestOutliersStandOutFromTheirPeers(t *testing.T) {
	row := func(m0, m1 float64) Moments { return Moments{m0, m1, m0 / 2, 0} }
	var rows []Moments
	var peers []int32
	for i := range 20 {
		rows = append(rows, row(100+float64(i%5), 500), row(10+float64(i%3)/10, 200))
		peers = append(peers, 0, 1)
	}
	rows[8] = row(300, 500)                                   // works three times as long
	rows[11] = row(10, 600)                                   // works at another time
	rows[13] = row(0.4, 200)                                  // hardly works, where its peers do
	rows[14] = Moments{0, math.NaN(), math.NaN(), math.NaN()} // never works
	rows = append(rows, row(1, 1))                            // of a kind with no peers
	peers = append(peers, 2)
	var marked []int
	out := Outliers(rows, peers, 1000)
	for i := range out {
		if out[i].StandsOut() {
			marked = append(marked, i)
		}
	}
	if !slices.Equal(marked, []int{8, 11, 13, 14}) {
		t.Fatalf("marked %v", marked)
	}
	if out[8].Moment == 1 || out[8].Median == 0 || out[11].Moment != 1 {
		t.Errorf("reasons %+v, %+v", out[8], out[11])
	}
	if out[8].Impact <= out[11].Impact {
		t.Errorf("the row with more work at stake comes later: %+v, %+v", out[8], out[11])
	}
	rows[0] = row(1e6, 500) // beside it the second kind of rows does too little to matter
	if out := Outliers(rows, peers, 1000); out[11].StandsOut() || !out[0].StandsOut() {
		t.Errorf("%+v, %+v", out[0], out[11])
	}
	for i := range rows[:40:40] { // all the same: nobody stands out
		rows[i] = row(50, 50)
	}
	for _, o := range Outliers(rows[:40], nil, 1000) {
		if o.StandsOut() {
			t.Fatalf("%+v among equals", o)
		}
	}
}

func TestAlignmentIsOneForEqualRowsAndFallsApart(t *testing.T) {
	row := func(m0, m1 float64) Moments { return Moments{m0, m1, m0 / 2, 0} }
	for _, c := range []struct {
		name   string
		rows   []Moments
		m0, m1 float64
	}{
		{"equal", []Moments{row(40, 50), row(40, 50)}, 1, 1},
		{"one does all", []Moments{row(40, 50), {}, {}, {}}, 0.25, 1},
		{"half early, half late", []Moments{row(0.001, 0), row(0.001, 100)}, 1, 0},
		{"a third moves", []Moments{row(10, 20), row(30, 20)}, 0.75, 1},
	} {
		a := Align(c.rows, 100)
		if math.Abs(a.M0-c.m0) > 1e-9 || math.Abs(a.M1-c.m1) > 1e-9 || a.Score != a.M0*a.M1 {
			t.Errorf("%s: %+v, want %v, %v", c.name, a, c.m0, c.m1)
		}
	}
	if a := Align(nil, 100); a != (Alignment{}) {
		t.Errorf("no rows: %+v", a)
	}
}

func TestReadingFollowsTableI(t *testing.T) {
	for _, c := range []struct {
		m    Moments
		want []string
	}{
		{Moments{0, math.NaN(), math.NaN(), math.NaN()}, []string{"Never busy."}},
		{Moments{100, 50, 50, 0}, []string{"all the time", "unbroken", "even"}},
		{Moments{10, 15, 30, 70}, []string{"Hardly", "at the beginning", "far apart", "much later"}},
		{Moments{50, 70, 40, -30}, []string{"much of the time", "late", "long breaks", "early"}},
	} {
		got := Reading(c.m, 100, func(x float64) string { return fmt.Sprint(100*x, " %") })
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%+v: %q lacks %q", c.m, got, w)
			}
		}
	}
}

func BenchmarkBuild256Segments(b *testing.B) {
	s := &trace.Stretch{Segments: randomSegments(rand.New(rand.NewPCG(1, 1)), 256)}
	var dst trace.Block
	b.ReportAllocs()
	for b.Loop() {
		dst = Summary{}.Build(dst[:0], s, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/segment")
}

func BenchmarkMerge(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := Summary{}.Build(nil, &trace.Stretch{Segments: randomSegments(rng, 100)}, nil)
	y := Summary{}.Build(nil, &trace.Stretch{Segments: randomSegments(rng, 100)}, nil)
	var dst trace.Block
	b.ReportAllocs()
	for b.Loop() {
		dst = Summary{}.Merge(dst[:0], x, y)
	}
}

func BenchmarkAddBlock(b *testing.B) {
	x := Summary{}.Build(nil, &trace.Stretch{Segments: randomSegments(rand.New(rand.NewPCG(1, 1)), 100)}, nil)
	b.ReportAllocs()
	for b.Loop() {
		var s Cubic
		s.AddBlock(x, BusyRoles)
	}
}
