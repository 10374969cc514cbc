package findings_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// An edited field is one whose events are recorded otherwise.
type edited struct {
	*field
	edit func([]event) []event
}

func (e edited) store(t *testing.T) store.Reader {
	t.Helper()
	e.ripen()
	for r := range e.events {
		e.events[r] = e.edit(e.events[r])
	}
	return viewtest.Local(t, e.harvest)
}

// onlyMPI keeps what a recorder of MPI calls keeps.
func onlyMPI(list []event) (out []event) {
	for _, e := range list {
		if strings.HasPrefix(e.region, "MPI_") {
			out = append(out, e)
		}
	}
	return out
}

// wrapped puts collectives into a state that is known as communication.
func wrapped(list []event) (out []event) {
	for _, e := range list {
		if e.region == "MPI_Allreduce" {
			out = append(out, event{"MPI_group", e.begin, e.end})
		}
		out = append(out, e)
	}
	return out
}

// oneInThree keeps one in three calls that are not MPI's. Iterations are kept.
func oneInThree() func([]event) []event {
	rnd := rand.New(rand.NewPCG(7, 7))
	return func(list []event) (out []event) {
		for _, e := range list {
			if e.region == "iteration" || strings.HasPrefix(e.region, "MPI_") || rnd.IntN(3) == 0 {
				out = append(out, e)
			}
		}
		return out
	}
}

// inAll is work that all ranks do longer in some iterations.
func inAll(slow func(iteration int) bool, factor float64) func(*rand.Rand, int, int, *task) float64 {
	return func(_ *rand.Rand, _, i int, _ *task) float64 {
		if slow(i) {
			return factor
		}
		return 0
	}
}

// What happens to all ranks, or is recorded only in part, is named first with its cost.
func TestInjectedFaultsOfPartialRecordsAreFound(t *testing.T) {
	since, tenth, rank, node := grow(), grow(), grow(), grow()
	since.change = append(since.change, inAll(func(i int) bool { return i >= 24 }, 1.3))
	tenth.change = append(tenth.change, inAll(func(i int) bool { return i%10 == 9 }, 3))
	rank.change = append(rank.change, slower(only(5), 1.3))
	sender := grow()
	sender.halo, sender.meet = true, false
	sender.extra = append(sender.extra, func(rank, iteration int) []task {
		if rank == 3 && iteration%3 == 0 {
			return []task{{"pack", 9 * ms}}
		}
		return nil
	})
	node.change = append(node.change, slower(only(4, 5, 6, 7), 1.3))
	for _, p := range []plant{
		{"all since", "× 1.3", since, finding.SlowPhase, `^in compute\nphase iteration 25\n(phase .*\n){15}`, 16 * 3 * 16 * ms},
		{"all, each tenth", "× 3", tenth, finding.Periodic, `^in compute\n[^@]*^period = 10$`, 16 * 20 * 4 * ms},
		{"slow rank, MPI only", "× 1.3", edited{rank, onlyMPI}, finding.Straggler, `^at node01/rank 5\n[^@]*^\(not recorded\) = `, rank.cost()},
		{"slow node, MPI only", "× 1.3", edited{node, onlyMPI}, finding.Straggler, `^at node01/rank 4\n(at node01/.*\n){3}[^@]*^\(not recorded\) = `, node.cost()},
		{"late sender, one call in three", "9 ms", edited{sender, oneInThree()}, finding.LateSender, `^at node00/rank 3\n[^a]`, sender.cost()},
		{"slow rank, wrapped", "× 1.3", edited{rank, wrapped}, finding.Straggler, `^at node01/rank 5\n[^@]*^compute = `, rank.cost()},
	} {
		d := read(t, p.run.store(t))
		if o := look(&d, &p); !o.named || o.off > 0.1 {
			t.Errorf("%s: %s; off by %.0f %% of %v", p.kind, o.text, 100*o.off, p.cost)
		}
		sums(t, p.kind, &d)
		numbersAreEvidence(t, p.kind, &d)
	}
}

// Nothing is gained by ranks that have less to do: it is told, and never grave.
func TestSlackIsALowFinding(t *testing.T) {
	f := grow()
	f.halo = true
	f.change = append(f.change, slower(only(3), 0.5))
	d := read(t, f.store(t))
	for _, x := range d.Findings {
		if x.Severity != finding.Low {
			t.Errorf("%s %s: %s", x.Severity, x.Kind, x.Text)
		}
	}
	if len(d.Findings) == 0 || d.Findings[0].Kind != finding.Slack || !strings.HasPrefix(d.about(&d.Findings[0]), "at node00/rank 3\nwork = 200 ms\n") {
		t.Errorf("%v", texts(&d))
	}
	numbersAreEvidence(t, "slack", &d)
}
