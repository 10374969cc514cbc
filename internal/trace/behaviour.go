package trace

// Behaviour holds the calls or profiles of locations for kernels that compare them, so that these need not know the
// store. Either Calls or Profile is set.
type Behaviour struct {
	Regions []Region
	// Chosen are the regions whose calls are compared; nil: all.
	Chosen []RegionID
	// Locations ascend. Those of one owner are taken together: Owner gives the
	// place of each one's owner, below Owners.
	Locations []LocationID
	Owner     []int32
	Owners    int
	// Calls yields the calls of some of the locations, lane by lane.
	Calls func([]LocationID, func(*DigestedLane) error) error
	// Profile yields the rows of a source without time; Paths are its call
	// paths, and Metric is the one that is compared.
	Profile func(func([]ProfileRow) error) error
	Paths   []CallPath
	Metric  MetricID
	// Tree is set where owners are grouped by the best cut of their hierarchy.
	Tree *BehaviourTree
}

// A BehaviourTree is a hierarchy in preorder over the owners, with the behaviour of each: the subtree of node i is i …
// Last[i].
type BehaviourTree struct {
	Parent, Last []int32
	Leaf         []int32     // of each owner
	Values       [][]float64 // of each variable, by node; those of inner nodes are not read
}

// A Likeness defines the similarity of locations and the size of groups. By is "structure", "time" or "both", or
// "optimal" for the best cut of the tree at P. K, if not 0, is the number of groups. Threshold, if not 0, is the least
// similarity of the members of a group.
type Likeness struct {
	By        string
	K         int
	Threshold float64
	Seed      uint64
	P         float64
	// Closure takes all that is around a call for its callers, so that inlining
	// does not matter.
	Closure bool
}
