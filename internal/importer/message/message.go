// Package message joins the two ends of messages that a format tells apart only by sender, receiver, tag and
// communicator: those that agree in all four are received in the order in which they were sent.
package message

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An End is one end of a message: 64 bytes until all are joined.
type End struct {
	From, To, Communicator int32 // as the format numbers them
	Region                 trace.RegionID
	Tag                    int64
	Location               trace.LocationID
	Time                   trace.Time
	Size                   int64 // bytes; -1 unknown
}

func compareChannel(a, b *End) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Communicator, b.Communicator),
		cmp.Compare(a.Tag, b.Tag))
}

// Join links the nth send of a channel with its nth receive, and returns how many of each are left over. Both lists are
// sorted: O(n log n). The size is that of the send, where it is known.
func Join(w trace.Writer, sent, received []End) (unreceived, unsent int64) {
	order := func(a, b End) int {
		return cmp.Or(compareChannel(&a, &b), cmp.Compare(a.Time, b.Time), cmp.Compare(a.Location, b.Location))
	}
	slices.SortStableFunc(sent, order)
	slices.SortStableFunc(received, order)
	links := make([]trace.Link, 0, min(len(sent), len(received), 1<<12))
	for i, j := 0, 0; ; {
		switch {
		case i == len(sent) || j == len(received):
			trace.AddLinks(w, links)
			return unreceived + int64(len(sent)-i), unsent + int64(len(received)-j)
		case compareChannel(&sent[i], &received[j]) < 0:
			unreceived, i = unreceived+1, i+1
		case compareChannel(&sent[i], &received[j]) > 0:
			unsent, j = unsent+1, j+1
		default:
			links = append(links, link(&sent[i], &received[j]))
			if len(links) == cap(links) {
				trace.AddLinks(w, links)
				links = links[:0]
			}
			i, j = i+1, j+1
		}
	}
}

func link(from, to *End) trace.Link {
	size := from.Size
	if size < 0 {
		size = to.Size
	}
	return trace.Link{
		Kind: trace.LinkMessage, From: trace.End{Location: from.Location, Time: from.Time, Region: from.Region},
		To:   trace.End{Location: to.Location, Time: to.Time, Region: to.Region},
		Size: size, Tag: from.Tag, Communicator: trace.NoCommunicator,
	}
}

// Words on halves that found no other.
const (
	Unreceived = "messages that are sent and whose receive is not recorded"
	Unsent     = "messages that are received and whose send is not recorded"
)

// Report counts the halves that Join left over.
func Report(w trace.Writer, unreceived, unsent int64, example string) {
	if unreceived > 0 {
		w.Report(trace.MissingLinks, Unreceived, unreceived, example)
	}
	if unsent > 0 {
		w.Report(trace.MissingLinks, Unsent, unsent, example)
	}
}
