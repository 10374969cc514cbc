package routetest

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// stepsRoute: the terms of a step add up to it, the time of a GPU to its span, and nothing lies outside the window.
var stepsRoute = Route{Options: []map[string]string{{}, {"picture": "idle"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	type times struct {
		Span, Computation, Idle float64
		Communication           float64 `json:"exposed_communication"`
		Copy                    float64 `json:"exposed_copy"`
	}
	var d struct {
		Rows []struct {
			Step                                                               string
			Begin, End                                                         trace.Time
			Total                                                              float64
			Kernel, Memcpy, Memset, Communication, Runtime, Loader, CPU, Other float64
			GPUs                                                               []times
		}
		GPUs []struct {
			times
			Causes map[string]float64 `json:"idle_by_cause"`
		}
	}
	r.Data(&d)
	for _, x := range d.Rows {
		r.same("parts of "+x.Step, x.Kernel+x.Memcpy+x.Memset+x.Communication+x.Runtime+x.Loader+x.CPU+x.Other, x.Total)
		r.same("length of "+x.Step, float64(x.End-x.Begin), x.Total)
		if x.Begin < r.Window.Begin || x.End > r.Window.End {
			r.wrong("%s lies at [%d, %d)", x.Step, x.Begin, x.End)
		}
		for _, g := range x.GPUs {
			r.same("span of a GPU in "+x.Step, g.Span, x.Total)
			r.same("time of a GPU in "+x.Step, g.Computation+g.Communication+g.Copy+g.Idle, g.Span)
		}
	}
	for i, g := range d.GPUs {
		r.same(fmt.Sprintf("time of GPU %d", i), g.Computation+g.Communication+g.Copy+g.Idle, g.Span)
		sum := 0.0
		for _, t := range g.Causes {
			sum += t
		}
		r.same(fmt.Sprintf("causes of GPU %d", i), sum, g.Idle)
	}
}}
