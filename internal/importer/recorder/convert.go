package recorder

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// convert writes one process.
func convert(file string, r *record, w trace.Writer) {
	process := trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: r.name, Rank: trace.NoRank, Key: file}
	if r.rank >= 0 {
		process.Rank = int(r.rank)
	}
	if process.Name == "" {
		process.Name = "process"
		if r.rank >= 0 {
			process.Name = fmt.Sprint("rank ", r.rank)
		}
	}
	parent := w.Location(process)
	dropped := uint64(0)
	for i := range r.workers {
		x := &r.workers[i]
		id := w.Location(trace.Location{Parent: parent, Kind: trace.KindThread, Name: x.name, Key: fmt.Sprint(i), Rank: trace.NoRank, Order: int64(i)})
		convertWorker(r.start, id, x, w)
		dropped += x.dropped
	}
	if dropped > 0 {
		w.Report(trace.Skipped, "intervals whose time ran backwards, dropped by the program", int64(dropped), file)
	}
}

// convertWorker writes the windows of a worker. The first and the last are written
// even without busy time, so that the run spans all that was watched.
func convertWorker(start int64, id trace.LocationID, x *worker, w trace.Writer) {
	row := func(index uint32) trace.MomentRow {
		begin := trace.Time(start) + trace.Time(index)<<x.shift
		end := min(begin+1<<x.shift, trace.Time(start)+trace.Time(x.end))
		return trace.MomentRow{Location: id, Role: trace.RoleCompute, Begin: begin, End: max(begin, end)}
	}
	last := uint32(max(x.end-1, 0) >> x.shift)
	if len(x.windows) == 0 || x.windows[0].index > 0 {
		w.Moments(row(0))
	}
	for _, v := range x.windows {
		m := row(v.index)
		m.Weight, m.Mean, m.Central[2], m.Central[3] = v.weight, v.mean, v.m2, v.m3
		w.Moments(m)
	}
	if n := len(x.windows); last > 0 && (n == 0 || x.windows[n-1].index < last) {
		w.Moments(row(last))
	}
}
