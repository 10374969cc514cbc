package findings_test

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// Four workers, of which the first runs a task alone that the tasks of the others need: they idle 90 µs each, and begin theirs 1 µs after it is over.
// The last task is over at 200, and until then three of them idle again, from 150 on.
func TestWorkersWaitForTasksThatTheirsNeed(t *testing.T) {
	d := read(t, parsed(t, `
region factor role=compute
region update role=compute
region idle role=idle
region take role=overhead
region poll role=communication
location process run rank=0
  location thread w0
    0us..100us factor
    100us..200us update
  location thread w1
    10us..100us idle
    100us..101us take
    101us..150us update
    150us..210us idle
  location thread w2
    10us..100us idle
    100us..101us take
    101us..150us update
    150us..210us idle
  location thread w3
    10us..100us idle
    100us..101us take
    101us..150us update
    150us..210us idle
  location thread mpi
    0us..210us poll
link flow 100us run/w0 -> 101us run/w1 from=factor to=update
link flow 100us run/w0 -> 101us run/w2 from=factor to=update
link flow 100us run/w0 -> 101us run/w3 from=factor to=update
`))
	sums(t, "tasks", &d)
	if len(d.Budget) < 2 || d.Budget[0].Region != "factor" || d.Budget[0].Time != 3*90_000 || d.Budget[1].Region != "update" || d.Budget[1].Time+d.Budget[0].Time+d.Unexplained != 3*150_000 || d.Unexplained != 3*10_000 {
		t.Errorf("unexplained %d, %+v, %+v", d.Unexplained, d.Budget, d.Accounts)
	}
	holds(t, &d, want{finding.Serial, []string{"factor = 270 µs", "update = 150 µs"}})
	numbersAreEvidence(t, "tasks", &d)
}

// Of recorded task graphs: a factorization of which half of the idle time lies after its end, and tasks that are suspended on cores that
// run others meanwhile, whose waiting is not time of the core.
func TestRecordedTaskGraphsAddUp(t *testing.T) {
	d := read(t, viewtest.Import(t, "data", "public", "paje-csv", "starpu-lu-2ranks"))
	sums(t, "starpu", &d)
	numbersAreEvidence(t, "starpu", &d)
	if 100*d.Unexplained > 51*d.Accounts.Waiting || len(d.Findings) == 0 || !strings.Contains(d.about(&d.Findings[0]), "dgemm") {
		t.Errorf("%d of %d unexplained: %q", d.Unexplained, d.Accounts.Waiting, texts(&d))
	}
	d = read(t, viewtest.Import(t, "data", "public", "task-tree", "grain-fib-48cores"))
	sums(t, "grains", &d)
	if a := &d.Accounts; a.Rest < 0 || a.Waiting > a.Time-a.Work {
		t.Errorf("%+v", a)
	}
}

// In Charm++ a message starts an entry method: a processing element that idles before it waits for who sent it, until it was sent. Of 2,044 µs
// of idling in this recording that are 388 µs, added up from the records; during 505 µs the message was on its way, and no message ended the rest.
func TestAMessageThatStartsWorkEndsAWait(t *testing.T) {
	d := read(t, parsed(t, `
region serve role=compute
region Idle role=idle
location process "PE 0" rank=0
  0us..100us serve
  100us..130us Idle
  131us..150us serve
location process "PE 1" rank=1
  0us..102us Idle
  104us..120us serve
  120us..150us Idle
link message 95us "PE 0" -> 104us "PE 1" from=serve to=serve
link message 118us "PE 1" -> 131us "PE 0" from=serve to=serve
`))
	sums(t, "entry methods", &d)
	if told := d.Accounts.Waiting - d.Unexplained; told < 95_000+18_000 || told > 95_000+18_000+30_000 {
		t.Errorf("%d of %d ns are told, want 113 µs and what may be the end: %+v", told, d.Accounts.Waiting, d.Budget)
	}
	d = read(t, viewtest.Import(t, "data", "public", "projections", "ping-pong-2pes"))
	sums(t, "ping-pong", &d)
	if told := d.Accounts.Waiting - d.Unexplained; told != 388_000 {
		t.Errorf("%d of %d ns are told", told, d.Accounts.Waiting)
	}
}
