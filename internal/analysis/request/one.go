package request

import "slices"

// GatherOne reads one request out of a part of a run, as large as it is known to be. It is nil where the part does not hold all of
// its calls. The forest has no other request, and the counts are of the part.
func GatherOne(part Source, want *Request) (*Forest, error) {
	f, err := Gather(part)
	if err != nil {
		return nil, err
	}
	k := int32(slices.IndexFunc(f.Requests, func(x Request) bool { return x.ID == want.ID }))
	if k < 0 || f.Requests[k].Spans != want.Spans || len(f.Requests[k].Roots) != len(want.Roots) {
		return nil, nil
	}
	f.Requests = f.Requests[k : k+1 : k+1]
	for i, of := range f.Of {
		if f.Of[i] = -1; of == k {
			f.Of[i] = 0
		}
	}
	return f, nil
}
