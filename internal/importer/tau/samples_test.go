package tau

import (
	"context"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// totals are sums over all locations of flat rows, by region.
type totals struct {
	calls, exclusive map[string]float64
	all              float64 // exclusive time of all, ns
	most             float64 // the greatest inclusive time of one row, ns
	flat, paths      map[trace.CallPathID]bool
}

func sum(t *testing.T, r store.Reader) totals {
	t.Helper()
	s := totals{map[string]float64{}, map[string]float64{}, 0, 0, map[trace.CallPathID]bool{}, map[trace.CallPathID]bool{}}
	paths, regions := r.CallPaths(), r.Regions()
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, x := range rows {
			p := paths[x.Path]
			if !p.Flat {
				s.paths[x.Path] = true
				continue
			}
			s.flat[x.Path] = true
			s.calls[regions[p.Region].Name] += x.Calls
			s.exclusive[regions[p.Region].Name] += x.Exclusive
			s.all += x.Exclusive
			s.most = max(s.most, x.Inclusive)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The numbers are those that the samples' descriptions give, in microseconds.
func TestSamplesHoldWhatTheirDescriptionsSay(t *testing.T) {
	type total struct{ calls, exclusive float64 }
	for path, want := range map[string]struct {
		ranks, functions, paths int
		all, most               float64 // 0: not known
		regions                 map[string]total
	}{
		"tau-profile/adios-xmain-8ranks":  {ranks: 8, functions: 27, all: 500_091_472, regions: map[string]total{"MPI_Barrier()": {14_040, 57_683_125}}},
		"tau-profile/adios-reader-4ranks": {ranks: 4, functions: 17, all: 249_615_034, regions: map[string]total{"MPI_Barrier()": {820, 27_791_579}}},
		// Eleven call paths, and the root that begins them.
		"tau-profile/cpi-4ranks":                {ranks: 4, functions: 12, paths: 12, all: 214_047},
		"tau-ppk/gromacs-8-to-256ranks/8.ppk":   {ranks: 8, functions: 613, most: 204_587_407, regions: map[string]total{"do_nonbonded": {8_008, 448_768_325}}},
		"tau-ppk/gromacs-8-to-256ranks/16.ppk":  {ranks: 16, functions: 645, most: 164_046_608},
		"tau-ppk/gromacs-8-to-256ranks/32.ppk":  {ranks: 32, functions: 643, most: 101_229_866},
		"tau-ppk/gromacs-8-to-256ranks/64.ppk":  {ranks: 64, functions: 639, most: 65_118_657},
		"tau-ppk/gromacs-8-to-256ranks/256.ppk": {ranks: 256, functions: 640, most: 49_513_899, regions: map[string]total{"MPI_Sendrecv()": {10_949_147, 1_982_777_117}}},
		"tau-ppk/wrf-callpath-16ranks":          {ranks: 16, functions: 2_973 - 1_834, regions: map[string]total{"MPI_Wait()": {620_160, 1_432_517_924}, "MODULE_MP_WSM5::WSM52D": {178_200, 1_451_490_680}}},
		"tau-ppk/npb-bt-commmatrix-16ranks":     {ranks: 16, regions: map[string]total{"X_SOLVE_CELL": {12_864, 295_345_348}}},
		"tau-snapshot-xml/metadata-correlation": {ranks: 8, functions: 79},
	} {
		t.Run(path, func(t *testing.T) {
			r := importertest.Import(t, Format, importertest.Shared(t, "public/"+path))
			s := sum(t, r)
			if r.Info().Ranks != want.ranks {
				t.Errorf("%d ranks, want %d", r.Info().Ranks, want.ranks)
			}
			if want.functions > 0 && len(s.flat) != want.functions {
				t.Errorf("%d flat functions, want %d", len(s.flat), want.functions)
			}
			if want.paths > 0 && len(s.paths) != want.paths {
				t.Errorf("%d call paths, want %d", len(s.paths), want.paths)
			}
			if want.all > 0 && s.all != want.all*1000 {
				t.Errorf("exclusive time of all %v ns, want %v", s.all, want.all*1000)
			}
			// TAU's own totals are rounded to whole microseconds in the description.
			if want.most > 0 && math.Abs(s.most-want.most*1000) > 500 {
				t.Errorf("greatest inclusive time %v ns, want %v", s.most, want.most*1000)
			}
			for name, g := range want.regions {
				found := ""
				for have := range s.calls {
					if have == name || s.calls[have] == g.calls && len(have) > len(name) && contains(have, name) {
						found = have
					}
				}
				if s.calls[found] != g.calls || math.Abs(s.exclusive[found]-g.exclusive*1000) > 500 {
					t.Errorf("%s: %v calls and %v ns, want %v and %v", name, s.calls[found], s.exclusive[found], g.calls, g.exclusive*1000)
				}
			}
		})
	}
}

// contains reports whether a C prototype is that of the function.
func contains(have, name string) bool {
	for i := range have {
		if i+len(name) < len(have) && have[i:i+len(name)] == name && have[i+len(name)] == '(' {
			return true
		}
	}
	return false
}

func TestRanksOfTheSmallSampleHaveTheAssertedTimes(t *testing.T) {
	r := importertest.Import(t, Format, "testdata/cpi")
	want := map[string][2]float64{".TAU application": {449, 419}, "MPI_Finalize()": {4458, 4894}, "MPI_Bcast()": {218, 333}}
	children := map[string]bool{}
	roots := 0
	paths, regions, tree := r.CallPaths(), r.Regions(), r.Locations()
	for _, p := range paths {
		switch {
		case p.Flat:
		case p.Parent == trace.NoCallPath:
			roots++
		case paths[p.Parent].Parent == trace.NoCallPath:
			children[regions[p.Region].Name] = true
		}
	}
	if roots != 1 || len(children) != 7 {
		t.Errorf("%d roots with %d children, want one with the seven MPI calls", roots, len(children))
	}
	seen := 0
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, x := range rows {
			if us, ok := want[regions[paths[x.Path].Region].Name]; ok {
				seen++
				if x.Exclusive != us[tree.Rank[x.Location]]*1000 {
					t.Errorf("%s on rank %d: %v ns, want %v µs", regions[paths[x.Path].Region].Name, tree.Rank[x.Location], x.Exclusive, us[tree.Rank[x.Location]])
				}
			}
		}
		return nil
	})
	if err != nil || seen != 12 {
		t.Errorf("%d rows seen, error %v", seen, err)
	}
}

func TestMessagesBecomeLinksWithoutTime(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/tau-ppk/npb-bt-commmatrix-16ranks"))
	tree := r.Locations()
	pairs := map[[2]int32]int64{}
	var messages, bytes int64
	err := r.Links(context.Background(), store.Window{End: 1}, func(l *store.LinkColumns) error {
		for i := range l.Kind {
			if !l.Untimed[i] {
				t.Error("a link of a profile has a time")
			}
			pairs[[2]int32{tree.Rank[l.FromLocation[i]], tree.Rank[l.ToLocation[i]]}] += l.Size[i]
			if l.Count[i] != 805 {
				t.Errorf("%d messages in a pair, want 805", l.Count[i])
			}
			messages += l.Count[i]
			bytes += l.Size[i]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) != 96 || messages != 77_280 || bytes != 8_504_835_840 || pairs[[2]int32{0, 1}] != 129_358_880 || pairs[[2]int32{0, 3}] != 47_413_120 {
		t.Errorf("%d pairs, %d messages, %d bytes, 0 to 1 %d, 0 to 3 %d", len(pairs), messages, bytes, pairs[[2]int32{0, 1}], pairs[[2]int32{0, 3}])
	}
}
