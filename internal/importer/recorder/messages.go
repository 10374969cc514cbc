package recorder

import (
	"fmt"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// messages are what processes sent, by place and size, and to whom.
type messages struct {
	w       trace.Writer
	metrics map[string]trace.MetricID
	sent    []sent
}

type sent struct {
	from  trace.LocationID
	to    int32
	count uint64
	bytes uint64
}

var placeNames = [placeCount]string{"itself", "the same host", "other hosts"}

func newMessages(w trace.Writer) messages {
	return messages{w: w, metrics: map[string]trace.MetricID{}}
}

func (m *messages) metric(name, unit, parent string) trace.MetricID {
	id, ok := m.metrics[name]
	if !ok {
		id = m.w.Metric(trace.Metric{Name: name, Unit: unit, Integer: true, Parent: parent})
		m.metrics[name] = id
	}
	return id
}

// worker writes what a thread sent: amounts on its program's path, each with its parts
// below; partners are kept for link.
func (m *messages) worker(file string, at, process trace.LocationID, path trace.CallPathID, k *calls) {
	total := map[trace.MetricID]uint64{}
	for _, c := range k.messages {
		count, bytes := "messages to "+placeNames[c.place], "bytes to "+placeNames[c.place]
		size := sizeName(c.size)
		total[m.metric("messages", "", "")] += c.count
		total[m.metric("bytes sent", "bytes", "")] += c.bytes
		total[m.metric(count, "", "messages")] += c.count
		total[m.metric(bytes, "bytes", "bytes sent")] += c.bytes
		total[m.metric(count+", "+size, "", count)] += c.count
		total[m.metric(bytes+", "+size, "bytes", bytes)] += c.bytes
	}
	for _, id := range slices.Sorted(maps.Keys(total)) {
		n := total[id]
		m.w.Profile(trace.ProfileRow{Location: at, Path: path, Metric: id, Calls: 1, Inclusive: float64(n), Exclusive: float64(n)})
	}
	for _, p := range k.partners {
		m.sent = append(m.sent, sent{process, p.rank, p.count, p.bytes})
	}
	if k.others.count > 0 {
		m.w.Report(trace.Skipped, "messages to partners beyond the 64 that the recorder keeps: counted by place and size, not by partner", int64(k.others.count), file)
	}
}

// link writes how much went from whom to whom.
func (m *messages) link(ranks map[int32]trace.LocationID) {
	for _, s := range m.sent {
		to, ok := ranks[s.to]
		if !ok {
			m.w.Report(trace.Skipped, "messages to ranks whose file is not here", int64(s.count), fmt.Sprint("rank ", s.to))
			continue
		}
		from := trace.End{Location: s.from, Region: trace.NoRegion}
		m.w.Link(trace.Link{Kind: trace.LinkMessage, From: from, To: trace.End{Location: to, Region: trace.NoRegion}, Size: int64(s.bytes), Count: int64(s.count), Untimed: true, Communicator: trace.NoCommunicator})
	}
}

// sizeName is the class of messages of less than 1 << size bytes and at least half of that.
func sizeName(size uint8) string {
	switch size {
	case 0:
		return "empty"
	case 1:
		return "1 B"
	}
	return bytesOf(size-1) + " up to " + bytesOf(size)
}

func bytesOf(power uint8) string {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	return fmt.Sprint(1<<(power%10), " ", units[power/10])
}
