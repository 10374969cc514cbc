package trace

// Ranks are what a run records of where its ranks are, handed to kernels that propose
// layouts and groupings, so that they need not know the store.
type Ranks struct {
	Count       int
	Hosts       []string // by rank; nil: not recorded
	Traffic     []RankTraffic
	Coordinates [][]int // by rank; nil: not recorded
}

// A RankTraffic is what one rank sends to another: bytes, else messages.
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
