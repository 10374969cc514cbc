package write

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Numbers from firstVariant on stand for a region under another name. Streams write the number of the region and the
// name as an attribute, so that no store has such a number.
const (
	firstVariant = trace.RegionID(1 << 31)
	mostVariants = 1 << 20 // above, names are folded and the original ones lost
)

// A variant is a name of a region in the source that is not its own.
type variant struct {
	region trace.RegionID
	name   uint64 // its number among the strings
}

// variantOf returns a number for a name of a region; w.mu is held.
func (w *Writer) variantOf(region trace.RegionID, name string) trace.RegionID {
	d := &w.Def
	if len(d.variants) >= mostVariants {
		w.Report(trace.Guessed, "names with addresses, ids or temporary files, of which only the function is kept", 1,
			name)
		return region
	}
	if len(d.variants) == 0 {
		d.rawName = defineName(&d.Attributes, d.attributeIDs, trace.RawName, strings.Clone)
	}
	d.variants = append(d.variants, variant{region, w.Texts.add(name)})
	list := d.variants
	w.variants.Store(&list)
	return firstVariant + trace.RegionID(len(list)-1)
}

// plain returns the region that a number stands for.
func (w *Writer) plain(region trace.RegionID) trace.RegionID {
	if region < firstVariant || region == trace.NoRegion {
		return region
	}
	if list := w.variants.Load(); list != nil && int(region-firstVariant) < len(*list) {
		return (*list)[region-firstVariant].region
	}
	return region
}

// rename says the name of the record given last, where its region has another.
func (s *Stream) rename(region trace.RegionID) {
	if region < firstVariant {
		return
	}
	name := (*s.w.variants.Load())[region-firstVariant].name
	if s.lastIsInstant {
		s.InstantFacts++
	} else {
		s.Facts++
	}
	s.fact(s.w.Def.rawName, trace.ValueText, name)
}
