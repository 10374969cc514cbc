package recorder

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// messages are the messages of processes, by place and size, and their partners.
type messages struct {
	w      trace.Writer
	known  map[string]int // by name: which of metrics
	metric []trace.MetricID
	total  []uint64 // of the worker at hand, by metric
	met    []int    // which of them it has
	class  [placeCount][64]*[6]int
	sent   []sentTold
}

var placeNames = [placeCount]string{"itself", "the same host", "other hosts"}

func newMessages(w trace.Writer) messages { return messages{w: w, known: map[string]int{}} }

func (m *messages) define(metric trace.Metric) int {
	i, ok := m.known[metric.Name]
	if !ok {
		i = len(m.metric)
		m.known[metric.Name] = i
		metric.Integer = true
		m.metric = append(m.metric, m.w.Metric(metric))
		m.total = append(m.total, 0)
	}
	return i
}

// of returns the metrics that messages of a class belong to: numbers and bytes by turns.
func (m *messages) of(place, size uint8) *[6]int {
	list := m.class[place][size]
	if list == nil {
		define := func(name, unit, parent string) int {
			return m.define(trace.Metric{Name: name, Unit: unit, Parent: parent})
		}
		count, bytes, name := "messages to "+placeNames[place], "bytes to "+placeNames[place], sizeName(size)
		list = &[6]int{
			define("messages", "", ""), define("bytes sent", "bytes", ""), define(count, "", "messages"),
			define(bytes, "bytes", "bytes sent"),
			define(count+", "+name, "", count), define(bytes+", "+name, "bytes", bytes),
		}
		m.class[place][size] = list
	}
	return list
}

// worker writes the messages of a thread: amounts on its program's path, each with its
// parts below; partners are kept for link.
func (m *messages) worker(file string, at, process trace.LocationID, path trace.CallPathID, k *calls,
	rows *trace.Rows) {
	m.met = m.met[:0]
	for _, c := range k.messages {
		for i, metric := range m.of(c.place, c.size) {
			if !slices.Contains(m.met, metric) {
				m.met = append(m.met, metric)
				m.total[metric] = 0
			}
			m.total[metric] += [2]uint64{c.count, c.bytes}[i%2]
		}
	}
	for _, i := range m.met {
		n := float64(m.total[i])
		rows.Profile = append(rows.Profile,
			trace.ProfileRow{Location: at, Path: path, Metric: m.metric[i], Calls: 1, Inclusive: n, Exclusive: n})
	}
	for _, p := range k.partners {
		m.sent = append(m.sent, sentTold{process, p.rank, p.count, p.bytes})
	}
	importer.Tell(m.w, trace.MissingLinks,
		"messages to partners beyond the 64 that the recorder keeps (counted by place and size, not by partner)",
		int64(k.others.count), file)
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
