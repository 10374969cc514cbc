package finish

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// markUnclosed gives intervals that were never left a region of their own, see trace.WithoutEnd: their duration is not
// known, and a few that last until the end of the trace would be most of the time of their region. It is done when all
// rows are there, so that the numbers of regions do not depend on the order of the workers.
func (f *finisher) markUnclosed() error {
	var rows []int64
	for _, j := range f.jobs {
		rows = append(rows, j.unclosed...)
		j.unclosed = nil
	}
	if len(f.openRegions) > 0 {
		f.nameUnclosed(f.openRegions)
	}
	if len(rows) == 0 {
		return nil
	}
	if f.packed != nil {
		return f.packed.mark(rows, f.nameUnclosed)
	}
	file, err := os.OpenFile(filepath.Join(f.Dir, "interval.region.u32"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	m, err := spool.MapOpen(file, info.Size(), true)
	if err != nil {
		return err
	}
	region := spool.ViewOf[trace.RegionID](m.Bytes)
	number := f.unclosed
	if number == nil {
		var used []trace.RegionID
		for _, row := range rows {
			used = append(used, region[row])
		}
		number = f.nameUnclosed(used)
	}
	for _, row := range rows {
		region[row] = number[region[row]]
	}
	return m.Close()
}

// nameUnclosed defines the regions of intervals that were never left, by those that they are in.
func (f *finisher) nameUnclosed(used []trace.RegionID) map[trace.RegionID]trace.RegionID {
	slices.Sort(used)
	used = slices.Compact(used)
	f.unclosed = map[trace.RegionID]trace.RegionID{}
	for _, id := range used {
		f.unclosed[id] = trace.RegionID(len(f.Def.Regions))
		f.Def.Regions = append(f.Def.Regions, trace.WithoutEnd(f.Def.Regions[id]))
	}
	return f.unclosed
}
