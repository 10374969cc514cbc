package finish

import (
	"context"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// coreSample is how far apart the rows are that are looked at first: where nearly all
// are in a small part of the time, all rows are looked at.
const coreSample = 64

// findCore finds where to look first, see store.Core. Most traces are done with a
// row in coreSample.
func (f *finisher) findCore(ctx context.Context, points *pointTimes) error {
	c := &f.rows.C
	look := func(step int) *store.Core {
		core := store.NewCore(f.end)
		if step == coreSample && f.sampled != nil {
			core.Join(f.sampled)
		} else if f.packed != nil {
			f.packed.each(f.rows, step, func(begin, duration trace.Time) { core.Add(begin, begin+duration) })
		} else {
			for i := 0; i < len(c.Begin); i += step {
				core.Add(c.Begin[i], c.Begin[i]+c.Duration[i])
				if i&0xfffff == 0 && ctx.Err() != nil {
					break
				}
			}
		}
		for _, list := range points.times {
			for i := 0; i < len(list); i += step {
				core.Add(list[i], list[i])
			}
		}
		return core
	}
	if len(c.Begin) > coreSample*coreSample && !look(coreSample).May() {
		return ctx.Err()
	}
	if begin, end, outside, ok := look(1).Find(); ok {
		f.core = &[2]trace.Time{begin, end}
		f.Report(trace.Guessed, store.OutsideCore, outside, "")
	}
	return ctx.Err()
}

// pointTimes are the times of instants and samples.
type pointTimes struct {
	times [][]trace.Time
	maps  []*spool.Mapping
}

func (p *pointTimes) close() {
	for _, m := range p.maps {
		_ = m.Close()
	}
}

// pointTimes maps the times of instants and samples.
func (f *finisher) pointTimes() (*pointTimes, error) {
	p := &pointTimes{}
	var c disk.Columns
	targets := c.Targets()
	for _, name := range []string{"instant.time.i64", "sample.time.i64"} {
		m, err := spool.MapWhole(filepath.Join(f.Dir, name))
		if err != nil {
			p.close()
			return nil, err
		}
		p.maps = append(p.maps, m)
		targets[name](m.Bytes)
	}
	p.times = [][]trace.Time{c.InstantTime, c.SampleTime}
	return p, nil
}

// sampleCore looks at rows [from, to) of a part, those that findCore looks at first.
func (f *finisher) sampleCore(from, to uint64) []byte {
	core, c := store.NewCore(f.end), &f.rows.C
	for i := (from + coreSample - 1) / coreSample * coreSample; i < to; i += coreSample {
		core.Add(c.Begin[i], c.Begin[i]+c.Duration[i])
	}
	return spool.BytesOf(core.Bins())
}

// addSampled adds what sampleCore has seen.
func addSampled(to *store.Core, sampled []byte) {
	from := store.NewCore(0)
	copy(spool.BytesOf(from.Bins()), sampled)
	to.Join(from)
}
