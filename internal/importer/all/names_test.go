package all_test

import (
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// In all recordings of several ranks: a region that one rank alone runs has no sibling on another rank that differs in an address,
// an id or a number only, by the rules for several runs too, which fold more. Profiles of HPCToolkit are left out: they name functions of
// libraries without symbols by where these lie in the library, which is the same on all ranks, and have few samples of each.
func TestNoRegionIsSplitByRank(t *testing.T) {
	for _, set := range []string{"kineto-ddp-8rank", "otf2-hpl32", "otf2-lammps-imbalanced16", "otf2-xz-pthread", "paje-hpl128-g5k", "paje-is128-g5k",
		"faults/loader-all", "ml/epoch/epoch_16proc.prv.gz", "public/perfetto/omnitrace-mpi-4ranks", "public/kineto/sampled-ranks-0-1-of-128",
		"public/paraver/lulesh-8ranks", "public/otf2/sst-macro-mpi-coverage-10ranks", "public/projections/hello-4pes-v3",
		"public/chrome-json/dftracer-cm1-48ranks", "public/tau-ppk/npb-bt-commmatrix-16ranks", "public/tau-ppk/wrf-callpath-16ranks",
		"public/tau-profile/cpi-4ranks", "public/cubex/blast-64ranks", "public/cubex/hwcounters-128ranks", "public/ctf/mpi-pthread-4ranks-3threads",
		"public/dumpi/bgp-7ranks-with-torus-coordinates", "public/mpe/fpilog"} {
		t.Run(set, func(t *testing.T) {
			r := viewtest.Import(t, "data", filepath.FromSlash(set))
			type name struct{ folded, category string }
			tree, regions := r.Locations(), r.Regions()
			on := make([]map[int32]bool, len(regions))
			err := runfacts.Totals(t.Context(), r, store.Window{End: r.Info().End + 1}, runfacts.DefaultMetric(r.Metrics()), func(list []runfacts.Total) {
				for _, x := range list {
					if rank := tree.Rank[x.Location]; rank >= 0 {
						if on[x.Region] == nil {
							on[x.Region] = map[int32]bool{}
						}
						on[x.Region][rank] = true
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			alone := map[name]trace.RegionID{}
			for id, ranks := range on {
				if len(ranks) != 1 {
					continue
				}
				g := &regions[id]
				n := name{trace.FoldAcrossRuns(g.Name, trace.RoleNone), g.Category}
				if other, ok := alone[n]; ok {
					for rank := range ranks {
						if !on[other][rank] {
							t.Errorf("%q and %q run on one rank each", g.Name, regions[other].Name)
						}
					}
				}
				alone[n] = trace.RegionID(id)
			}
		})
	}
}
