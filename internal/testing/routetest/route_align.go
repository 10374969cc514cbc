package routetest

import "github.com/parallax-hpc/parallax/internal/trace"

// alignmentRoute: every call of the first lane of a row is in one slot of its region, with its clipped duration,
// and the calls that rows have in common with the first add up.
var alignmentRoute = Route{Options: []map[string]string{{}, {"depth": "2"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Locations []struct {
			Location        trace.LocationID
			Calls, Matched  int
			OnlyHere        int `json:"only_here"`
			OnlyFirst       int `json:"only_first"`
			Structure, Time float64
		}
		Slots []struct {
			Region    string
			Depth     int
			Made      int
			Durations []*int64
		}
	}
	r.Data(&d)
	for i, x := range d.Locations {
		type bucket struct {
			calls int
			time  int64
		}
		want, got := map[string]bucket{}, map[string]bucket{}
		calls := 0
		for _, row := range r.Lanes[r.of[x.Location][0]].Rows {
			inside := r.Window.begins(row) || row.Begin < r.Window.Begin && row.End > r.Window.Begin
			if !inside || !r.showsName(row.Region) || r.Options["depth"] == "2" && row.Depth >= 2 {
				continue
			}
			name := r.Regions[row.Region].Name
			want[name] = bucket{want[name].calls + 1, want[name].time + int64(r.Window.clip(row.Begin, row.End))}
			calls++
		}
		for _, s := range d.Slots {
			if t := s.Durations[i]; t != nil {
				got[s.Region] = bucket{got[s.Region].calls + 1, got[s.Region].time + *t}
			}
		}
		for name, w := range want {
			if got[name] != w {
				r.wrong("%s on location %d: %+v in slots, want %+v", name, x.Location, got[name], w)
			}
		}
		if x.Calls != calls || x.Matched+x.OnlyHere != calls || x.Matched+x.OnlyFirst != d.Locations[0].Calls {
			r.wrong("location %d: %d calls, %d matched, %d alone, %d of the first alone; recorded are %d", x.Location,
				x.Calls, x.Matched, x.OnlyHere, x.OnlyFirst, calls)
		}
		if !(x.Structure >= 0 && x.Structure <= 1 && x.Time >= 0 && x.Time <= 1) ||
			i == 0 && (x.Structure != 1 || x.Time != 1) {
			r.wrong("location %d: %v of calls and %v of time in common", x.Location, x.Structure, x.Time)
		}
	}
}}
