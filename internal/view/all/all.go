// Package all lists the views.
package all

import (
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/activity"
	"github.com/parallax-hpc/parallax/internal/view/alignment"
	"github.com/parallax-hpc/parallax/internal/view/answer"
	"github.com/parallax-hpc/parallax/internal/view/boxprofile"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
	"github.com/parallax-hpc/parallax/internal/view/calltree"
	"github.com/parallax-hpc/parallax/internal/view/commmatrix"
	"github.com/parallax-hpc/parallax/internal/view/compare"
	"github.com/parallax-hpc/parallax/internal/view/contrast"
	"github.com/parallax-hpc/parallax/internal/view/criticalpath"
	"github.com/parallax-hpc/parallax/internal/view/findings"
	"github.com/parallax-hpc/parallax/internal/view/groups"
	"github.com/parallax-hpc/parallax/internal/view/histogram"
	"github.com/parallax-hpc/parallax/internal/view/history"
	"github.com/parallax-hpc/parallax/internal/view/kaleidoscope"
	"github.com/parallax-hpc/parallax/internal/view/landscape"
	"github.com/parallax-hpc/parallax/internal/view/moments"
	"github.com/parallax-hpc/parallax/internal/view/operators"
	"github.com/parallax-hpc/parallax/internal/view/overview"
	"github.com/parallax-hpc/parallax/internal/view/phases"
	"github.com/parallax-hpc/parallax/internal/view/profile"
	"github.com/parallax-hpc/parallax/internal/view/requests"
	"github.com/parallax-hpc/parallax/internal/view/scaling"
	"github.com/parallax-hpc/parallax/internal/view/scatter"
	"github.com/parallax-hpc/parallax/internal/view/services"
	"github.com/parallax-hpc/parallax/internal/view/source"
	"github.com/parallax-hpc/parallax/internal/view/steps"
	"github.com/parallax-hpc/parallax/internal/view/timeline"
	"github.com/parallax-hpc/parallax/internal/view/topology"
	"github.com/parallax-hpc/parallax/internal/view/treemap"
)

// Views in the order in which people see them.
var Views = []*view.View{
	timeline.View,
	moments.View,
	activity.View,
	profile.View,
	calltree.View,
	source.View,
	commmatrix.View,
	boxprofile.View,
	callmatrix.View,
	groups.View,
	contrast.View,
	alignment.View,
	treemap.View,
	overview.View,
	kaleidoscope.View,
	topology.View,
	landscape.View,
	scatter.View,
	histogram.View,
	phases.View,
	steps.View,
	operators.View,
	requests.View,
	criticalpath.View,
	services.View,
	compare.View,
	scaling.View,
	history.View,
	findings.View,
	answer.View,
}

// AtImport lists the results that views need at first of runs with many locations.
func AtImport() (out []view.Preparer) {
	for _, v := range Views {
		out = append(out, v.AtImport...)
	}
	return out
}
