package scaling

import (
	"fmt"
	"regexp"
	"strconv"
)

// sizeKeys are the keys and properties that tell how many ranks a run had, where its
// records do not.
var sizeKeys = []string{"size", "ranks", "mpi.world.size", "jobsize", "nprocs", "ntasks"}

var number = regexp.MustCompile(`\d+`)

// sizes finds the size of each run: as the user says it, as its records do, or, where all
// seem to have one rank, by the number in their names. A profile of one location that is
// of several ranks is their sum.
func (r *result) sizes() error {
	told := false
	for i := range r.runs {
		told = told || r.runs[i].print.Size() > 1
	}
	for i := range r.runs {
		x := &r.runs[i]
		size, err := r.said(i)
		if err != nil {
			return err
		}
		if size == 0 && !told {
			if all := number.FindAllString(x.name, -1); len(all) == 1 {
				size, _ = strconv.ParseFloat(all[0], 64)
			}
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

// said is the size that a key or property tells; 0: none does.
func (r *result) said(i int) (float64, error) {
	for _, name := range sizeKeys {
		v, own := r.request.Runs[i].Keys[name]
		if !own {
			v = r.runs[i].print.Properties[name]
		}
		if v == "" {
			continue
		}
		n, err := strconv.ParseFloat(v, 64)
		if err == nil && n >= 1 {
			return n, nil
		}
		if own {
			return 0, fmt.Errorf("--key %s: run %s has %q, want a number of ranks", name, r.runs[i].name, v)
		}
	}
	return 0, nil
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
