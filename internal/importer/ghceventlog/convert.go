package ghceventlog

import (
	"cmp"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// record takes one.
func (l *log) record(number uint16, k kind, at trace.Time, b []byte, start int64) {
	if number == block {
		if len(b) < 14 {
			l.odd++
			return
		}
		l.until, l.cap = start+int64(binary.BigEndian.Uint32(b)), binary.BigEndian.Uint16(b[12:])
		return
	}
	if start >= l.until {
		l.cap = noCap
	}
	l.events++
	row := l.row()
	if (number == runThread || number == stopThread || number == wakeThread) && len(b) < 4 {
		l.odd++
		return
	}
	switch number {
	case runThread:
		thread := binary.BigEndian.Uint32(b)
		region := l.thread(thread)
		row.Stream.Enter(at, region)
		if from, ok := l.woken[thread]; ok {
			delete(l.woken, thread)
			l.w.Link(trace.Link{Kind: trace.LinkWake, From: from, Size: -1, Communicator: trace.NoCommunicator,
				To: trace.End{Location: row.At, Time: at, Region: region}})
		}
	case stopThread:
		row.Stream.Leave(at, l.thread(binary.BigEndian.Uint32(b)))
	case wakeThread:
		l.woken[binary.BigEndian.Uint32(b)] = trace.End{Location: row.At, Time: at, Region: trace.NoRegion}
	case beginGC:
		row.Stream.Enter(at, l.region("GC", "runtime", trace.RoleOverhead))
	case endGC:
		row.Stream.Leave(at, l.region("GC", "runtime", trace.RoleOverhead))
	default:
		row.Stream.Instant(at, l.region(k.name, "event", trace.RoleByName))
		if number == logMessage || number == userText || number == userMarker {
			row.Stream.Attribute(l.text, trace.Text(strings.ToValidUTF8(string(b), "�")))
		}
	}
}

func (l *log) region(name, category string, role trace.Role) trace.RegionID {
	name = cmp.Or(name, "(no name)")
	return importer.Once(l.regions, name, func() trace.RegionID {
		return l.w.Region(trace.Region{Name: name, Category: category, Role: role})
	})
}

func (l *log) thread(n uint32) trace.RegionID {
	return l.region("thread "+strconv.FormatUint(uint64(n), 10), "thread", trace.RoleCompute)
}

// row is that of the capability; events outside of blocks are of the runtime.
func (l *log) row() *importer.Row {
	return importer.Once(l.caps, l.cap, func() *importer.Row {
		n := strconv.Itoa(int(l.cap))
		name := "capability " + n
		if l.cap == noCap {
			name = "runtime"
		}
		return l.rows.Open(trace.Location{Parent: l.process, Kind: trace.KindThread, Key: n, Name: name,
			Rank: trace.NoRank, Order: int64(l.cap)}, trace.StreamOptions{Unordered: true})
	})
}
