package diagnose

// The next step for each kind of finding.

import (
	"cmp"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
)

// nextSteps are remedies to try, or places to look, by kind of finding.
var nextSteps = map[finding.Kind]string{
	finding.Clock: "Open the run without --align none or with --align messages, or record again with synchronized " +
		"clocks.",
	finding.Data: "Run `parallax info`: it lists repaired and missing records. Record again with larger buffers.",
	finding.Straggler: "Compare it with the others in the timeline. If it has as much work, check its " +
		"machine. If it has more, move some to the others.",
	finding.Rotating: "Look for input of different size, or a task that the ranks do in turn.",
	finding.Jitter: "Look for daemons, interrupts, changing core frequency, or input of different " +
		"size.",
	finding.Growth:       "Compare the first phases with the last: look for lists, files or meshes that grow.",
	finding.SlowPhase:    "Compare a phase before with one after, in the profile and by counters such as frequency.",
	finding.Periodic:     "Check which task the program or its library runs in these phases only.",
	finding.LateSender:   "Send earlier, or give the receivers other work until the message arrives.",
	finding.LateReceiver: "Receive earlier, or send without waiting for the receiver (MPI_Isend).",
	finding.Imbalance:    "Split the work into parts of equal duration, or assign it dynamically.",
	finding.Slack:        "No change needed: there is little to gain.",
	finding.Communication: "Check sizes and pairs of messages in the communication matrix: send fewer and larger " +
		"messages, or overlap them with work.",
	finding.Serial:        "Divide this work among all, or let the others continue meanwhile.",
	finding.StartUp:       "Check which files and libraries are loaded at the start, and from which file system.",
	finding.IO:            "Write less often, in parallel or in the background.",
	finding.Lock:          "Hold the lock for a shorter time, or use one lock per thread.",
	finding.Crowded:       "Start one rank or thread per core, and place them evenly on the nodes.",
	finding.Unexplained:   "Open the causes of waiting, and record more detail there.",
	finding.IdleStart:     "Check what they wait for before their first work.",
	finding.IdleEnd:       "Move some work of the others here.",
	finding.Outlier:       "Compare these with the others in the timeline.",
	finding.Heterogeneous: "Compare the members of the group in the treemap: machine, input, task.",
	finding.Unlike:        "Compare its calls with the calls on the others: size of input, machine.",
	finding.InputBound: "Load in the background: use more workers or prefetching, or prepare the data " +
		"before the run.",
	finding.HostBound: "Move this call off the thread that launches work, or make it earlier, for the " +
		"next step.",
	finding.LaunchBound: "Launch fewer operations: use larger batches, fused kernels, or CUDA graphs.",
	finding.SynchronizationBound: "Remove calls that make the host wait: .item(), prints of tensors, synchronous " +
		"copies.",
	finding.CopyBound: "Copy from pinned memory on a separate stream, while kernels run.",
	finding.ExposedCommunication: "Start communication earlier, in smaller buckets, so that it overlaps with " +
		"computation.",
	finding.GPUIdle:           "Open the picture of idle time: it shows the host's calls in the longest gaps.",
	finding.SlowStep:          "Compare this step with the next one in the timeline.",
	finding.MemoryFull:        "Use smaller batches, or recompute activations.",
	finding.SlowKernels:       "Check the clock rate and temperature of this GPU, and other jobs on its node.",
	finding.ProcessorWait:     "Give the program as many cores as GOMAXPROCS, or run fewer goroutines at once.",
	finding.GarbageCollection: "Allocate less, or raise GOGC or GOMEMLIMIT.",
	finding.IdleProcessors:    "Check whether the program can do more work in parallel meanwhile.",
	finding.Starvation:        "Release the lock or the processor between parts of the work, or use a fair lock.",
	finding.Blocked:           "Check what they wait for, and whether it must run one at a time.",
	finding.SlowOperation:     "Compare the slowest request with a usual one.",
	finding.RepeatedCalls:     "Replace the calls by one batched call.",
	finding.SerialCalls:       "Make independent calls in parallel.",
	finding.Retry:             "Check why the first call fails, and how long the caller pauses before the next.",
	finding.FailedCalls:       "Check the errors of these calls.",
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
