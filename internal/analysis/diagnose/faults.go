package diagnose

// The list of faults, in the order in which they are looked for. A new one is a line here.

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
)

// A faultFinder looks for one sort of problem. It runs on every run, and finds nothing if the run lacks the data it
// needs.
type faultFinder struct {
	find  func(*diagnosis) error
	kinds []finding.Kind // of what it finds
}

// Faults are asked for in this order, causes before their symptoms. A new one is one line here. Checks of the data
// itself (findSuspicious) come before all.
var faults = []faultFinder{
	{findScheduling, kinds{
		finding.ProcessorWait, finding.GarbageCollection, finding.Blocked, finding.Starvation, finding.IdleProcessors,
		finding.Lock, finding.IO,
		finding.LateSender, finding.LateReceiver, finding.Serial,
	}},
	{findRequestFaults, kinds{
		finding.SlowOperation, finding.RepeatedCalls, finding.SerialCalls, finding.Retry, finding.FailedCalls,
	}},
	{findCulprits, kinds{
		finding.Straggler, finding.Rotating, finding.Jitter, finding.Growth, finding.LateSender, finding.LateReceiver,
		finding.Imbalance, finding.Slack, finding.Serial, finding.StartUp, finding.IO, finding.Lock, finding.Crowded,
	}},
	{findGrowth, kinds{finding.Growth}},
	{findUnevenStart, kinds{finding.StartUp}},
	{findStragglers, kinds{finding.Straggler}},
	{findLateArrivals, kinds{finding.Straggler, finding.Jitter}},
	{findLateMessages, kinds{finding.LateSender, finding.LateReceiver}},
	{findSerial, kinds{finding.Serial}},
	{findCostly, kinds{finding.IO, finding.StartUp}},
	{findSlowPhases, kinds{finding.SlowPhase, finding.Periodic}},
	{findImbalance, kinds{finding.Imbalance}},
	{findMixed, kinds{finding.Heterogeneous, finding.Imbalance}},
	{findIdle, kinds{finding.IdleStart, finding.IdleEnd}},
	{findUnlike, kinds{finding.Unlike}},
	{findOutliers, kinds{finding.Outlier}},
	{findCommunication, kinds{finding.Communication}},
	{findShares, kinds{finding.Communication, finding.Imbalance}},
	{findCrowded, kinds{finding.Crowded}},
	{findRunnable, kinds{finding.ProcessorWait}},
	{findCollector, kinds{finding.GarbageCollection}},
	{findCriticalRow, kinds{finding.Serial}},
	{findPipelines, kinds{finding.Straggler}},
	{findGPULosses, kinds{
		finding.InputBound, finding.HostBound, finding.LaunchBound, finding.SynchronizationBound, finding.CopyBound,
		finding.ExposedCommunication, finding.GPUIdle, finding.SlowStep, finding.MemoryFull, finding.SlowKernels,
	}},
	{findEnding, kinds{finding.StartUp}},
	{findUnexplained, kinds{finding.Unexplained}},
	{findUnrecorded, kinds{Unrecorded, finding.IdleProcessors}},
}

type kinds = []finding.Kind

// Kinds are all kinds of findings: those of package finding in its order, then those that faults add.
func Kinds() []finding.Kind {
	list := slices.Clone(finding.Kinds)
	for _, f := range faults {
		for _, k := range f.kinds {
			if !slices.Contains(list, k) {
				list = append(list, k)
			}
		}
	}
	return list
}
