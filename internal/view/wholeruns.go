package view

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
)

// WholeRuns returns the fingerprints of the runs of a request, for views that show runs as wholes: two or more. Subject
// is what takes them, such as "a history".
func (r *Request) WholeRuns(ctx context.Context, subject string,
	print func(context.Context, *Run) (*fingerprint.Print, error)) ([]*fingerprint.Print, error) {
	if len(r.Runs) < 2 {
		return nil, Empty("give others with --run NAME=SOURCE, or open several and choose them",
			"%s takes two runs or more, and there is one", subject)
	}
	if s := &r.Selection; s.Locations != nil && len(s.Locations) == 0 || r.checkTime() != nil {
		return nil, Empty("choose nothing to see whole runs", "nothing is selected")
	}
	prints := make([]*fingerprint.Print, len(r.Runs))
	for i := range r.Runs {
		var err error
		if prints[i], err = print(ctx, &r.Runs[i]); err != nil {
			return nil, fmt.Errorf("run %s: %w", r.Runs[i].Name, err)
		}
	}
	return prints, nil
}

// OneUnit refuses runs that are not measured in one unit; of are some of the prints of the request.
func (r *Request) OneUnit(prints []*fingerprint.Print, of ...int) error {
	for _, i := range of {
		if first := of[0]; prints[i].Unit != prints[first].Unit {
			return fmt.Errorf("run %s is in %q and run %s in %q: they cannot be compared", r.Runs[first].Name,
				prints[first].Unit, r.Runs[i].Name, prints[i].Unit)
		}
	}
	return nil
}

// WholeNotes say that the selection does not matter, if there is one; done is shown or compared.
func (r *Request) WholeNotes(done string) []string {
	if s := &r.Selection; s.Locations == nil && s.Begin <= 0 && s.End >= r.Store().Info().End {
		return nil
	}
	return []string{"whole runs are " + done + ", whatever is selected"}
}
