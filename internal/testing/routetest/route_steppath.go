package routetest

import "github.com/parallax-hpc/parallax/internal/trace"

// checkStepPaths checks the paths of a GPU job against the raw records: sections follow each other and add up to
// the step, rows and kinds to all steps, and the work of a section ran then. Tests of the view check the path
// itself.
func checkStepPaths(r *Run) {
	var d struct {
		Length float64
		Path   []struct {
			Location     *trace.LocationID
			Region, Kind string
			Begin, End   trace.Time
		}
		By    []struct{ Time, Mean, Steps float64 }
		Kinds []struct{ Time float64 }
	}
	r.Data(&d)
	kinds, rows := 0.0, 0.0
	for _, k := range d.Kinds {
		kinds += k.Time
	}
	for _, x := range d.By {
		rows += x.Time
		r.same("mean of a row", x.Mean, x.Time/x.Steps)
	}
	r.same("time of all kinds", kinds, d.Length)
	if r.Window.Regions == nil {
		r.same("time of all rows", rows, d.Length)
	}
	for i, x := range d.Path {
		if i > 0 && d.Path[i-1].End != x.Begin || x.End <= x.Begin {
			r.wrong("section %d from %d to %d follows one that ends at %d", i, x.Begin, x.End, d.Path[max(i-1, 0)].End)
		}
		switch x.Kind {
		case "on the host", "call", "kernel", "copy", "communication", "return":
			if x.Location == nil || !r.has(*x.Location, x.Region, x.Begin, x.End) {
				r.wrong("nothing of %s was recorded from %d to %d at %v", x.Region, x.Begin, x.End, x.Location)
			}
		}
	}
}

// has reports whether an interval of a region covers a time.
func (r *Raw) has(at trace.LocationID, region string, begin, end trace.Time) bool {
	for _, n := range r.of[at] {
		for _, x := range r.Lanes[n].Rows {
			if x.Begin <= begin && x.End >= end && r.Regions[x.Region].Name == region {
				return true
			}
		}
	}
	return false
}
