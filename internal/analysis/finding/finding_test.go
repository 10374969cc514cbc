package finding

import (
	"fmt"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func load(phases int, rows ...[]trace.Time) *Load {
	l := &Load{Units: len(rows), Phases: phases}
	for _, r := range rows {
		l.Busy = append(l.Busy, r...)
	}
	return l
}

func budget(l *Load, each trace.Time) *Budget {
	b := &Budget{Units: l.Units, Phases: l.Phases, Left: make([]trace.Time, l.Units*l.Phases)}
	for i := range b.Left {
		b.Left[i] = each
	}
	return b
}

func TestStragglersAreChargedWithWhatTheOthersWait(t *testing.T) {
	rows := [][]trace.Time{{100, 100}, {101, 99}, {99, 101}, {100, 100}, {100, 100}, {160, 165}, {100, 100}, {100, 140}}
	l := load(2, rows...)
	list := Stragglers(l, budget(l, 40))
	if len(list) == 0 || fmt.Sprint(list[0].Units) != "[5]" || fmt.Sprint(list[0].Phases) != "[0 1]" {
		t.Fatalf("%+v", list)
	}
	// Each of the seven waits 40 in both phases; in the second unit 7 is 25 behind.
	if want := trace.Time(7*40 + 6*40 + 25); list[0].Lost != want || len(list[0].Waiters) != 7 {
		t.Errorf("lost %d by %d, want %d", list[0].Lost, len(list[0].Waiters), want)
	}
	for _, s := range list[1:] {
		if s.Lost > 0 {
			t.Errorf("%v is blamed for %d that another causes anyway", s.Units, s.Lost)
		}
	}
}

func TestAStragglerOfOnePhaseIsFound(t *testing.T) {
	rows := make([][]trace.Time, 16)
	for i := range rows {
		rows[i] = []trace.Time{100, 100, 100, 100, 100, 100, 100, 100, 100, 100}
	}
	rows[3][2] = 150
	l := load(10, rows...)
	list := Stragglers(l, budget(l, 60))
	if len(list) != 1 || fmt.Sprint(list[0].Units, list[0].Phases) != "[3] [2]" || list[0].Lost != 15*50 {
		t.Errorf("%+v", list)
	}
}

func TestEqualRanksAndRunsWithoutWaitingHaveNoStraggler(t *testing.T) {
	alike := load(1, []trace.Time{100}, []trace.Time{101}, []trace.Time{99}, []trace.Time{102}, []trace.Time{98})
	if list := Stragglers(alike, budget(alike, 50)); len(list) != 0 {
		t.Errorf("alike: %+v", list)
	}
	odd := load(1, []trace.Time{100}, []trace.Time{100}, []trace.Time{100}, []trace.Time{100}, []trace.Time{200})
	for _, s := range Stragglers(odd, budget(odd, 0)) {
		if s.Lost != 0 {
			t.Errorf("nobody waits and %d is lost", s.Lost)
		}
	}
}

// tree: a root with three groups of four leaves.
func tree() *entropy.Tree {
	t := &entropy.Tree{Parent: []int32{-1}, Last: []int32{15}}
	for g := range int32(3) {
		at := 1 + 5*g
		t.Parent, t.Last = append(t.Parent, 0), append(t.Last, at+4)
		for k := range int32(4) {
			t.Parent, t.Last = append(t.Parent, at), append(t.Last, at+1+k)
		}
	}
	return t
}

func values(groups ...[4]float64) []float64 {
	v := make([]float64, 16)
	for g, x := range groups {
		copy(v[2+5*g:], x[:])
	}
	return v
}

func anything(*Mixed) bool { return true }

func TestMixedNamesTheDeepestGroupWhoseMembersDiffer(t *testing.T) {
	for _, c := range []struct {
		name string
		v    []float64
		want string
	}{
		{"all alike", values([4]float64{5, 5, 5, 5}, [4]float64{5, 5, 5, 5}, [4]float64{5, 5, 5, 5}), "[]"},
		{"one odd leaf makes its group odd, not the run", values([4]float64{5, 5, 5, 5}, [4]float64{5, 5, 25, 5}, [4]float64{5, 5, 5, 5}), "[6:[9]]"},
		{"groups differ, their members do not", values([4]float64{2, 2, 2, 2}, [4]float64{5, 5, 5, 5}, [4]float64{9, 9, 9, 9}), "[0:[1 6 11]]"},
		{"only some do it at all", values([4]float64{0, 0, 0, 8}, [4]float64{0, 0, 0, 0}, [4]float64{0, 0, 0, 0}), "[]"},
	} {
		got := []string{}
		for _, m := range FindMixed(tree(), c.v, anything) {
			got = append(got, fmt.Sprintf("%d:%v", m.Node, m.Odd))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

func TestLossIsThatOfTheNodeWithoutThatOfItsChildren(t *testing.T) {
	v := values([4]float64{2, 2.1, 2, 1.9}, [4]float64{5, 5, 5.1, 5}, [4]float64{9, 9, 9, 9.2})
	l := entropy.Label(tree(), [][]float64{v}, entropy.GainValues)
	want := (l.Loss[0] - l.Loss[1] - l.Loss[6] - l.Loss[11]) / l.Sum[0][0]
	list := FindMixed(tree(), v, anything)
	if len(list) != 1 || list[0].Node != 0 || math.Abs(list[0].Loss-want) > 1e-12 {
		t.Errorf("%+v, want a loss of %v", list, want)
	}
}

func TestTheEndOfABroadDistributionIsNotAGroupApart(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		odd    []bool
		want   bool
	}{
		{"a gap", []float64{1, 2, 3, 2, 9, 10}, []bool{false, false, false, false, true, true}, true},
		{"no gap", []float64{1, 2, 3, 5, 6, 10}, []bool{false, false, false, false, true, true}, false},
		{"a gap below", []float64{10, 11, 10, 12, 1}, []bool{false, false, false, false, true}, true},
	} {
		if got := Apart(c.values, c.odd); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestClocksComeFirstThenTimeLostThenLevel(t *testing.T) {
	list := []Finding{{Kind: Straggler, Severity: Medium, Lost: 900}, {Kind: Imbalance, Severity: High, Lost: 10}, {Kind: Straggler, Severity: High, Lost: 20}, {Kind: Clock, Severity: High}, {Kind: Data, Severity: Low}}
	Sort(list)
	got := ""
	for _, f := range list {
		got += fmt.Sprint(f.Kind, " ", f.Lost, ", ")
	}
	if want := "clock 0, straggler 900, straggler 20, imbalance 10, data 0, "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Seconds of goroutines and of processors are not of one kind: their shares are compared. A share that is no loss, such
// as the time in communication of a profile, does not count.
func TestALargerShareComesFirst(t *testing.T) {
	list := []Finding{{Kind: ProcessorWait, Severity: Medium, Lost: 7490, Share: 0.116},
		{Kind: Communication, Severity: Low, Lost: 0, Share: 0.263}, {Kind: IO, Severity: Low, Lost: 43, Share: 0.086},
		{Kind: Lock, Severity: Medium, Lost: 3030, Share: 0.288}}
	Sort(list)
	got := ""
	for _, f := range list {
		got += string(f.Kind) + " "
	}
	if want := "lock processor-wait io communication "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSeverityFollowsTheAffectedShare(t *testing.T) {
	for hit, want := range map[float64]Level{0.5: High, 0.05: High, 0.049: Medium, 0.02: Medium, 0.019: Low, 0: Low} {
		if got := LevelOf(hit); got != want {
			t.Errorf("%v: %s", hit, got)
		}
	}
	if High.AtMost(Medium) != Medium || Low.AtMost(Medium) != Low {
		t.Error("AtMost raises a level or does not bound it")
	}
}
