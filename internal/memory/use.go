package memory

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// A use is what the program takes of the machine's memory, with what is taken outside the
// runtime's. Mapped files are not in it: the system takes their pages back as it needs them.
type use struct {
	live   int64 // what the last collection found in use, with stacks and what the runtime needs itself
	mapped int64 // what the runtime has of the system: what is in use, what is not collected yet, what is free
	cycles int64 // collections so far
}

// Where in the budget what happens, in parts of it: the runtime collects whatever it can
// to stay below the first; beyond the others something must go. What has to go takes a
// moment, and others allocate meanwhile: the rest is for that.
const (
	parts     = 16
	collectAt = 10
	stopAt    = 9 // of what is live
	mappedAt  = 12
	hastyAt   = 13 // of what is mapped: there is no time to collect first
	idleAt    = 2  // of what is held outside the runtime's memory while nobody uses it
)

// Limit tells the runtime of the budget: it collects more often as it comes near.
func (b *Budget) Limit() {
	if b == nil {
		return
	}
	mostOutside.Store(b.most * idleAt / parts)
	b.limited = true
	b.tell()
}

// mostGarbage may lie about while something is at work, however little is live, where the budget is large. Each
// collection looks at all that is live and at what the program itself has: what is done in a moment would pay for one
// every few megabytes.
const mostGarbage = 32 << 20

// spare tells the runtime how much garbage may lie about beside what is live, where that has changed much; users may
// have told it themselves.
func (b *Budget) spare(live int64) {
	if !b.limited || os.Getenv("GOGC") != "" {
		return
	}
	p := b.garbage(live)
	if d := p - b.percent; d > p/8 || -d > p/8 {
		b.percent = p
		debug.SetGCPercent(p)
	}
}

// garbage is how much may lie about, in percent of what is live. The runtime takes that for 4 MiB at least.
func (b *Budget) garbage(live int64) int {
	return int(max(100, 100*min(mostGarbage, b.most/parts)/max(live, 4<<20)))
}

// tell tells the runtime what is left for it beside what is held outside, where that has changed much.
func (b *Budget) tell() {
	left := max(b.most*collectAt/parts-outside.Load(), b.most/4)
	if d := left - b.told; b.limited && (d > b.most/32 || -d > b.most/32) {
		b.told = left
		debug.SetMemoryLimit(left)
	}
}

func (b *Budget) inUse() use {
	if b.measured != nil {
		return b.measured()
	}
	s := [...]metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/metadata/other:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s[:])
	at := func(i int) int64 { return int64(s[i].Value.Uint64()) }
	return use{live: at(0) + at(1) + at(2) + outside.Load(), mapped: at(3) - at(4) + outside.Load(), cycles: at(5)}
}

// giveBack hands free pages to the system after a burst: the runtime does so over minutes.
func (b *Budget) giveBack() {
	if b.measured == nil && b.inUse().mapped > b.most/2 {
		debug.FreeOSMemory()
	}
}

// Taken is what the program has of the system at the moment, without mapped files.
func Taken() int64 { return (&Budget{}).inUse().mapped }
