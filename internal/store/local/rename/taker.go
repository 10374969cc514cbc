package rename

import "github.com/parallax-hpc/parallax/internal/trace"

// A taker is a trace.Writer that keeps definitions, numbered as they come. One goroutine
// at a time uses it.
type taker struct {
	locations     []trace.Location
	regions       []trace.Region
	attributes    []string
	counters      []trace.Counter
	communicators []trace.Communicator
	metrics       []trace.Metric
	files         []string
	topologies    []trace.Topology
	properties    map[string]string
	report        []trace.ReportEntry
	value         trace.Value // given last to a stream
}

func (t *taker) Location(l trace.Location) trace.LocationID {
	t.locations = append(t.locations, l)
	return trace.LocationID(len(t.locations) - 1)
}

func (t *taker) Region(r trace.Region) trace.RegionID {
	t.regions = append(t.regions, r)
	return trace.RegionID(len(t.regions) - 1)
}

func (t *taker) Attribute(name string) trace.AttributeID {
	t.attributes = append(t.attributes, name)
	return trace.AttributeID(len(t.attributes) - 1)
}

func (t *taker) Counter(c trace.Counter) trace.CounterID {
	t.counters = append(t.counters, c)
	return trace.CounterID(len(t.counters) - 1)
}

func (t *taker) Communicator(c trace.Communicator) trace.CommunicatorID {
	t.communicators = append(t.communicators, c)
	return trace.CommunicatorID(len(t.communicators) - 1)
}

func (t *taker) Metric(m trace.Metric) trace.MetricID {
	t.metrics = append(t.metrics, m)
	return trace.MetricID(len(t.metrics) - 1)
}

func (t *taker) SourceFile(name string) trace.FileID {
	t.files = append(t.files, name)
	return trace.FileID(len(t.files) - 1)
}

func (t *taker) Topology(x trace.Topology)  { t.topologies = append(t.topologies, x) }
func (t *taker) Property(key, value string) { t.properties[key] = value }

// Report counts an entry that is reported several times once.
func (t *taker) Report(kind trace.ReportKind, what string, count int64, example string) {
	for i := range t.report {
		if e := &t.report[i]; e.Kind == kind && e.What == what {
			e.Count += count
			return
		}
	}
	t.report = append(t.report, trace.ReportEntry{Kind: kind, What: what, Count: count, Example: example})
}

func (t *taker) Stream(trace.LocationID, trace.StreamOptions) trace.Stream { return stream{&t.value} }

// Rows are copied and never told.
func (t *taker) Describe(trace.LocationID, trace.Location) {}
func (t *taker) Link(trace.Link)                           {}
func (t *taker) CallPath(trace.CallPath) trace.CallPathID  { return trace.NoCallPath }
func (t *taker) Profile(trace.ProfileRow)                  {}
func (t *taker) Lines([]trace.LineRow)                     {}
func (t *taker) Atomic(trace.AtomicRow)                    {}
func (t *taker) Moments(trace.MomentRow)                   {}

// A stream takes the values of attributes; rows are left out.
type stream struct {
	value *trace.Value // given last
}

func (s stream) Attribute(_ trace.AttributeID, v trace.Value) { *s.value = v }
func (s stream) Enter(trace.Time, trace.RegionID)             {}
func (s stream) Leave(trace.Time, trace.RegionID)             {}
func (s stream) Interval(_, _ trace.Time, _ trace.RegionID)   {}
func (s stream) Instant(trace.Time, trace.RegionID)           {}
func (s stream) Sample(trace.CounterID, trace.Time, float64)  {}
func (s stream) Close() error                                 { return nil }
