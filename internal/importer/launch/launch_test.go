package launch

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

type links struct {
	*importertest.Count
	list []string
}

func (l *links) Link(k trace.Link) {
	l.list = append(l.list, fmt.Sprintf("%d %d→%d", k.Tag, k.From.Time, k.To.Time))
}

// Ids may be used again, one launch may start much, and what no launch explains is counted.
func TestEachFindsTheLastLaunchOfItsIDBeforeIt(t *testing.T) {
	w := &links{Count: importertest.NewCount()}
	from := []End{{ID: 7, Time: 50}, {ID: 7, Time: 10}, {ID: 3, Time: 5}, {Group: 1, ID: 7, Time: 1}}
	to := []End{{ID: 7, Time: 60}, {ID: 7, Time: 20}, {ID: 7, Time: 30}, {ID: 3, Time: 2}, {ID: 9, Time: 1}, {Group: 1, ID: 3, Time: 9}}
	alone := Join(w, trace.LinkSpawn, from, to)
	if got, want := fmt.Sprint(w.list, alone), "[3 5→2 7 10→20 7 10→30 7 50→60] 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
