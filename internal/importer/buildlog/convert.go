package buildlog

import (
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// write puts each step on the first row that is free.
func (l *log) write(name string) error {
	build := l.w.Location(importer.Process(name))
	cached, failed := l.w.Attribute("cached"), l.w.Attribute("failed")
	slices.SortStableFunc(l.order, func(a, b *step) int { return int(min(max(a.begin-b.begin, -1), 1)) })
	rows := importer.NewRows(l.w)
	var free []trace.Time // when rows are free
	at := map[string]trace.End{}
	last := ""
	for _, s := range l.order {
		switch {
		case s.begin < 0:
			l.w.Report(trace.MissingIntervals, "steps that were never begun", 1, l.label)
			continue
		case s.key == last: // another output of the same command
			continue
		}
		last = s.key
		i := 0
		for i < len(free) && free[i] > s.begin {
			i++
		}
		if i == len(free) {
			free = append(free, 0)
		}
		free[i] = max(s.end, s.begin)
		if s.open {
			free[i] = 1 << 62
		}
		n := strconv.Itoa(i + 1)
		row := rows.Open(trace.Location{Parent: build, Kind: trace.KindThread, Key: n, Name: "job " + n,
			Rank: trace.NoRank, Order: int64(i)}, trace.StreamOptions{Unordered: true})
		region := l.w.Region(trace.Region{Name: s.name, Category: s.category, Role: trace.RoleCompute})
		if s.open {
			row.Stream.Enter(s.begin, region)
		} else {
			row.Stream.Interval(s.begin, s.end, region)
		}
		if s.cached {
			row.Stream.Attribute(cached, trace.Text("yes"))
		}
		if s.failed {
			row.Stream.Attribute(failed, trace.Text("yes"))
		}
		for _, from := range s.inputs {
			if end, ok := at[from]; ok {
				l.w.Link(trace.Link{Kind: trace.LinkFlow, From: end, Size: -1, Communicator: trace.NoCommunicator,
					To: trace.End{Location: row.At, Time: s.begin, Region: region}})
			}
		}
		at[s.key] = trace.End{Location: row.At, Time: s.begin, Region: region}
	}
	return rows.Close()
}
