package all_test

import (
	"regexp"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/all"
)

// ofThePage are words that tell what only the page can do.
var ofThePage = regexp.MustCompile(`(?i)expand a|the table has|click|under the cursor`)

// A file holds nothing that only the page can do: no advice to click, and no marks for folding.
func TestFilesHoldNothingOfThePage(t *testing.T) {
	for _, name := range []string{"stencil?locations=64&intervals=20000", "shop?intervals=3000"} {
		r := openDemo(t, name)
		for _, v := range all.Views {
			if v.Needs.Missing(r) != "" || v.Runs > 2 {
				continue
			}
			q := (&viewtest.Case{Size: scene.Size{Width: 360, Height: 250}}).Request(t, v, r)
			result, err := v.Compute(t.Context(), q)
			if err != nil {
				continue // this view has nothing to show of it
			}
			for _, l := range scene.AddTitleAndLegend(q.Size, result.Scene).Layers {
				if l.Name == "folds" {
					t.Errorf("%s of %s has marks for folding", v.Name, name)
				}
				for _, m := range l.Marks {
					text, ok := m.(*scene.Text)
					for i := 0; ok && i < text.Len(); i++ {
						if ofThePage.MatchString(text.Text[i]) {
							t.Errorf("%s of %s says %q", v.Name, name, text.Text[i])
						}
					}
				}
			}
		}
	}
}
