package answer_test

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/answer"
)

// ranks writes a trace of ranks that work and then meet in a barrier, twice; work says how long each works of 100.
func ranks(work ...string) string {
	var b strings.Builder
	b.WriteString("region solve role=compute\nregion MPI_Barrier role=communication\n")
	for i, w := range work {
		n := string(rune('0' + i))
		b.WriteString("location process \"rank " + n + "\" rank=" + n + "\n")
		for _, at := range []string{"", "1"} {
			end := at + "99"
			if at == "" {
				end = "99"
			}
			b.WriteString("  " + at + "00.." + at + w + " solve\n  " + at + w + ".." + end + " MPI_Barrier\n")
		}
	}
	return b.String()
}

var (
	slow  = viewtest.Case{Name: "slow rank", Trace: ranks("50", "51", "49", "97", "50")}
	alike = viewtest.Case{Name: "alike", Trace: ranks("97", "97", "97", "97", "97")}
)

func TestAnswer(t *testing.T) { viewtest.Run(t, answer.View, slow, alike) }

func answerOf(t *testing.T, c *viewtest.Case) diagnose.Answer {
	t.Helper()
	return c.Compute(t, answer.View, c.Open(t)).Data().(diagnose.Answer)
}

func TestTheAnswerNamesTheCauseWithItsProof(t *testing.T) {
	a := answerOf(t, &slow)
	if a.Kind != finding.Straggler || !strings.HasPrefix(a.Text, "Rank 3 ") || a.Next == "" || a.View == "" {
		t.Errorf("%+v", a)
	}
	if len(a.Proof) != 2 || a.Proof[0].Value != 2*97 || *a.Proof[1].Least != 2*49 || *a.Proof[1].Most != 2*51 {
		t.Errorf("proof %+v", a.Proof)
	}
	if a.Lost == 0 || a.Share <= 0.2 || a.ShareOf == "" {
		t.Errorf("cost %v, %v of %q", a.Lost, a.Share, a.ShareOf)
	}
}

// A run that waits for nothing is told with the number, and with a next step all the same.
func TestARunWithoutFindingsStatesItsWaitingTime(t *testing.T) {
	a := answerOf(t, &alike)
	if a.Kind != "" || !strings.Contains(a.Text, "%") || a.Next == "" {
		t.Errorf("%+v", a)
	}
}

// A figure as wide as a column of a journal has the whole sentence, and the next step.
func TestAColumnHasTheWholeSentence(t *testing.T) {
	r := slow.Compute(t, answer.View, slow.Open(t))
	s := r.Scene(scene.Size{Width: 317, Height: 222})
	var words strings.Builder
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if x, ok := m.(*scene.Text); ok {
				words.WriteString(strings.Join(x.Text, " ") + " ")
			}
		}
	}
	a := r.Data().(diagnose.Answer)
	for _, want := range []string{a.Text, a.Next} {
		if !strings.Contains(words.String(), want) {
			t.Errorf("%q is not in %q", want, words.String())
		}
	}
}
