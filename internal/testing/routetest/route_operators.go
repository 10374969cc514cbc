package routetest

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An operatorSum is the time of one operator.
type operatorSum struct {
	Calls, Host, HostSelf, Device, DeviceSelf float64
	kernels                                   map[string]float64
}

// operatorSums adds up operators by name: calls and times of the host from rows, times of GPUs from the work whose
// call is inside.
func (r *Raw) operatorSums() (out map[string]*operatorSum, loose, looseTime float64) {
	out = map[string]*operatorSum{}
	is := func(row *Row) bool { return r.Regions[row.Region].Category == "cpu_op" }
	of := func(row *Row) *operatorSum {
		name := r.Regions[row.Region].Name
		if out[name] == nil {
			out[name] = &operatorSum{kernels: map[string]float64{}}
		}
		return out[name]
	}
	for n := range r.Lanes {
		l := &r.Lanes[n]
		for i := range l.Rows {
			x := &l.Rows[i]
			if !is(x) {
				continue
			}
			s := of(x)
			length := float64(x.End - x.Begin)
			s.Calls++
			s.HostSelf += length
			again, nearest := false, true
			for up := x.Parent; up >= 0; up = l.Rows[up].Parent {
				p := &l.Rows[up]
				if !is(p) {
					continue
				}
				if nearest {
					of(p).HostSelf -= length
				}
				nearest = false
				again = again || r.Regions[p.Region].Name == r.Regions[x.Region].Name
			}
			if !again {
				s.Host += length
			}
		}
	}
	for _, w := range r.gpuWorks() {
		length := float64(w.End - w.Begin)
		var seen []string
		if w.launched {
			l := &r.Lanes[w.from[0]]
			for up := l.Rows[w.from[1]].Parent; up >= 0; up = l.Rows[up].Parent {
				p := &l.Rows[up]
				name := r.Regions[p.Region].Name
				if !is(p) || slices.Contains(seen, name) {
					continue
				}
				if len(seen) == 0 {
					of(p).DeviceSelf += length
					of(p).kernels[r.Regions[w.Region].Name] += length
				}
				of(p).Device += length
				seen = append(seen, name)
			}
		}
		if len(seen) == 0 {
			loose, looseTime = loose+1, looseTime+length
		}
	}
	return out, loose, looseTime
}

// kernelSums adds up the work on GPUs, by name: all but waiting, annotations and idle time on streams and devices.
func (r *Raw) kernelSums() map[string]*operatorSum {
	out := map[string]*operatorSum{}
	for n := range r.Lanes {
		l := &r.Lanes[n]
		if r.above(l.Location, trace.KindDevice) == trace.NoLocation &&
			r.above(l.Location, trace.KindStream) == trace.NoLocation {
			continue
		}
		for i := range l.Rows {
			x := &l.Rows[i]
			g := &r.Regions[x.Region]
			if !slices.Contains([]trace.Role{trace.RoleCompute, trace.RoleCopy, trace.RoleCommunication, trace.RoleIO},
				g.Role) {
				continue
			}
			s := out[g.Name]
			if s == nil {
				s = &operatorSum{kernels: map[string]float64{}}
				out[g.Name] = s
			}
			length := float64(x.End - x.Begin)
			s.Calls++
			s.Device += length
			s.DeviceSelf += length
			s.kernels[g.Name] += length
		}
	}
	return out
}

// operatorsRoute: of any selection own time is a part of all time and kernels add up to the own
// time on GPUs; of the whole run every number is added up again.
var operatorsRoute = Route{Options: []map[string]string{{}, {"by": "name"}, {"by": "kernel"},
	{"picture": "bars", "by": "name", "top": "3"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Rows []struct {
			Operator     string
			Calls        float64
			Host, Device float64
			HostSelf     float64 `json:"host_self"`
			DeviceSelf   float64 `json:"device_self"`
			Kernels      []struct {
				Name string
				Time float64
			}
		}
		Loose struct{ Count, Time float64 }
		By    string
	}
	r.Data(&d)
	whole := r.Window.Begin == 0 && r.Window.End >= r.End && r.Window.Locations == nil && r.Window.Regions == nil
	want, loose, looseTime := map[string]*operatorSum{}, 0.0, 0.0
	if whole {
		if d.By == "kernel" {
			want = r.kernelSums()
		} else {
			want, loose, looseTime = r.operatorSums()
		}
		r.same("work that no operator launched", d.Loose.Count, loose)
		r.same("its time", d.Loose.Time, looseTime)
		r.same("operators", float64(len(d.Rows)), float64(len(want)))
	}
	for _, x := range d.Rows {
		sum := 0.0
		for _, k := range x.Kernels {
			sum += k.Time
		}
		r.same("kernels of "+x.Operator, sum, x.DeviceSelf)
		if x.DeviceSelf > x.Device || x.HostSelf > x.Host || x.HostSelf < 0 {
			r.wrong("%s: %+v", x.Operator, x)
		}
		if !whole {
			continue
		}
		w := want[x.Operator]
		if w == nil {
			r.wrong("%s was never called", x.Operator)
			continue
		}
		r.same("calls of "+x.Operator, x.Calls, w.Calls)
		r.same("host time of "+x.Operator, x.Host, w.Host)
		r.same("own host time of "+x.Operator, x.HostSelf, w.HostSelf)
		r.same("GPU time of "+x.Operator, x.Device, w.Device)
		r.same("own GPU time of "+x.Operator, x.DeviceSelf, w.DeviceSelf)
		for _, k := range x.Kernels {
			r.same(fmt.Sprintf("%s of %s", k.Name, x.Operator), k.Time, w.kernels[k.Name])
		}
	}
}}
