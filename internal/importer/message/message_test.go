package message

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
	l.list = append(l.list, fmt.Sprintf("tag %d %d→%d %d bytes", k.Tag, k.From.Time, k.To.Time, k.Size))
}

func (l *links) Links(list []trace.Link) {
	for _, k := range list {
		l.Link(k)
	}
}

// Messages of one channel do not overtake each other, those of two may; sizes of sends win.
func TestMessagesOfAChannelAreReceivedInTheirOrder(t *testing.T) {
	w := &links{Count: importertest.NewCount()}
	sent := []End{{From: 0, To: 1, Tag: 5, Time: 20, Size: 2}, {From: 0, To: 1, Tag: 5, Time: 10, Size: 1}, {From: 0, To: 1, Tag: 6, Time: 1, Size: -1}, {From: 1, To: 0, Time: 3}}
	received := []End{{From: 0, To: 1, Tag: 5, Time: 30, Size: 9}, {From: 0, To: 1, Tag: 5, Time: 40}, {From: 0, To: 1, Tag: 6, Time: 50, Size: 7}, {From: 0, To: 1, Tag: 6, Communicator: 1, Time: 60}}
	unreceived, unsent := Join(w, sent, received)
	if got, want := fmt.Sprint(w.list, unreceived, unsent), "[tag 5 10→30 1 bytes tag 5 20→40 2 bytes tag 6 1→50 7 bytes] 1 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestManyMessagesAreAllGiven(t *testing.T) {
	w := importertest.NewCount()
	ends := make([]End, 10000)
	for i := range ends {
		ends[i].Time = trace.Time(i)
	}
	if a, b := Join(w, ends, append([]End(nil), ends...)); a+b != 0 || w.Links[trace.LinkMessage] != 10000 {
		t.Errorf("%d and %d left over, %d links", a, b, w.Links[trace.LinkMessage])
	}
}
