package runfacts

import (
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// HasGPU and FindDevices agree on random trees.
func TestARunHasAGPUIfDevicesAreFound(t *testing.T) {
	kinds := []trace.Kind{trace.KindMachine, trace.KindProcess, trace.KindThread, trace.KindGroup, trace.KindDevice,
		trace.KindStream}
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for n := range 3000 {
		tree := new(store.Tree)
		for i := range 1 + n%6 {
			up := trace.NoLocation
			if i > 0 && random.IntN(4) > 0 {
				up = trace.LocationID(random.IntN(i))
			}
			name := ""
			if random.IntN(20) == 0 {
				name = "/device:GPU:0"
			}
			tree.Name, tree.Parent = append(tree.Name, name), append(tree.Parent, up)
			tree.Kind = append(tree.Kind, kinds[random.IntN(len(kinds))])
			tree.Holds = append(tree.Holds, random.IntN(3) == 0)
			tree.Last = append(tree.Last, trace.LocationID(i))
		}
		want := len(FindDevices(tree, nil).GPUs) > 0
		if want {
			found++
		}
		if got := HasGPU(tree); got != want {
			t.Fatalf("HasGPU is %v of %+v", got, tree)
		}
	}
	if found < 100 || found > 2900 {
		t.Errorf("%d of 3000 trees have a GPU", found)
	}
}
