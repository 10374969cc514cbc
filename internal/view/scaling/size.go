package scaling

import (
	"regexp"
	"strconv"
)

var number = regexp.MustCompile(`\d+`)

// sizes finds the size of each run: as the user says it, as its records do, or, where all
// seem to have one rank, by the number in their names. A profile of one location that is
// of several ranks is their sum.
func (r *result) sizes() error {
	told := false
	said := make([]float64, len(r.runs))
	for i := range r.runs {
		var err error
		if said[i], err = r.request.Runs[i].Ranks(); err != nil {
			return err
		}
		told = told || said[i] > 1 || r.runs[i].print.Size() > 1
	}
	for i := range r.runs {
		x, size := &r.runs[i], said[i]
		if all := number.FindAllString(x.name, -1); !told && len(all) == 1 {
			size, _ = strconv.ParseFloat(all[0], 64)
		}
		if size < 1 {
			continue
		}
		if x.sums.Size = size; x.print.Size() == 1 && !x.print.Timed && size > 1 {
			r.spread(x)
		}
	}
	return nil
}

// spread takes a sum over ranks apart evenly.
func (r *result) spread(x *run) {
	n := int(min(x.sums.Size, 1<<20))
	useful := x.sums.Useful[0] / float64(n)
	x.sums.Useful = make([]float64, n)
	for k := range x.sums.Useful {
		x.sums.Useful[k] = useful
	}
	x.sums.Runtime /= float64(n)
	x.per = float64(n)
	x.summed = true
}
