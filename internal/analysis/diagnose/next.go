package diagnose

import (
	"cmp"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
)

// nextSteps are remedies to try, or places to look, by kind of finding.
var nextSteps = map[finding.Kind]string{
	finding.Clock: "Open the run without --align none, or with --align messages, or record with synchronized clocks.",
	finding.Data:  "See `parallax info` for what was repaired or left out, and record again with larger buffers.",
	finding.Straggler: "Compare these with the others in the timeline: if they have as much to do, look at their " +
		"machine; if they have more, give some of it to the others.",
	finding.Rotating: "Look at what differs from time to time: input of different size, or a duty that goes round.",
	finding.Jitter: "Look for what interrupts: daemons, interrupts, frequency of the cores, or input of different " +
		"size.",
	finding.Growth:       "Compare the first phases with the last: look for lists, files or meshes that grow.",
	finding.SlowPhase:    "Compare a phase before with one after, in the profile and by counters such as frequency.",
	finding.Periodic:     "Look at what the program, or its library, does in every one of these phases.",
	finding.LateSender:   "Send earlier, or let the receivers do something else until the message comes.",
	finding.LateReceiver: "Receive earlier, or send without waiting for the receiver (MPI_Isend).",
	finding.Imbalance:    "Cut the work into parts that take as long, or hand it out as it is done.",
	finding.Slack:        "Nothing: there is little to gain here.",
	finding.Communication: "Look at the sizes and pairs of messages in the communication matrix: fewer and larger " +
		"ones, or overlap with work.",
	finding.Serial:        "Share this work among all, or let the others go on meanwhile.",
	finding.StartUp:       "Look at what is loaded and read at the start, and from where.",
	finding.IO:            "Write less often, in parallel or in the background.",
	finding.Lock:          "Hold the lock for less, or give each its own.",
	finding.Crowded:       "Start as many as there are cores, and place them evenly.",
	finding.Unexplained:   "Open the causes of waiting, and record more where most of it is.",
	finding.IdleStart:     "Look at what these wait for before their first work.",
	finding.IdleEnd:       "Give these some of the work of the others.",
	finding.Outlier:       "Compare these with the others in the timeline.",
	finding.Heterogeneous: "Compare the members of the group in the treemap: machine, input, duty.",
	finding.Unlike:        "Compare calls on these with those on the others: size of input, machine.",
	finding.InputBound: "Load in the background: more workers, prefetching, or work on the data before the " +
		"run.",
	finding.HostBound:            "Move this call off the thread that launches work, or do it ahead for the next step.",
	finding.LaunchBound:          "Launch less: larger batches, fused kernels, or CUDA graphs.",
	finding.SynchronizationBound: "Remove what makes the host wait: .item(), prints of tensors, synchronous copies.",
	finding.CopyBound:            "Copy from pinned memory on a stream of its own, while kernels run.",
	finding.ExposedCommunication: "Begin communication earlier, in smaller buckets, so that computation hides it.",
	finding.GPUIdle:              "Open the picture of idle time and look at what the host does in the longest gaps.",
	finding.SlowStep:             "Open this step beside its neighbour in the timeline.",
	finding.MemoryFull:           "Take smaller batches, or recompute activations.",
	finding.SlowKernels:          "Look at clocks, temperature and neighbours of this GPU.",
	finding.ProcessorWait:        "Give the program as many cores as GOMAXPROCS, or run less at once.",
	finding.GarbageCollection:    "Allocate less, or raise GOGC or GOMEMLIMIT.",
	finding.IdleProcessors:       "Look at whether the program could do more at once meanwhile.",
	finding.Starvation:           "Give up the lock, or the processor, between pieces of work, or hand it on in turn.",
	finding.Blocked:              "Look at what holds these up, and whether it has to be one at a time.",
	finding.SlowOperation:        "Open the slowest request and compare it with a usual one.",
	finding.RepeatedCalls:        "Ask for all at once.",
	finding.SerialCalls:          "Make the calls at once where none needs the answer of another.",
	finding.Retry:                "Look at why the first call fails, and at the pause before the next.",
	finding.FailedCalls:          "Look at the errors of these calls.",
}

// nextStep returns the next step, with the place in the program if it is known.
func (c *diagnosis) nextStep(f *finding.Finding) string {
	text := cmp.Or(f.Next, nextSteps[f.Kind])
	if text == "" {
		text = "Open the view that shows it."
	}
	if f.Place != "" {
		text += " The code is at " + f.Place + "."
	}
	return text
}

// placeOf is where the code of a finding is: that of the first of its regions with a place.
func (c *diagnosis) placeOf(f *finding.Finding) string {
	for _, id := range f.Selection.Regions {
		if g := &c.regions[id]; g.File != "" && g.Line > 0 {
			return fmt.Sprintf("%s:%d", g.File, g.Line)
		}
	}
	return ""
}
