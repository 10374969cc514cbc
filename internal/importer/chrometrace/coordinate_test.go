package chrometrace

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestCoordinatesAreReadFromNames(t *testing.T) {
	for name, want := range map[string]string{
		"PP rank 2, TP rank 0, compute": "map[pp:2 tp:0]",
		"dp_rank=3 pp_rank=1":           "map[dp:3 pp:1]",
		"EP-rank 7":                     "map[ep:7]",
		"http rank 3":                   "map[]",
		"rank 5":                        "map[]",
		"":                              "map[]",
	} {
		if got := fmt.Sprint(coordinates(name)); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// Eight ranks as Megatron lays them out: two replicas of two stages of two parts of a tensor.
func TestCoordinatesAreReadFromProcessGroups(t *testing.T) {
	groups := []processGroup{
		{Name: "0", Description: "default_pg", Ranks: []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{Name: "1", Description: "DATA_PARALLEL_GROUP", Ranks: []int{0, 2}}, {Name: "2", Description: "DATA_PARALLEL_GROUP", Ranks: []int{5, 7}},
		{Name: "3", Description: "TENSOR_MODEL_PARALLEL_GROUP", Ranks: []int{6, 7}}, {Name: "4", Description: "TENSOR_AND_DATA_PARALLEL_GROUP", Ranks: []int{4, 5, 6, 7}},
		{Name: "5", Description: "PIPELINE_MODEL_PARALLEL_GROUP", Ranks: []int{3, 7}}, {Name: "mesh_cp", Description: "undefined", Ranks: []int{7}},
	}
	for rank, want := range map[int]string{7: "map[cp:0 dp:1 pp:1 tp:1]", 0: "map[dp:0]", 4: "map[]"} {
		if got := fmt.Sprint(coordinatesOf(rank, groups)); got != want {
			t.Errorf("rank %d: %s, want %s", rank, got, want)
		}
	}
	if got := fmt.Sprint(coordinatesOf(2, append(groups, processGroup{Name: "9", Description: "dp", Ranks: []int{2}}))); got != "map[]" {
		t.Errorf("groups that disagree tell %s", got)
	}
}

// The files of a run, one a rank, each with its own groups: places are attributes and a grid.
func TestRanksOfARunLieOnTheGridOfTheirGroups(t *testing.T) {
	files := fstest.MapFS{}
	for rank := range 4 {
		files[fmt.Sprintf("rank%d.json", rank)] = &fstest.MapFile{Data: fmt.Appendf(nil, `{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": 4, "pg_config": [{"pg_name": "1", "pg_desc": "mesh_dp", "ranks": [%d, %d]}, {"pg_name": "2", "pg_desc": "mesh_tp", "ranks": [%d, %d]}]},
"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": %d, "tid": 1, "ts": 1, "dur": 2}]}`, rank, rank%2, rank%2+2, rank&^1, rank|1, 100+rank)}
	}
	s, err := importer.NewSourceFS("run", files)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil || len(runs) != 1 {
		t.Fatal(len(runs), err)
	}
	w := importertest.NewCount()
	if err := runs[0].Import(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if len(w.Topologies) != 1 || fmt.Sprint(w.Topologies[0].DimNames, w.Topologies[0].Dims) != "[dp tp] [2 2]" {
		t.Fatalf("%+v", w.Topologies)
	}
	for rank, c := range w.Topologies[0].Coordinates {
		if want := fmt.Sprint([]int{rank / 2, rank % 2}); fmt.Sprint(c.At) != want {
			t.Errorf("rank %d at %v, want %s", rank, c.At, want)
		}
	}
}
