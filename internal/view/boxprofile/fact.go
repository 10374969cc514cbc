package boxprofile

import (
	"fmt"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/view"
)

func (r *result) format(v float64) string {
	switch r.unit {
	case "ns":
		return view.FormatDuration(v)
	case "bytes":
		return view.FormatBytes(v)
	}
	return view.FormatCount(v)
}

// fact says all there is to one box.
func (r *result) fact(l *lane) view.Fact {
	g := &r.regions[l.region]
	n := &r.nodes[g.node]
	f := view.Fact{Title: n.Name, Regions: n.Regions, Lines: []view.FactLine{}, Locations: r.locationsOf(l)}
	line := func(label, value, exact string) {
		f.Lines = append(f.Lines, view.FactLine{Label: label, Value: value, Exact: exact})
	}
	switch {
	case r.over == "locations":
		line("over", view.Count(len(r.locations), "location"), "")
	case r.groupRows != nil:
		members := r.groups.Members[l.owner]
		if r.blocks != nil {
			line("block", r.groupName(int(l.owner)), "")
		} else {
			line("group", fmt.Sprint(r.number(int(l.owner))+1), "")
		}
		line("locations", view.NameList(r.names, members, 8), "")
		f.Count = int64(len(members))
		f.Text = fmt.Sprintf("Aggregated: all calls of %s.", view.Count(len(members), "location"))
	default:
		line("location", r.names[l.owner], r.tree.Path(r.locations[l.owner]))
		if g := r.Arrangement().Group(r.locations[l.owner]); g >= 0 {
			line("group", fmt.Sprint(g+1), "")
		}
	}
	if l.row == nil {
		f.Text = "Not called here in this time."
		return f
	}
	x := l.row
	label := "calls"
	if r.over == "locations" {
		label = "called on"
	} else {
		line("total", r.format(r.value(x)), exact(r.value(x)))
	}
	line(label, view.FormatCount(x.Count), exact(x.Count))
	for k, name := range []string{"2 %", "25 %", "median", "75 %", "98 %"} {
		line(name, r.format(x.Box[k]), exact(x.Box[k]))
	}
	line("least", r.format(x.Min), exact(x.Min))
	line("most", r.format(x.Max), exact(x.Max))
	line("mean", r.format(x.Mean), exact(x.Mean))
	line("standard deviation", r.format(x.Deviation), exact(x.Deviation))
	if h := heapsOf(x); len(h) > 1 {
		line("heaps around", r.heapWords(h), "")
	}
	if l.spread.low <= l.spread.high {
		line("members' medians", r.format(l.spread.low)+" to "+r.format(l.spread.high), "")
	}
	line("differs by", r.format(g.differs), exact(g.differs))
	if !x.Exact {
		f.Text += " Quantiles are within 1 %, the rest is exact."
	}
	return f
}

func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
