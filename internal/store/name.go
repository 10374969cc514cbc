package store

import "github.com/parallax-hpc/parallax/internal/trace"

// NameOf returns the name of an interval of a region: that of the source, with the number of the step, if the region
// stands for all steps, else that of the region.
func NameOf(r Reader, region string, at Row) (string, error) {
	if !trace.FoldedStep(region) {
		return region, nil
	}
	list, err := r.IntervalAttributes(at)
	for _, a := range list {
		if a.Key == trace.RawName {
			return a.Value.String(), err
		}
	}
	return region, err
}
