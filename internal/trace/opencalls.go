package trace

// An OpenCalls follows which calls of a location are open, by the rules of StackBuilder, and makes no rows.
type OpenCalls struct {
	Regions []RegionID // of open calls, the innermost last
	onStack []uint32   // by region
	beyond  int
}

// Reset begins another location.
func (o *OpenCalls) Reset() {
	for _, r := range o.Regions {
		o.onStack[r]--
	}
	o.Regions, o.beyond = o.Regions[:0], 0
}

// Enter opens a call.
func (o *OpenCalls) Enter(region RegionID) {
	if len(o.Regions) >= maxOpen {
		o.beyond++
		return
	}
	if n := int(region) + 1 - len(o.onStack); n > 0 {
		o.onStack = append(o.onStack, make([]uint32, n)...)
	}
	o.onStack[region]++
	o.Regions = append(o.Regions, region)
}

// Leave closes the innermost call of a region, and those within.
func (o *OpenCalls) Leave(region RegionID) {
	if o.beyond > 0 {
		o.beyond--
		return
	}
	n := len(o.Regions)
	if n == 0 || region != NoRegion && (int(region) >= len(o.onStack) || o.onStack[region] == 0) {
		return
	}
	for {
		n--
		r := o.Regions[n]
		o.onStack[r]--
		if o.Regions = o.Regions[:n]; r == region || region == NoRegion {
			return
		}
	}
}
