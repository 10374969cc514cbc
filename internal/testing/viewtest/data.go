package viewtest

import (
	"encoding/json"
	"testing"

	"github.com/parallax-hpc/parallax/internal/view"
)

// Decoded returns the data of a result as a program that reads the JSON has it.
func Decoded[D any](t *testing.T, r view.Result) (d D) {
	t.Helper()
	b, err := json.Marshal(r.Data())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d
}
