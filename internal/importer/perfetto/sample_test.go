package perfetto

import (
	"context"
	"os"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/importertest"
)

func TestSamplesOfPerfKeepTheirCPUAndStack(t *testing.T) {
	data, err := os.ReadFile("testdata/samples.pftrace")
	if err != nil {
		t.Fatal(err)
	}
	s, err := importer.NewSourceFS("sample", fstest.MapFS{"x.pftrace": {Data: data}})
	if err != nil {
		t.Fatal(err)
	}
	w := importertest.NewCount()
	if err := importer.ClaimAs(Format, s)[0].Import(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	// A CPU each, three stacks, one that could not be unwound to its end.
	if w.Instants != 5 || w.Attributes != 5+3+1 {
		t.Errorf("%d samples with %d attributes, want 5 with 9", w.Instants, w.Attributes)
	}
}
