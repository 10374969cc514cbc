package finding

import (
	"net/url"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A finding opens the picture of exactly its time, and of its rows if the view draws them one by one.
func TestAFindingNamesItsPicture(t *testing.T) {
	late := Finding{View: "timeline", Selection: Selection{Begin: 10, End: 20, Locations: []trace.LocationID{7, 2, 3, 4},
		Regions: []trace.RegionID{5, 9}}}
	slow := Finding{View: "phases", Options: map[string][]string{"phase": {"step *"}}, Selection: Selection{End: 100,
		Locations: []trace.LocationID{3}}}
	for _, c := range []struct {
		f             *Finding
		command, page string
	}{
		{&late, "parallax view timeline 'my run.json' --from 10ns --to 20ns --locations '#2-4,7' -o timeline.svg",
			"locations=%232-4,7&regions=%235&regions=%239&t=10-20&v=timeline"},
		{&slow, "parallax view phases 'my run.json' --phase 'step *' -o phases.svg",
			"0.phase=step+%2A&locations=%233&v=phases"},
	} {
		if got := c.f.Command("my run.json", 100); got != c.command {
			t.Errorf("command\n%s\nwant\n%s", got, c.command)
		}
		if got := c.f.Page(100); got != c.page {
			t.Errorf("page\n%s\nwant\n%s", got, c.page)
		}
		if _, err := url.ParseQuery(c.f.Page(100)); err != nil {
			t.Error(err)
		}
	}
}
