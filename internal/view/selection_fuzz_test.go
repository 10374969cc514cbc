package view_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

// FuzzSelection: whatever is written as a selection gives one of the run, or an error.
func FuzzSelection(f *testing.F) {
	for _, s := range [][4]string{
		{"", "", "", ""}, {"1.5s", "30%", "rank:0-3", "role:compute"}, {"-5ns", "1e300s", "#0-4294967295", "re:(a|b)*"}, {"NaN%", "Inf", "kind:processor", "category:mpi"},
		{"0", "9223372036854775807", "re:[", "*/**/{a,b}"}, {"100%", "0%", "#1,2,9-3", "#0"},
	} {
		f.Add(s[0], s[1], s[2], s[3])
	}
	f.Fuzz(func(t *testing.T, from, to, location, region string) {
		r := storetest.Text(t, measured)
		spec := view.Spec{From: from, To: to}
		if location != "" {
			spec.Locations = []string{location}
		}
		if region != "" {
			spec.Regions = []string{region}
		}
		sel, err := spec.Resolve(r)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a word")
			}
			return
		}
		for _, id := range sel.Locations {
			if int(id) >= r.Locations().Len() {
				t.Errorf("location %d of %d", id, r.Locations().Len())
			}
		}
		for _, id := range sel.Regions {
			if int(id) >= len(r.Regions()) {
				t.Errorf("region %d of %d", id, len(r.Regions()))
			}
		}
	})
}
