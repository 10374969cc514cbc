package scaling

import (
	"regexp"
	"strconv"
)

var number = regexp.MustCompile(`\d+`)

// sizes finds the size of each run: as the user says it, as its records do, or, where all
// seem to have one rank, by the number in their names.
func (r *result) sizes() error {
	told := false
	said := make([]float64, len(r.runs))
	for i := range r.runs {
		var err error
		if said[i], err = r.request.Runs[i].Ranks(); err != nil {
			return err
		}
		told = told || said[i] > 1 || r.runs[i].Print.Size() > 1
	}
	for i := range r.runs {
		x, size := &r.runs[i], said[i]
		if all := number.FindAllString(x.name, -1); !told && len(all) == 1 {
			size, _ = strconv.ParseFloat(all[0], 64)
		}
		if size < 1 {
			continue
		}
		x.SetSize(size)
	}
	return nil
}
