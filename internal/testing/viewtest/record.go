package viewtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// record writes the facts of a grid of places, the data and the table of a case into the
// folder that PARALLAX_RECORD names. Made before and after a change that should change
// none of them, two such folders are compared with diff.
func record(t *testing.T, v *view.View, c *Case, result view.Result, s *scene.Scene) {
	dir := os.Getenv("PARALLAX_RECORD")
	if dir == "" {
		return
	}
	var facts, csv bytes.Buffer
	for y := 2.0; y < s.Height; y += s.Height / 41 {
		for x := 2.0; x < s.Width; x += s.Width / 37 {
			if f, ok, _ := view.PickAt(result, s, x, y); ok {
				b, err := json.Marshal(f)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&facts, "%.1f %.1f %s\n", x, y, b)
			}
		}
	}
	data, err := json.MarshalIndent(result.Data(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	table := result.Table()
	if err := table.WriteCSV(&csv); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&csv, table.Columns, table.Locations, table.Regions)
	name := v.Name + "-" + strings.NewReplacer(" ", "-", "/", "_").Replace(c.Name)
	for ending, b := range map[string][]byte{".facts": facts.Bytes(), ".json": data, ".csv": csv.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name+ending), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
