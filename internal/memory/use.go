package memory

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// A use is the memory that the program takes from the machine, in the runtime and outside it. Mapped files are not
// in it: the system takes their pages back as it needs them.
type use struct {
	live   int64 // in use at the last collection, with stacks, the runtime's own needs and memory outside
	mapped int64 // taken from the system: in use, not collected yet or free
	cycles int64 // collections so far
}

// Thresholds in parts of the budget. The runtime collects as much as it can to stay below collectAt; beyond the
// others something is dropped or stopped. That takes a moment in which others allocate: the rest of the budget is
// for that.
const (
	parts     = 16
	collectAt = 10
	stopAt    = 9 // of live memory
	mappedAt  = 12
	hastyAt   = 13 // of mapped memory: there is no time to collect first
	idleAt    = 2  // of unused memory outside the runtime's
)

// Limit tells the runtime of the budget: it collects more often as it comes near.
func (b *Budget) Limit() {
	if b == nil {
		return
	}
	mostOutside.Store(b.most * idleAt / parts)
	mostAtAll.Store(b.most)
	b.limited = true
	b.tell()
}

// mostGarbage bounds the garbage during work, however little is live, if the budget is large. Each collection scans
// all live memory and the program's own: a short computation would pay for one every few megabytes.
const mostGarbage = 32 << 20

// spare sets the runtime's percentage of garbage (GOGC) from live memory if it has changed much; a GOGC that the
// user has set stays.
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

// garbage returns the garbage allowed, in percent of live memory. The runtime counts that as 4 MiB at least.
func (b *Budget) garbage(live int64) int {
	return int(max(100, 100*min(mostGarbage, b.most/parts)/max(live, 4<<20)))
}

// tell sets the runtime's memory limit to the part left beside memory outside it, if that has changed much.
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

// giveBack returns free pages to the system after a burst: the runtime does so over minutes.
func (b *Budget) giveBack() {
	if b.measured == nil && b.inUse().mapped > b.most/2 {
		debug.FreeOSMemory()
	}
}

// Taken returns the bytes that the program has from the system now, without mapped files.
func Taken() int64 { return (&Budget{}).inUse().mapped }
