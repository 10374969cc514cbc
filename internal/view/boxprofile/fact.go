package boxprofile

import (
	"fmt"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

func (r *result) format(v float64) string { return view.FormatIn(v, r.unit) }

// Fact says all there is to one box.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	l := r.lane(int(it.A), it.B)
	g := &r.regions[l.region]
	n := &r.nodes[g.Callee]
	f := view.Fact{Title: n.Name, Regions: n.Regions, Locations: r.locationsOf(&l)}
	switch {
	case r.pair:
		f.Say("run", r.names[l.owner], "")
	case r.over == "locations":
		f.Say("over", view.Count(len(r.locations), "location"), "")
	case r.groupRows != nil:
		members := r.groups.Members[l.owner]
		if r.blocks != nil {
			f.Say("block", r.groupName(int(l.owner)), "")
		} else {
			f.Say("group", fmt.Sprint(r.number(int(l.owner))+1), "")
		}
		f.Say("locations", view.NameList(r.names, members, 8), "")
		f.Count = int64(len(members))
		f.Text = fmt.Sprintf("Aggregated: all calls of %s.", view.Count(len(members), "location"))
	default:
		f.Say("location", r.names[l.owner], r.tree.Path(r.locations[l.owner]))
		if g := r.Arrangement().Group(r.locations[l.owner]); g >= 0 {
			f.Say("group", fmt.Sprint(g+1), "")
		}
	}
	r.sayCut(&f, l.cut)
	if l.row == nil {
		if l.cut == nil {
			f.Text = "Not called here in this time."
		}
		return f, true
	}
	x := l.row
	label := "calls"
	if r.over == "locations" {
		label = "called on"
	} else {
		f.Say("total", r.format(r.value(x)), exact(r.value(x)))
	}
	f.Say(label, view.FormatCount(x.Count), exact(x.Count))
	for k, name := range []string{"2 %", "25 %", "median", "75 %", "98 %"} {
		f.Say(name, r.format(x.Box[k]), exact(x.Box[k]))
	}
	f.Say("least", r.format(x.Min), exact(x.Min))
	f.Say("most", r.format(x.Max), exact(x.Max))
	f.Say("mean", r.format(x.Mean), exact(x.Mean))
	f.Say("standard deviation", r.format(x.Deviation), exact(x.Deviation))
	if h := modesOf(x); len(h) > 1 {
		f.Say("modes around", r.modeWords(h), "")
	}
	if l.spread.low <= l.spread.high {
		f.Say("members' medians", r.format(l.spread.low)+" to "+r.format(l.spread.high), "")
	}
	f.Say("differs by", r.format(g.Moved), exact(g.Moved))
	if !x.Exact {
		f.Text += " Quantiles are within 1 %, the rest is exact."
	}
	return f, true
}

func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
