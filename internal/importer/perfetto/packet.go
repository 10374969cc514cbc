package perfetto

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
)

// Field numbers of a packet.
const (
	packetFtrace         = 1
	packetProcessTree    = 2
	packetUser           = 3
	packetClocks         = 6
	packetTime           = 8
	packetSequence       = 10
	packetEvent          = 11
	packetInterned       = 12
	packetFlags          = 13
	packetCleared        = 41
	packetDropped        = 42
	packetProcess        = 43
	packetThread         = 44
	packetSystem         = 45
	packetCompressed     = 50
	packetGPUCounter     = 52
	packetGPUStage       = 53
	packetClock          = 58
	packetDefaults       = 59
	packetTrack          = 60
	packetSample         = 66
	packetPid            = 79
	packetFirst          = 87 // of its sequence
	packetMachine        = 98
	packetZstdCompressed = 133
)

// Flags of a packet.
const (
	flagCleared = 1 // the earlier state of the sequence is void
	flagNeeds   = 2 // the packet refers to the earlier state of the sequence
)

// A packet is the fields that all kinds of packets share, and one payload.
type packet struct {
	at        int64 // in the file
	time      uint64
	hasTime   bool
	clock     uint32
	hasClock  bool
	sequence  uint32
	machine   uint32
	cleared   bool
	needs     bool
	dropped   bool
	interned  []byte
	defaults  []byte
	kind      int32 // the payload's field, 0 for none
	payload   []byte
	snapshots []byte // readings of clocks, which may come beside another payload
}

// decode reads a packet's own fields. It is false where the bytes are no message.
func (p *packet) decode(body []byte) bool {
	*p = packet{at: p.at}
	m := protobuf.Open(body)
	for m.Small() || m.Next() {
		switch m.Number {
		case packetTime:
			p.time, p.hasTime = m.Value, true
		case packetClock:
			p.clock, p.hasClock = uint32(m.Value), true
		case packetSequence:
			p.sequence = uint32(m.Value)
		case packetMachine:
			p.machine = uint32(m.Value)
		case packetFlags:
			p.cleared = p.cleared || m.Value&flagCleared != 0
			p.needs = m.Value&flagNeeds != 0
		case packetCleared:
			p.cleared = p.cleared || m.Value != 0
		case packetDropped:
			p.dropped = m.Value != 0
		case packetInterned:
			p.interned = m.Bytes
		case packetDefaults:
			p.defaults = m.Bytes
		case packetClocks:
			p.snapshots = m.Bytes
		case packetEvent, packetTrack:
			p.kind, p.payload = m.Number, m.Bytes
		default:
			if m.Kind == protowire.BytesType && !about[m.Number] {
				p.kind, p.payload = m.Number, m.Bytes
			}
		}
	}
	return !m.Broken
}

// about are payloads that tell of the recording and not of the program.
var about = map[int32]bool{
	33:  true, // the recording's configuration
	34:  true, // statistics of ftrace
	35:  true, // statistics of the recording
	36:  true, // marker
	46:  true, // trigger
	49:  true, // the recorder about itself
	69:  true, // events of the recording service
	72:  true, // descriptions of extensions
	78:  true, // state of a page
	89:  true, // identity of the trace
	113: true, // trigger
	124: true, // where the trace is from
}

// unread are names of payloads that hold records which are not read.
var unread = map[int32]string{
	4: "files by inode", 5: "old Chrome events", 7: "statistics of the system", 9: "statistics of processes",
	37: "heap profiles", 38: "battery counters", 39: "Android logs", 40: "power rails", 47: "lists of packages",
	48: "Chrome benchmark metadata", 51: "Chrome metadata", 52: "GPU counters with interned descriptions",
	54: "streamed CPU profiles",
	57: "frames of graphics", 61: "symbols", 62: "Vulkan memory", 63: "GPU logs", 64: "deobfuscation",
	65: "Vulkan calls",
	66: "perf about itself", 67: "descriptions of CPUs", 68: "memory maps", 70: "states of displays", 71: "GPU memory",
	73: "memory snapshots", 74: "allocations", 75: "releases of memory", 77: "energy estimates",
	82: "translation tables",
	83: "game interventions", 84: "statsd atoms", 86: "system properties", 90: "ranges of interest",
	91: "residency of states",
	95: "Windows kernel events", 99: "JavaScript code", 100: "JavaScript code", 101: "JavaScript code",
	102: "JavaScript code",
	103: "JavaScript code", 107: "clocks of other machines", 115: "wakelocks", 117: "kernel tasks",
	118: "CPU frequencies",
	119: "CPU use of users", 120: "kernel task names", 122: "kernel processes", 126: "attributes of the trace",
	128: "descriptions of GPUs", 129: "GPU frequencies", 130: "descriptions of interrupts", 132: "the system's journal",
	135: "stack samples",
}
