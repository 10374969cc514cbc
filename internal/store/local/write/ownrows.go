package write

import (
	"context"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Files of a part with measurements without time.
const (
	profileFile = "profiles"
	lineFile    = "lines"
	atomicFile  = "atomics"
	momentFile  = "moments"
)

var profileFiles = []string{profileFile, lineFile, atomicFile, momentFile}

// saveProfiles writes the measurements without time of a part.
func (w *Writer) saveProfiles() error {
	for _, save := range []func() error{
		func() error { return SaveRecords(w.file(profileFile), w.ProfileRows.Each) },
		func() error { return SaveRecords(w.file(lineFile), w.LineRows.Each) },
		func() error { return saveAhead(w, atomicFile, w.AtomicRows) },
		func() error { return saveAhead(w, momentFile, w.MomentRows) },
	} {
		if err := save(); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) file(name string) string { return filepath.Join(w.Dir, name) }

// saveAhead writes rows in the order of their table.
func saveAhead[T any](w *Writer, name string, rows *Ahead[T]) error {
	if err := rows.Packed.Finish(context.Background(), nil); err != nil {
		return err
	}
	all, err := rows.All(context.Background(), w.Temp, w.Opt.Memory/16)
	if err != nil {
		return err
	}
	defer all.Close()
	return SaveRecords(w.file(name), func(give func(*T) error) error {
		return all.Sorted(nil, rows.by, give)
	})
}

// LoadProfiles takes the measurements without time of all parts, and links without time.
func (w *Writer) LoadProfiles() error {
	for _, p := range w.Parts {
		at := func(name string) string { return filepath.Join(p.Dir, name) }
		err := LoadRecords(at(profileFile), func(list []trace.ProfileRow) error {
			for i := range list {
				r := &list[i]
				p.IDs.cell(&r.Location, &r.Path, &r.Metric)
			}
			return w.ProfileRows.AddAll(list)
		})
		if err != nil {
			return err
		}
		err = LoadRecords(at(lineFile), func(list []trace.LineRow) error {
			for i := range list {
				r := &list[i]
				p.IDs.cell(&r.Location, &r.Path, &r.Metric)
				r.Callee, r.File = p.IDs.CallPath(r.Callee), p.IDs.SourceFile(r.File)
			}
			return w.LineRows.AddAll(list)
		})
		if err != nil {
			return err
		}
		err = LoadRecords(at(atomicFile), func(list []trace.AtomicRow) error {
			for i := range list {
				r := &list[i]
				p.IDs.cell(&r.Location, &r.Path, &r.Metric)
			}
			return eachLocation(list, func(r *trace.AtomicRow) trace.LocationID { return r.Location }, w.AtomicRows.add)
		})
		if err != nil {
			return err
		}
		err = LoadRecords(at(momentFile), func(list []MomentRecord) error {
			for i := range list {
				list[i].Location = p.IDs.Location(list[i].Location)
				w.MomentRows.closed = w.MomentRows.closed || list[i].Part > 0 // records of one row stay together
			}
			return eachLocation(list, func(r *MomentRecord) trace.LocationID { return r.Location }, w.MomentRows.add)
		})
		if err != nil {
			return err
		}
		err = LoadRecords(at(UntimedFile), func(list []LinkRecord) error {
			for i := range list {
				list[i].Renumber(p.IDs)
			}
			return w.UntimedRows.AddAll(list)
		})
		if err != nil {
			return err
		}
	}
	return w.RowErr
}

// cell gives a cell of a profile the numbers of the run.
func (d *IDs) cell(at *trace.LocationID, path *trace.CallPathID, metric *trace.MetricID) {
	*at, *path, *metric = d.Location(*at), d.CallPath(*path), d.Metric(*metric)
}

// eachLocation passes rows on, those of a location at a time.
func eachLocation[T any](list []T, of func(*T) trace.LocationID, add func([]T) error) error {
	for len(list) > 0 {
		n := 1
		for n < len(list) && of(&list[n]) == of(&list[0]) {
			n++
		}
		if err := add(list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// Renumber gives the ends of a link the numbers of the run.
func (r *LinkRecord) Renumber(ids *IDs) {
	r.FromLocation, r.ToLocation = ids.Location(r.FromLocation), ids.Location(r.ToLocation)
	r.FromRegion, r.ToRegion = ids.Region(r.FromRegion), ids.Region(r.ToRegion)
	r.Communicator = ids.Communicator(r.Communicator)
}
