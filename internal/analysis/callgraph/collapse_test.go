package callgraph

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestOneCategoryCollapsesAmongOpenOnes(t *testing.T) {
	regions := []trace.Region{{Name: "main"}, {Name: "MPI_Send", Category: "MPI"}, {Name: "solve", Category: "HPL"}, {Name: "MPI_Recv", Category: "MPI"}, {Name: "MPI_Send", Category: "MPI"}}
	compile := func(p string) (func(trace.RegionID, *trace.Region) bool, error) {
		name := strings.TrimPrefix(p, "category:")
		return func(_ trace.RegionID, r *trace.Region) bool { return r.Category == name }, nil
	}
	nodes, of, err := Collapsed(regions, false, []string{"category:MPI"}, compile)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	if strings.Join(names, " ") != "main [MPI] solve" || of[1] != 1 || of[3] != 1 || of[4] != 1 || of[2] != 2 || len(nodes[1].Regions) != 3 {
		t.Errorf("%v %v %+v", names, of, nodes[1])
	}
	if _, _, err := Collapsed(regions, false, []string{"category:none"}, compile); err == nil {
		t.Error("a pattern that matches nothing is accepted")
	}
}
