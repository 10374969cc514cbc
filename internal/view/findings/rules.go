package findings

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
)

// A rule looks for one sort of trouble in runs of some sorts.
type rule struct {
	find  func(*court) error
	runs  sorts
	kinds []finding.Kind // of what it finds
}

// Sorts are sorts of runs, a bit each. A run is of one sort.
type sorts uint

const (
	ofScheduler     sorts = 1 << iota // processors were recorded, and what they ran
	ofRequests                        // requests of services
	ofMixed                           // traces of units with different duties, which are not compared
	ofMixedProfiles                   // profiles of such units
	ofProfiles                        // profiles of units that are compared
	ofFollowed                        // traces of units that are compared, whose waits are followed one by one
	ofSummed                          // such traces of which waits are only summed

	ofCompared = ofProfiles | ofFollowed | ofSummed
	ofUnits    = ofMixed | ofMixedProfiles | ofCompared
)

// Rules are heard in this order, causes before their symptoms. A new rule is one line here. What makes the data
// suspicious (findSuspicious) is heard before all.
var rules = []rule{
	{findScheduling, ofScheduler, kinds{
		finding.ProcessorWait, finding.GarbageCollection, finding.Blocked, finding.Lock, finding.IO,
		finding.LateSender, finding.LateReceiver, finding.Serial,
	}},
	{findRequestFaults, ofRequests, kinds{
		finding.SlowOperation, finding.RepeatedCalls, finding.SerialCalls, finding.Retry, finding.FailedCalls,
	}},
	{findFaults, ofFollowed, kinds{
		finding.Straggler, finding.Rotating, finding.Jitter, finding.Growth, finding.LateSender, finding.LateReceiver,
		finding.Imbalance, finding.Serial, finding.StartUp, finding.IO, finding.Lock, finding.Crowded,
	}},
	{findGrowth, ofFollowed, kinds{finding.Growth}},
	{findCostly, ofFollowed, kinds{finding.IO, finding.StartUp}},
	{findUnevenStart, ofProfiles, kinds{finding.StartUp}},
	{findStragglers, ofSummed, kinds{finding.Straggler}},
	{findLateArrivals, ofSummed, kinds{finding.Straggler, finding.Jitter}},
	{findLateMessages, ofSummed, kinds{finding.LateSender, finding.LateReceiver}},
	{findSerial, ofSummed, kinds{finding.Serial}},
	{findImbalance, ofProfiles | ofSummed, kinds{finding.Imbalance}},
	{findMixed, ofCompared, kinds{finding.Heterogeneous, finding.Imbalance}},
	{findIdle, ofFollowed | ofSummed, kinds{finding.IdleStart, finding.IdleEnd}},
	{findUnlike, ofCompared, kinds{finding.Unlike}},
	{findCostly, ofProfiles, kinds{finding.IO, finding.StartUp}},
	{findOutliers, ofFollowed | ofSummed, kinds{finding.Outlier}},
	{findCommunication, ofCompared, kinds{finding.Communication}},
	{findShares, ofMixedProfiles | ofProfiles, kinds{finding.Communication, finding.Imbalance}},
	{findCrowded, ofUnits, kinds{finding.Crowded}},
	{findPipelines, ofUnits, kinds{finding.Straggler}},
	{findGPULosses, ofUnits, kinds{
		finding.InputBound, finding.LaunchBound, finding.SynchronizationBound, finding.CopyBound,
		finding.ExposedCommunication, finding.GPUIdle, finding.SlowStep, finding.MemoryFull, finding.SlowKernels,
	}},
}

type kinds = []finding.Kind

// Kinds are all kinds of findings: those of package finding in its order, then those that rules add.
func Kinds() []finding.Kind {
	list := slices.Clone(finding.Kinds)
	for _, r := range rules {
		for _, k := range r.kinds {
			if !slices.Contains(list, k) {
				list = append(list, k)
			}
		}
	}
	return list
}
