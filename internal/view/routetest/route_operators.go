package routetest

// operatorsRoute: own time is a part of all time, and kernels add up to the own time on GPUs.
var operatorsRoute = Route{Options: []map[string]string{{}, {"by": "name"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Rows []struct {
			Operator     string
			Host, Device float64
			HostSelf     float64 `json:"host_self"`
			DeviceSelf   float64 `json:"device_self"`
			Kernels      []struct{ Time float64 }
		}
	}
	r.Data(&d)
	for _, x := range d.Rows {
		sum := 0.0
		for _, k := range x.Kernels {
			sum += k.Time
		}
		r.same("kernels of "+x.Operator, sum, x.DeviceSelf)
		if x.DeviceSelf > x.Device || x.HostSelf > x.Host || x.HostSelf < 0 {
			r.wrong("%s: %+v", x.Operator, x)
		}
	}
}}
