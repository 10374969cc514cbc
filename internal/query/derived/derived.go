// Package derived holds functions of SQL whose rows come from views and kernels: the
// findings, the critical paths of requests. Package table has those of the store.
package derived

import "github.com/parallax-hpc/parallax/internal/table"

// Tables are all of them.
var Tables = []*table.Table{findingsOf, waitsOf, waited, gpuTime, steps, phases, scheduling, lateArrivals, requestCalls,
	requestLosses, criticalPath}
