package xplane

import (
	"github.com/parallax-hpc/parallax/internal/importer/launch"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// links are the ends of links of one file, joined when all of it is read.
type links struct {
	calls, works         []launch.End // by correlation id
	producers, consumers []launch.End // by kind and id
}

// addLaunch remembers a call or a piece of device work by its correlation id.
func (k *links) addLaunch(device bool, id int64, at launch.End) {
	if at.ID = id; id <= 0 {
		return
	}
	if device {
		k.works = append(k.works, at)
	} else {
		k.calls = append(k.calls, at)
	}
}

// addFlow remembers a producer or a consumer.
func (k *links) addFlow(producer bool, at launch.End) {
	if producer {
		k.producers = append(k.producers, at)
	} else {
		k.consumers = append(k.consumers, at)
	}
}

func (k *links) join(w trace.Writer, label string) {
	if alone := launch.Join(w, trace.LinkSpawn, k.calls, k.works); alone > 0 {
		w.Report(trace.Guessed, "device work whose launch is not in the file: kept without a link", alone, label)
	}
	launch.Join(w, trace.LinkFlow, k.producers, k.consumers)
}
