package write

import (
	"encoding/binary"
	"sort"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A chunkPart is the chunks of a part of a run that was read before. Offsets in it are moved by base, so that those of
// all parts are different.
type chunkPart struct {
	base   int64
	mapped *spool.Mapping
	ids    *IDs
}

// IDs are the numbers of a run for those of one of its parts; nil stands for the same.
type IDs struct {
	Regions       []trace.RegionID
	Attributes    []trace.AttributeID
	Counters      []trace.CounterID
	Locations     []trace.LocationID
	Metrics       []trace.MetricID
	SourceFiles   []trace.FileID
	CallPaths     []trace.CallPathID
	Communicators []trace.CommunicatorID
	Texts         uint64 // to be added
}

func of[ID ~uint32](list []ID, id ID) ID {
	if int(id) < len(list) {
		return list[id]
	}
	return id
}

// Region, Counter and Attribute return the number in the run.
func (d *IDs) Region(id trace.RegionID) trace.RegionID {
	if d == nil {
		return id
	}
	return of(d.Regions, id)
}

func (d *IDs) Counter(id trace.CounterID) trace.CounterID {
	if d == nil {
		return id
	}
	return of(d.Counters, id)
}

// Location, CallPath and Metric implement match.IDs.
func (d *IDs) Location(id trace.LocationID) trace.LocationID {
	if d == nil {
		return id
	}
	return of(d.Locations, id)
}

func (d *IDs) CallPath(id trace.CallPathID) trace.CallPathID {
	if d == nil {
		return id
	}
	return of(d.CallPaths, id)
}

func (d *IDs) Metric(id trace.MetricID) trace.MetricID {
	if d == nil {
		return id
	}
	return of(d.Metrics, id)
}

// SourceFile and Communicator return the number in the run.
func (d *IDs) SourceFile(id trace.FileID) trace.FileID {
	if d == nil {
		return id
	}
	return of(d.SourceFiles, id)
}

func (d *IDs) Communicator(id trace.CommunicatorID) trace.CommunicatorID {
	if d == nil {
		return id
	}
	return of(d.Communicators, id)
}

func (d *IDs) Attribute(id uint32) uint32 { return uint32(of(d.Attributes, trace.AttributeID(id))) }

func (s *chunkSpool) partOf(at int64) *chunkPart {
	return &s.parts[sort.Search(len(s.parts), func(i int) bool { return s.parts[i].base > at })-1]
}

func (s *chunkSpool) chunkOfPart(at int64) []byte {
	p := s.partOf(at)
	b := p.mapped.Bytes[at-p.base:]
	n := int64(binary.LittleEndian.Uint32(b[8:]))
	if used := s.used.Add(n); used > releaseEvery && s.used.CompareAndSwap(used, 0) {
		p.mapped.Release(0, int64(len(p.mapped.Bytes)))
	}
	return b[chunkHeader : chunkHeader+n]
}

// IDs returns the numbers for those in a chunk.
func (s *chunkSpool) IDs(at int64) *IDs {
	if s.parts == nil {
		return nil
	}
	return s.partOf(at).ids
}

func (s *chunkSpool) chainOfParts(of *Stream, into []int64) []int64 {
	for _, tail := range append(of.before[:len(of.before):len(of.before)], of.Tail) {
		if tail < 0 {
			continue
		}
		p, first := s.partOf(tail), len(into)
		for at := tail - p.base; at >= 0; at = int64(binary.LittleEndian.Uint64(p.mapped.Bytes[at:])) {
			into = append(into, at+p.base)
		}
		for i, j := first, len(into)-1; i < j; i, j = i+1, j-1 {
			into[i], into[j] = into[j], into[i]
		}
	}
	return into
}
