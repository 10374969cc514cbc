package xplane

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A place is an interval that links go to and from.
type place struct {
	location trace.LocationID
	time     trace.Time
	region   trace.RegionID
}

type flowKey struct{ kind, id int64 }

type end struct {
	key flowKey
	place
}

// links are the ends of links of one file, joined when all of it is read.
type links struct {
	launches, works      []end
	producers, consumers []end
}

// add remembers a call or a piece of device work by its correlation id.
func (k *links) add(device bool, id int64, at place) {
	if id <= 0 {
		return
	}
	if device {
		k.works = append(k.works, end{flowKey{id: id}, at})
	} else {
		k.launches = append(k.launches, end{flowKey{id: id}, at})
	}
}

func (k *links) flow(producer bool, key flowKey, at place) {
	if producer {
		k.producers = append(k.producers, end{key, at})
	} else {
		k.consumers = append(k.consumers, end{key, at})
	}
}

// join links by sorting both sides, O(n log n).
func (k *links) join(w trace.Writer, label string) {
	if alone := pair(w, trace.LinkSpawn, k.launches, k.works); alone > 0 {
		w.Report(trace.Guessed, "device work whose launch is not in the file: kept without a link", alone, label)
	}
	pair(w, trace.LinkFlow, k.producers, k.consumers)
}

// pair links each of to with the last of from that has its key and does not come after it, else
// with the first. It gives how many found none.
func pair(w trace.Writer, kind trace.LinkKind, from, to []end) (alone int64) {
	order := func(a, b end) int {
		return cmp.Or(cmp.Compare(a.key.kind, b.key.kind), cmp.Compare(a.key.id, b.key.id), cmp.Compare(a.time, b.time))
	}
	slices.SortStableFunc(from, order)
	slices.SortStableFunc(to, order)
	i := 0
	for _, t := range to {
		for i < len(from) && cmp.Or(cmp.Compare(from[i].key.kind, t.key.kind), cmp.Compare(from[i].key.id, t.key.id)) < 0 {
			i++
		}
		if i == len(from) || from[i].key != t.key {
			alone++
			continue
		}
		for i+1 < len(from) && from[i+1].key == t.key && from[i+1].time <= t.time {
			i++
		}
		f := from[i]
		w.Link(trace.Link{
			Kind: kind, From: trace.End{Location: f.location, Time: f.time, Region: f.region},
			To:   trace.End{Location: t.location, Time: t.time, Region: t.region},
			Size: -1, Tag: t.key.id, Communicator: trace.NoCommunicator,
		})
	}
	return alone
}
