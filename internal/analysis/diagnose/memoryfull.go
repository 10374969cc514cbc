package diagnose

// Fault: the memory of a GPU is nearly full.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// fullMemory is the part of a device's memory that may be taken before it is reported.
	fullMemory = 0.92
)

// memory reports devices whose memory is nearly full.
func (g *gpuCase) memory() error {
	peaks, err := runfacts.MemoryPeaks(g.ctx, g.store, g.window, g.devices.GPUs)
	if err != nil {
		return err
	}
	var full []runfacts.MemoryPeak
	for _, p := range peaks {
		if p.Limit > 0 && p.Taken() >= fullMemory*float64(p.Limit) {
			full = append(full, p)
		}
	}
	if len(full) == 0 {
		return nil
	}
	slices.SortFunc(full, func(a, b runfacts.MemoryPeak) int {
		return cmp.Or(cmp.Compare(b.Taken()/float64(b.Limit), a.Taken()/float64(a.Limit)),
			cmp.Compare(a.Device, b.Device))
	})
	p := full[0]
	text := fmt.Sprintf("The memory of %s is nearly full: %s of %s are reserved, %s in use at most, at %s.",
		g.tree.Name[p.Device], words.FormatBytes(p.Taken()), words.FormatBytes(float64(p.Limit)),
		words.FormatBytes(p.Allocated), words.FormatTime(p.At))
	if len(full) > 1 {
		text = strings.TrimSuffix(text, ".") + fmt.Sprintf("; so is that of %s.", words.Count(len(full)-1, "other"))
	}
	share := p.Taken() / float64(p.Limit)
	g.add(finding.Finding{Kind: finding.MemoryFull, Severity: finding.Medium, View: "timeline",
		Options: map[string][]string{"counters": {"memory*"}}, Text: text,
		Selection: finding.Selection{Locations: []trace.LocationID{p.Device}},
		Evidence: []finding.Evidence{{Name: "of the memory", Value: share, Unit: "share"},
			{Name: "reserved", Value: p.Taken(), Unit: "bytes", From: g.samplesQuery(&p, "max(value)", "")},
			{Name: "memory", Value: float64(p.Limit), Unit: "bytes",
				From: fmt.Sprintf("select number from attributes where of = 'location' and location = %d and key = "+
					"'memory'", p.Device)},
			{Name: "in use at most", Value: p.Allocated, Unit: "bytes", From: g.samplesQuery(&p, "max(value)", inUse)},
			{Name: "at", Value: float64(p.At), Unit: "ns",
				From: g.samplesQuery(&p, "time", inUse+" order by value desc, time limit 1")},
			{Name: "others so full", Value: float64(len(full) - 1), Unit: "count", From: g.fullQuery(p.Device)}}}, nil)
	return nil
}

// inUse chooses the counters of memory that is in use.
const inUse = " and name not like '%reserved'"

// samplesQuery asks for something of the samples of the memory of a device.
func (g *gpuCase) samplesQuery(p *runfacts.MemoryPeak, what, where string) string {
	return fmt.Sprintf("select %s from samples where location = %d and name like 'memory %%' and unit = 'bytes' and "+
		"time between %d and %d%s", what, p.Device, g.window.Begin, g.window.End, where)
}

// fullQuery counts the other devices whose memory is nearly full.
func (g *gpuCase) fullQuery(without trace.LocationID) string {
	return fmt.Sprintf("with m as (select location, max(value) as v from samples where name like 'memory %%' and "+
		"unit = 'bytes' and time between %d and %d group by 1) select count(*) from m join attributes a on a.of = "+
		"'location' and a.location = m.location and a.key = 'memory' where v >= %g * number and m.location <> %d",
		g.window.Begin,
		g.window.End, fullMemory, without)
}
