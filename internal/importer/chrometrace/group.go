package chrometrace

import (
	"maps"
	"regexp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A processGroup is one of Kineto's pg_config.
type processGroup struct {
	Name        string `json:"pg_name"`
	Description string `json:"pg_desc"`
	Ranks       []int  `json:"ranks"`
}

// groupWords are how frameworks call the groups of one dimension: Megatron, DeepSpeed, and the meshes of PyTorch.
var groupWords = map[string]*regexp.Regexp{
	"dp": regexp.MustCompile(`(?i)^(data_parallel(_group)?|dp|mesh_dp|mesh_dp_shard|mesh_fsdp|dp_group)$`),
	"pp": regexp.MustCompile(`(?i)^(pipeline(_model)?_parallel(_group)?|pp|mesh_pp|pp_group|pipe)$`),
	"tp": regexp.MustCompile(`(?i)^(tensor(_model)?_parallel(_group)?|tp|mesh_tp|tp_group|tensor)$`),
	"ep": regexp.MustCompile(`(?i)^(expert(_model)?_parallel(_group)?|ep|mesh_ep|ep_group)$`),
	"cp": regexp.MustCompile(`(?i)^(context_parallel(_group)?|cp|mesh_cp|cp_group)$`),
}

// groupDimension is the dimension of parallel training that a group is along; "" where its name tells none.
func groupDimension(g *processGroup) string {
	for _, d := range dimensions {
		for _, name := range []string{g.Description, g.Name} {
			if groupWords[d].MatchString(name) {
				return d
			}
		}
	}
	return ""
}

// coordinatesOf is the place of a rank in the groups along each dimension. Groups that disagree tell nothing.
func coordinatesOf(rank int, groups []processGroup) map[string]int {
	out, odd := map[string]int{}, map[string]bool{}
	for i := range groups {
		d := groupDimension(&groups[i])
		at := slices.Index(groups[i].Ranks, rank)
		if d == "" || at < 0 {
			continue
		}
		if old, there := out[d]; there && old != at {
			odd[d] = true
		}
		out[d] = at
	}
	for d := range odd {
		delete(out, d)
	}
	return out
}

// arrange gives ranks whose process groups tell their coordinates these as attributes, and lays them out on a grid.
func (p *conclusion) arrange() {
	used := map[string]int{} // extent of each dimension
	at := map[int]map[string]int{}
	for rank := range p.ranks {
		at[rank] = coordinatesOf(rank, p.member[rank])
		for d, n := range at[rank] {
			used[d] = max(used[d], n+1)
		}
	}
	grid := trace.Topology{Name: "parallel"}
	for _, d := range dimensions {
		if used[d] > 0 {
			grid.DimNames, grid.Dims, grid.Periodic = append(grid.DimNames, d), append(grid.Dims, used[d]),
				append(grid.Periodic, false)
		}
	}
	if len(grid.Dims) == 0 || len(p.ranks) < 2 {
		return
	}
	for _, rank := range slices.Sorted(maps.Keys(p.ranks)) {
		l := trace.Location{Rank: trace.NoRank}
		place := make([]int, len(grid.Dims))
		for i, d := range grid.DimNames {
			if n, ok := at[rank][d]; ok {
				place[i] = n
				l.Attributes = append(l.Attributes, trace.Attribute{Key: d, Value: trace.Integer(int64(n))})
			}
		}
		p.w.Describe(p.ranks[rank], l)
		grid.Coordinates = append(grid.Coordinates, trace.Coordinate{Location: p.ranks[rank], At: place})
	}
	p.w.Topology(grid)
}
