// Package runchange tells what changed from runs A to runs B: each quantity of the runs, how much it differs, and how
// sure that is. A run is one value, taken from its fingerprint, so that many runs cost no more than their prints.
//
//	quantity.go  the compared quantities: length, parts of steps, call paths
//	factor.go    the length as a product of POP's factors
package runchange

import (
	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
)

// A Change is the question, Prints, Runs and Worth, and the answer that Compare gives.
type Change struct {
	Prints []*fingerprint.Print // of all runs
	Runs   [2][]int             // of each side
	Worth  float64              // the part of a quantity that is worth saying

	Stepped bool // values are of a step
	Parted  bool // steps are those of GPUs, and have parts

	Tree    *compare.Tree
	Length  *Quantity
	Rest    *Quantity // the part that no row explains; nil if parts are all
	Rows    []*Quantity
	Nodes   []*Quantity // by node of the tree
	Factors []Factor
}

// Compare compares the two sides of Runs. Pins, OLD=NEW, say which names are of one region. The cost is that of all
// call paths.
func (c *Change) Compare(pins []string) error {
	if err := c.measure(pins); err != nil {
		return err
	}
	c.judge()
	c.Factors = c.decompose()
	return nil
}

// Matched is the share of all time by how its call paths were matched.
func (c *Change) Matched() (share [compare.Tiers]float64) {
	all := 0.0
	for _, q := range c.Nodes {
		t := q.Mean(0) + q.Mean(1)
		share[c.Tree.Nodes[q.Node].Tier] += t
		all += t
	}
	for k := range share {
		if all > 0 {
			share[k] /= all
		}
	}
	return share
}
