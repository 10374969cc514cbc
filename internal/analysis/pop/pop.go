// Package pop computes the efficiencies of POP, the Performance Optimisation and
// Productivity Centre of Excellence (Wagner, Mohr, Giménez, Labarta: "A Structured
// Approach to Performance Analysis", Tools for High Performance Computing 2017;
// first by Casas, Badia, Labarta: "Automatic analysis of speedup of MPI
// applications", ICS 2008). With useful_i the time that location i is busy and T
// the length of the run:
//
//	load balance               LB    = mean(useful) / max(useful)
//	communication efficiency   CommE = max(useful) / T
//	parallel efficiency        PE    = LB × CommE = mean(useful) / T
//
// All are shares, 1 for a run without waiting.
package pop

import "math"

// An Efficiency is how well a run, a phase or a region uses its locations.
type Efficiency struct {
	Locations int `json:"locations"`
	// Mean and Max are of the useful time a location, Runtime is T, all in ns.
	Mean    float64 `json:"useful_mean"`
	Max     float64 `json:"useful_max"`
	Runtime float64 `json:"runtime"`
	// LoadBalance is NaN if no location is busy, all are if there is no time.
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication_efficiency"`
	Parallel      float64 `json:"parallel_efficiency"`
	// Slowest is the index of the location with the most useful time.
	Slowest int `json:"-"`
}

// Of computes the efficiencies of useful times in ns over a runtime. O(n).
func Of(useful []float64, runtime float64) Efficiency {
	e := Efficiency{Locations: len(useful), Runtime: runtime, Slowest: -1}
	sum := 0.0
	for i, u := range useful {
		sum += u
		if e.Slowest < 0 || u > e.Max {
			e.Max, e.Slowest = u, i
		}
	}
	e.Mean = sum / float64(len(useful))
	e.LoadBalance, e.Communication = math.NaN(), math.NaN()
	if e.Max > 0 {
		e.LoadBalance = e.Mean / e.Max
	}
	if runtime > 0 {
		e.Communication = e.Max / runtime
	}
	e.Parallel = e.Mean / runtime
	if runtime <= 0 || len(useful) == 0 {
		e.Parallel, e.Mean = math.NaN(), 0
	}
	return e
}

// Lost is the time that all locations but the slowest could work longer before they were the slowest: n ×
// (max - mean). It is the cost of the load imbalance if all locations wait for the slowest.
func (e *Efficiency) Lost() float64 { return float64(e.Locations) * (e.Max - e.Mean) }
