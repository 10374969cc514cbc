package trace

// Ranks holds the recorded places of a run's ranks for kernels that propose layouts and groupings, so that these need
// not know the store.
type Ranks struct {
	Count       int
	Hosts       []string // by rank; nil: not recorded
	Traffic     []RankTraffic
	Coordinates [][]int // by rank; nil: not recorded
}

// A RankTraffic is the traffic from one rank to another: bytes, else messages.
type RankTraffic struct {
	From, To int
	Weight   float64
}

// A RankGrouping puts ranks into groups, possibly nested.
type RankGrouping struct {
	Name string
	// Groups are the names of the groups of each rank, outermost first.
	Groups [][]string
	Score  float64 // share of how ranks differ that the groups explain
}
