package trace_test

import (
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// stackRun gives the rows of a StackBuilder whose columns hold only a few at a time.
type stackRun struct {
	builder trace.StackBuilder
	rows    trace.StackRows
	all     []trace.LaneRow
}

func newStackRun(size int) *stackRun {
	s := &stackRun{}
	s.rows = trace.StackRows{
		Begin: make([]trace.Time, size), Duration: make([]trace.Time, size), Exclusive: make([]trace.Time, size),
		Region: make([]trace.RegionID, size), Parent: make([]int32, size), Depth: make([]uint16, size),
		Flush: s.flush,
		Late:  func(row int64, d, x trace.Time) { s.all[row].Duration, s.all[row].Exclusive = d, x },
	}
	return s
}

func (s *stackRun) flush() {
	c := &s.rows
	for i := range c.N {
		s.all = append(s.all, trace.LaneRow{
			Row: int32(len(s.all)), Parent: c.Parent[i], Depth: c.Depth[i], Region: c.Region[i], Begin: c.Begin[i],
			Duration: c.Duration[i], Exclusive: c.Exclusive[i],
		})
	}
	c.First += int64(c.N)
	c.N = 0
}

func (s *stackRun) start() {
	s.flush()
	s.all, s.rows.First = nil, 0
	s.builder.Reset(&s.rows)
}

func TestStackBuilderDoesWhatABuilderDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	var builder trace.Builder
	single, many := newStackRun(7), newStackRun(7)
	var batch []trace.StackRecord
	for round := range 300 {
		want := new(table)
		builder.Reset(trace.BuilderOptions{End: 500}, want)
		single.start()
		many.start()
		now := trace.Time(-50)
		sound := round%3 == 0 // mostly what is innermost is left, in order of time
		var open []trace.RegionID
		for range random.IntN(400) {
			now += trace.Time(random.IntN(5))
			at, region := now, trace.RegionID(random.IntN(5))
			odd := !sound || random.IntN(60) == 0
			if odd && random.IntN(20) == 0 {
				at -= 3
			}
			leave := random.IntN(9) > 3
			switch kind := random.IntN(5); {
			case !leave:
				open = append(open, region)
			case odd && kind == 0:
				region = trace.NoRegion
			case odd && kind == 1:
				region += 100
			case !odd && len(open) > 0:
				region = open[len(open)-1]
			}
			if leave && len(open) > 0 {
				open = open[:len(open)-1]
			}
			batch = append(batch, trace.StackRecord{Time: at, Region: region, Leave: leave})
			if leave {
				builder.Leave(at, region)
				single.builder.Leave(at, region)
			} else {
				builder.Enter(at, region)
				single.builder.Enter(at, region)
			}
			if random.IntN(12) == 0 {
				many.builder.Run(batch)
				batch = batch[:0]
			}
		}
		many.builder.Run(batch)
		batch = batch[:0]
		repairs, err := builder.Finish()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*stackRun{single, many} {
			depth, last, got := s.builder.Finish(500)
			s.flush()
			for _, row := range s.builder.Unclosed {
				s.all[row].Unclosed = true
			}
			checkSame(t, round, want, s.all, depth, last)
			if got != repairs {
				t.Fatalf("round %d: repairs are %+v, want %+v", round, got, repairs)
			}
		}
	}
}

func checkSame(t *testing.T, round int, want *table, got []trace.LaneRow, depth int, last trace.Time) {
	t.Helper()
	var rows []trace.LaneRow
	if len(want.lanes) > 0 {
		rows = want.lanes[0]
	}
	if len(rows) != len(got) {
		t.Fatalf("round %d: %d rows, want %d", round, len(got), len(rows))
	}
	deepest, end := 0, trace.Time(0)
	for i, r := range rows {
		r.Seq = 0
		if got[i] != r {
			t.Fatalf("round %d, row %d: %+v, want %+v", round, i, got[i], r)
		}
		deepest, end = max(deepest, int(r.Depth)+1), max(end, r.Begin+r.Duration)
	}
	if depth != deepest || last != end {
		t.Fatalf("round %d: depth %d until %d, want %d until %d", round, depth, last, deepest, end)
	}
}

func TestStackBuilderNestingWithoutEndIsBounded(t *testing.T) {
	const n = 1<<20 + 100
	want := new(table)
	var builder trace.Builder
	builder.Reset(trace.BuilderOptions{End: n}, want)
	s := newStackRun(1 << 10)
	s.builder.Reset(&s.rows)
	for i := range trace.Time(n) {
		builder.Enter(i, 3)
		s.builder.Enter(i, 3)
	}
	for i := range trace.Time(200) {
		builder.Leave(n+i, 3)
		s.builder.Leave(n+i, 3)
	}
	repairs, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	_, last, got := s.builder.Finish(n)
	s.flush()
	for _, row := range s.builder.Unclosed {
		s.all[row].Unclosed = true
	}
	checkSame(t, 0, want, s.all, 1<<16, last)
	if got != repairs {
		t.Fatalf("repairs are %+v, want %+v", got, repairs)
	}
}
