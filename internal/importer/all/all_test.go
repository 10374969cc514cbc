package all

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestFormatsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats {
		if f.Name == "" || f.Name != strings.ToLower(f.Name) || strings.ContainsAny(f.Name, " _") || seen[f.Name] {
			t.Errorf("name %q is empty, not lower case, or taken", f.Name)
		}
		seen[f.Name] = true
		if f.Title == "" || f.Claim == nil || f.Import == nil && f.Advice == "" {
			t.Errorf("%s lacks a title, a claim, or advice where it has no reader", f.Name)
		}
	}
}

// samples are the folders of the sample data, and the format that must claim
// each. Those of formats that have no reader yet are not listed.
var samples = map[string]string{
	"kineto-ddp-8rank":                               "chrome",
	"chrome-clang":                                   "chrome",
	"chrome-gobuild":                                 "chrome",
	"chrome-node":                                    "chrome",
	"public/kineto/backward-thread":                  "chrome",
	"public/kineto/sampled-ranks-0-1-of-128":         "chrome",
	"public/chrome-json/bazel-94threads":             "chrome",
	"public/chrome-json/dftracer-cm1-48ranks":        "chrome",
	"public/dumpi/bgp-7ranks-with-torus-coordinates": "dumpi",
	"public/mpe/fpilog":                              "mpe",
	"public/cubex/kripke-8ranks":                     "cube",
	"public/cubex/value-types-4locations":            "cube",
	"public/tau-profile/cpi-4ranks":                  "tau",
	"public/tau-ppk/npb-bt-commmatrix-16ranks":       "tau",
	"public/tau-snapshot-xml/metadata-correlation":   "tau",
	"otf2-hpl32":                                     "otf2",
	"otf2-hpl16-deep-a":                              "otf2",
	"otf2-pingpong4":                                 "otf2",
	"otf2-xz-pthread":                                "otf2",
	"public/otf2/ping-pong-2ranks":                   "otf2",
	"paje-hpl128-g5k":                                "paje",
	"paje-is128-g5k":                                 "paje",
	"paje-pingpong4":                                 "paje",
	"public/paje/simgrid-cluster":                    "paje",
	"public/paje/smpi-replay-extract":                "paje",
	"public/paje/starpu-native-sample":               "paje",
	"public/paje-csv/starpu-lu-2ranks":               "paje-csv",
	"public/paraver/lulesh-8ranks":                   "paraver",
	"public/nsight-sqlite/saxpy-mpi-cuda-rank0":      "nsight",
	"public/hpctoolkit/ping-pong-2ranks-v4":          "hpctoolkit",
	"public/ctf/mpi-allreduce-8ranks":                "ctf",
	"readers/darshan/sample-dxt-simple.darshan":      "darshan",
	"go-sync":                              "gotrace",
	"public/task-tree/grain-fib-48cores":   "graintable",
	"public/otlp/proto-examples":           "otlp",
	"public/perfetto/omnitrace-mpi-4ranks": "perfetto",
}

func TestSamplesAreClaimedByTheirFormatAlone(t *testing.T) {
	for path, want := range samples {
		t.Run(path, func(t *testing.T) {
			s, err := importer.NewSource(importertest.Shared(t, path))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			runs, _ := importer.Detect(Formats, s)
			if len(runs) != 1 || runs[0].Format.Name != want {
				t.Errorf("runs %v, want one of %s", runs, want)
			}
			for _, f := range Formats {
				if claimed := f.Claim(s); f.Name != want && f.Name != "sqlite" && len(claimed) > 0 { // it takes what no other does
					t.Errorf("%s claims %v too", f.Name, claimed[0].Files)
				}
			}
		})
	}
}
