package nettrace

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "managed-v4.nettrace", Most: 8, Cuts: 40}, {Path: "made-v6.nettrace", Cuts: 100}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.nettrace", "testdata/made-v6.nettrace", "testdata/managed-v4.nettrace")
}

// Samples and their threads, counted by a script that walks the bytes; all frames have names.
func TestSamplesOfARealFile(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "readers3/dotnet/only_managed_samples.nettrace.zip"))
	samples, named := 0.0, 0.0
	err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
		for _, row := range rows {
			if r.Metrics()[row.Metric].Name == "samples" {
				samples += row.Exclusive
				if r.Regions()[r.CallPaths()[row.Path].Region].Category != "" {
					named += row.Exclusive
				}
			}
		}
		return nil
	})
	if err != nil || samples != 7423 || named != samples {
		t.Errorf("%v samples, %v in methods with names; want 7423: %v", samples, named, err)
	}
}
